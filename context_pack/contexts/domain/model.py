"""A context as a value: what a parsed file means, and the parts of it that a caller asked for.

A file is one of three things: a context, one of a later version (checked before anything else), or corrupt,
with a reason that names fields and never repeats what the file says. Unknown fields of nested objects are
dropped here, so that nobody behind this module meets one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from context_pack.contexts.domain.schema import CONTEXT_SCHEMA, FIELDS, VERSION, Schema
from context_pack.toolkit.schema_errors import problems_of

CONTEXT_FILE = ".context.yaml"
CONFIG_FILE = ".context.config.yaml"
ROOT_SCOPE = "."
FIRST_WITH_EXPONENT = 10**21
"""From here on JavaScript writes numbers with an exponent."""
METADATA = ("version", "scope", "fingerprint", "last_updated")
FILTERABLE = (
    *("summary", "files", "interfaces", "decisions", "constraints", "dependencies", "current_state"),
    *("subdirectories", "environment", "testing", "todos", "data_models", "events", "config"),
    *("project", "structure", "maintenance", "exports"),
)


@frozen
class MalformedContext:
    """A file that is not YAML as we read it; the reason does not quote it."""

    reason: str


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

    @property
    def derived(self) -> Sequence[str]:
        """The fields that were generated, as the file says."""
        return tuple(self.record.get("derived_fields", ()))


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


Verdict = Context | Unsupported | Corrupt


def validated(value: object) -> Verdict:
    """Validate a parsed file: a context, one of a later version, or corrupt."""
    if isinstance(value, MalformedContext):
        return Corrupt(value.reason)
    if not isinstance(value, dict):
        return Corrupt("the file is not a mapping")
    version = value.get("version")
    if isinstance(version, int | float) and not isinstance(version, bool):
        if version > VERSION:
            return Unsupported(_number(version))
        # 1.0 and 0x1 are version 1 too.
        value = {**value, "version": VERSION} if version == VERSION else value
    value = _whole(value)
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


def _number(value: float) -> str:
    """A number as JavaScript would write it."""
    if value >= FIRST_WITH_EXPONENT:
        try:
            value = float(value)
        except OverflowError:
            value = math.inf
        return "Infinity" if math.isinf(value) else repr(value)
    return str(int(value)) if value == int(value) else repr(value)


def _whole(value: dict[str, Any]) -> dict[str, Any]:
    """The value with a test count like `12.0` as the whole number it is."""
    evidence = value.get("evidence")
    if isinstance(evidence, dict) and isinstance(evidence.get("test_count"), float):
        count = evidence["test_count"]
        if math.isfinite(count) and count == int(count):
            return {**value, "evidence": {**evidence, "test_count": int(count)}}
    return value


def _known(value: Any, schema: Schema) -> Any:
    """A valid value without the fields that its schema does not name, the others in its order."""
    if schema["type"] == "array":
        return [_known(item, schema["items"]) for item in value]
    if schema["type"] == "object":
        named = schema["properties"].items()
        return {name: _known(value[name], inner) for name, inner in named if name in value}
    return value
