"""A context as a value: the schema of `.context.yaml`, what a file means, and the parts that were asked for.

The format (version 1) is shared with dotcontext: a file that either writes, the other reads. A file is one of
three things: a context, one of a later version (checked before anything else), or corrupt, with a reason that
names fields and never repeats what the file says. Unknown fields at the top and in `evidence` are refused; in
other objects they are dropped here, so that nobody behind this module meets one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from context_pack.kernel.yaml_documents import Malformed, load
from context_pack.toolkit.schema_errors import problems_of

Schema = dict[str, Any]

VERSION = 1

TEXT: Schema = {"type": "string"}
TEXTS: Schema = {"type": "array", "items": TEXT}


def _record(*required: str, **more: Schema) -> Schema:
    """An object with these required texts and further optional fields; others are allowed."""
    properties = {**dict.fromkeys(required, TEXT), **more}
    return {"type": "object", "properties": properties, "required": list(required)}


def _records(*required: str, **more: Schema) -> Schema:
    return {"type": "array", "items": _record(*required, **more)}


def _one_of(*words: str) -> Schema:
    return {"type": "string", "enum": list(words)}


EVIDENCE: Schema = {
    "type": "object",
    "properties": {
        "collected_at": TEXT,
        "commit_sha": TEXT,
        "test_status": _one_of("passing", "failing", "unknown"),
        "test_count": {"type": "integer"},
        "failing_tests": TEXTS,
        "test_tool": TEXT,
        "typecheck": _one_of("clean", "errors", "unknown"),
        "typecheck_tool": TEXT,
        "lint_status": _one_of("clean", "errors", "unknown"),
        "lint_tool": TEXT,
        "coverage_percent": {"type": "number", "minimum": 0, "maximum": 100},
    },
    "required": ["collected_at"],
    "additionalProperties": False,
}

# The order of the keys is the order in which answers show them.
PROPERTIES: Mapping[str, Schema] = {
    "version": {"type": "number", "const": VERSION},
    "last_updated": TEXT,
    "fingerprint": TEXT,
    "scope": TEXT,
    "summary": TEXT,
    "files": _records("name", "purpose", test_file=TEXT),
    "maintenance": TEXT,
    "interfaces": _records("name", "description"),
    "decisions": _records("what", "why", tradeoff=TEXT),
    "constraints": TEXTS,
    "dependencies": _record(internal=TEXTS, external=TEXTS),
    "current_state": _record(working=TEXTS, broken=TEXTS, in_progress=TEXTS),
    "subdirectories": _records("name", "summary"),
    "environment": TEXTS,
    "testing": TEXTS,
    "todos": TEXTS,
    "data_models": TEXTS,
    "events": TEXTS,
    "config": TEXTS,
    "exports": TEXTS,
    "project": _record("name", "description", "language", framework=TEXT, package_manager=TEXT),
    "structure": _records("path", "summary"),
    "derived_fields": TEXTS,
    "evidence": EVIDENCE,
}
FIELDS = tuple(PROPERTIES)
REQUIRED = ("version", "last_updated", "fingerprint", "scope", "summary", "maintenance")

CONTEXT_SCHEMA: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": ".context.yaml",
    "description": "What one folder of a project holds: schema version 1, shared with dotcontext.",
    "type": "object",
    "properties": dict(PROPERTIES),
    "required": list(REQUIRED),
    "additionalProperties": False,
}

CONTEXT_FILE = ".context.yaml"
CONFIG_FILE = ".context.config.yaml"
ROOT_SCOPE = "."
METADATA = ("version", "scope", "fingerprint", "last_updated")
FILTERABLE = (
    *("summary", "files", "interfaces", "decisions", "constraints", "dependencies", "current_state"),
    *("subdirectories", "environment", "testing", "todos", "data_models", "events", "config"),
    *("project", "structure", "maintenance", "exports"),
)


@frozen
class ContextSummary:
    """What a list and a freshness check need to know of a context."""

    fingerprint: str
    last_updated: str
    summary: str


@frozen
class Context:
    """A valid context of version 1; `record` has its known fields in schema order."""

    record: Mapping[str, Any]

    @property
    def gist(self) -> ContextSummary:
        """Its fingerprint, date and summary."""
        record = self.record
        return ContextSummary(record["fingerprint"], record["last_updated"], record["summary"])


@frozen
class Unsupported:
    """A file of a later version; the number as people write it."""

    version: str

    @property
    def reason(self) -> str:
        """Why it is not read, in a few words."""
        return f"unsupported schema version {self.version}"


@frozen
class Corrupt:
    """A file that is no context; `detail` says why without quoting it."""

    detail: str

    @property
    def reason(self) -> str:
        """Why it is not read, in a few words."""
        return f"corrupt: {self.detail}"


def parse(data: bytes) -> Any:
    """The plain value that a YAML file spells; None for one with nothing but comments.

    Raises:
        Malformed: it is no YAML as we read it.
    """
    if all(not line or line.startswith(b"#") for line in map(bytes.strip, data.splitlines())):
        return None
    return load(data, finite=False)  # an infinite version is a later one, not a broken file


def read_context(data: bytes) -> Context | Unsupported | Corrupt:
    """What a file is: a context, one of a later version, or corrupt."""
    try:
        return validated(parse(data))
    except Malformed as malformed:
        return Corrupt(str(malformed))


def read_summary(data: bytes) -> ContextSummary | Unsupported | Corrupt:
    """What a list shows of a file: only the required fields are looked at, because a list has thousands."""
    try:
        value = parse(data)
    except Malformed as malformed:
        return Corrupt(str(malformed))
    texts = [value.get(name) for name in REQUIRED[1:]] if isinstance(value, dict) else [None]
    if all(isinstance(text, str) for text in texts) and value.get("version") is VERSION:
        return ContextSummary(value["fingerprint"], value["last_updated"], value["summary"])
    verdict = validated(value)
    return verdict.gist if isinstance(verdict, Context) else verdict


def validated(value: Any) -> Context | Unsupported | Corrupt:
    """What a parsed value is, by the schema."""
    if not isinstance(value, dict):
        return Corrupt("the file is not a mapping")
    version = value.get("version")
    if isinstance(version, int | float) and not isinstance(version, bool):
        if version > VERSION:
            return Unsupported(str(version).removesuffix(".0"))
        if version == VERSION:  # 1.0 and 0x1 are version 1 too
            value = {**value, "version": VERSION}
    problems = problems_of(CONTEXT_SCHEMA, value)
    if problems:
        return Corrupt(problems[0].message)
    return Context(
        {name: _known(value[name], CONTEXT_SCHEMA["properties"][name]) for name in FIELDS if name in value}
    )


def selected(context: Context, wanted: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """The metadata and the wanted fields in the caller's order, and the unknown names."""
    record = context.record
    if not wanted:
        return dict(record), []
    chosen = {name: record[name] for name in METADATA}
    chosen.update({name: record[name] for name in wanted if name in FILTERABLE and name in record})
    unknown = [name for name in wanted if name not in FILTERABLE and name not in METADATA]
    return chosen, list(dict.fromkeys(unknown))


def _known(value: Any, schema: Schema) -> Any:
    """A valid value without the fields that its schema does not name, the others in its order."""
    if schema["type"] == "array":
        return [_known(item, schema["items"]) for item in value]
    if schema["type"] == "object":
        named = schema["properties"].items()
        return {name: _known(value[name], inner) for name, inner in named if name in value}
    return value
