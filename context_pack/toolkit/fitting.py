"""Fast path for valid arguments, so that `jsonschema` is loaded only for invalid ones.

Knows the rules that commands use; whatever else a schema asks for is left to `faults`, and so are the words.
Loading `jsonschema` is half of a server's first call (`-X importtime`).
"""

from __future__ import annotations

from math import inf
from typing import Any

from context_pack.toolkit.faults import Schema, compiled, has_half_characters, is_number

_SAID = {"type", "description", "default"}
_KNOWN = {
    "object": _SAID | {"properties", "required", "additionalProperties"},
    "array": _SAID | {"items", "minItems", "maxItems"},
    "string": _SAID | {"enum", "pattern", "minLength", "maxLength"},
    "integer": _SAID | {"minimum", "maximum"},
    "number": _SAID | {"minimum", "maximum"},
    "boolean": _SAID,
}


def fits(schema: Schema, value: Any) -> bool:
    """Whether a value keeps all rules of a schema; False also if that cannot be decided here."""
    kind = schema.get("type")
    if not isinstance(kind, str) or not schema.keys() <= _KNOWN.get(kind, set()):
        return False
    if kind == "object":
        return type(value) is dict and _fits_object(schema, value)
    if kind == "array":
        return (
            type(value) is list
            and schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", inf)
            and all(fits(schema.get("items", {}), each) for each in value)
        )
    if kind == "string":
        return type(value) is str and _fits_text(schema, value)
    if kind == "boolean":
        return type(value) is bool
    right = type(value) is int if kind == "integer" else is_number(value)
    return right and schema.get("minimum", -inf) <= value <= schema.get("maximum", inf)


def _fits_object(schema: Schema, value: dict[Any, Any]) -> bool:
    inner: dict[str, Schema] = schema.get("properties", {})
    return (
        (
            value.keys() <= inner.keys()
            or (schema.get("additionalProperties", False) is True and all(map(_is_plain, value.items())))
        )
        and value.keys() >= set(schema.get("required", ()))
        and all(fits(inner[name], each) for name, each in value.items() if name in inner)
    )


def _fits_text(schema: Schema, value: str) -> bool:
    pattern = schema.get("pattern")
    return (
        schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", inf)
        and value in schema.get("enum", (value,))
        and (pattern is None or compiled(pattern).search(value) is not None)
        and (value.isascii() or not has_half_characters(value))
    )


def _is_plain(value: Any) -> bool:
    """Whether no text in a value of an open object has half characters; False for what is no plain JSON."""
    if type(value) is str:
        return not has_half_characters(value)
    if isinstance(value, dict):
        return all(map(_is_plain, value.items()))
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or type(value) in (bool, int)
