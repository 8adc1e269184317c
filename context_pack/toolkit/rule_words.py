"""What a schema wants of a value, in words: for errors, `context-pack tools` and the contract's tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def rule_in_words(schema: Mapping[str, Any]) -> str:
    """What a value must be: `integer, 1 to 500`, `string, 3 to 120 characters`, `list of …`."""
    match schema.get("type"):
        case "string" if "enum" in schema:
            return "one of " + ", ".join(f"`{value}`" for value in schema["enum"])
        case "string":
            return "string" + _span(schema, "minLength", "maxLength", " characters") + _pattern(schema)
        case "array":
            count = _span(schema, "minItems", "maxItems", "").removeprefix(", ")
            return f"list of {count + ' × ' if count else ''}{rule_in_words(schema['items'])}"
        case "boolean":
            return "true or false"
        case kind:
            return str(kind or "any value") + _span(schema, "minimum", "maximum", "")


def _span(schema: Mapping[str, Any], low: str, high: str, unit: str) -> str:
    least, most = schema.get(low), schema.get(high)
    if least is None and most is None:
        return ""
    if least is None:
        return f", at most {most}{unit}"
    if most is None:
        return f", at least {least}{unit}"
    return f", {least}{unit}" if least == most else f", {least} to {most}{unit}"


def _pattern(schema: Mapping[str, Any]) -> str:
    pattern = schema.get("pattern")
    if pattern is None:
        return ""
    return ", not blank" if pattern == r"\S" else f", matching `{pattern}`"
