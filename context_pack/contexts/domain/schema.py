"""The JSON Schema of `.context.yaml`, version 1, and the order of its fields.

The format is shared with dotcontext: a file that either writes, the other reads. Unknown fields at the top
and in `evidence` are refused; in other objects they are allowed here and dropped by `model`. Plain data:
nothing here reads or checks anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
