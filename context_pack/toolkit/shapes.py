"""Output schemas: the fields of a tool's answer and of its errors, by kind.

Nothing is required: some clients check the JSON of an error against the tool's output schema, and show their
user only that it does not fit. So a schema names what may be there, for answers and errors alike.
"""

from __future__ import annotations

from collections.abc import Mapping

from context_pack.toolkit.arguments import Schema

KINDS: Mapping[str, Schema] = {
    "text": {"type": "string"},
    "whole": {"type": "integer"},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "object": {"type": "object"},
    "rows": {"type": "array", "items": {"type": "object"}},
    "texts": {"type": "array", "items": {"type": "string"}},
    "any": {},
}


def shape(**fields: str) -> Schema:
    """An object that may have these fields, each of its kind, and others."""
    return {"type": "object", "properties": {name: dict(KINDS[kind]) for name, kind in fields.items()}}
