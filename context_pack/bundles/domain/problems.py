"""Validation errors in our own words: a place (`$.steps[2].actorId`) and a demand.

The words name fields and rules, never the values of a file, and come out the same in every process.
"""

from __future__ import annotations

import json
from typing import Any

from context_pack.bundles.domain.steps import COST
from context_pack.kernel.text import single_line

FORBIDDEN: dict[str, Any] = {"not": {}}
"""A schema that no value fits."""
_SHOWN = 120

_NAMES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}
_DEMANDS = {
    "minLength": "must have at least {} characters",
    "maxLength": "must have at most {} characters",
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "exclusiveMinimum": "must be more than {}",
    "exclusiveMaximum": "must be less than {}",
    "multipleOf": "must be a multiple of {}",
    "minItems": "must have at least {} items",
    "maxItems": "must have at most {} items",
    "minProperties": "must have at least {} fields",
    "maxProperties": "must have at most {} fields",
    "pattern": "must match {}",
    "const": "must be {}",
    "uniqueItems": "must not hold the same item twice",
    "anyOf": "must fit one of the alternatives",
    "oneOf": "must fit exactly one of the alternatives",
    "not": "must not fit what the schema rules out",
}


def problem_words(error: Any) -> str:
    """An error as a place and a demand; those of our rules about fields hold the field's name."""
    place = "$" + "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path
    )
    rule, value = error.validator, error.validator_value
    if rule == "required" and isinstance(error.message, str) and error.message in (value or ()):
        return _shown(f"{place}.{error.message} is required")
    if rule == "additionalProperties":
        return _shown(f"{place}.{error.message} is not a field that the schema has")
    if rule == "type":
        types = value if isinstance(value, list) else [value]
        return _shown(f"{place} must be {' or '.join(_NAMES.get(name, str(name)) for name in types)}")
    if rule == "enum" and isinstance(value, list):
        few = ", ".join(map(clipped, value[:_SHOWN]))  # more would not be shown
        return _shown(f"{place} must be one of: {few}")
    if rule is None or (rule == "not" and isinstance(value, dict) and value.keys() <= {COST}):
        return _shown(f"{place} is not allowed")
    if rule in _DEMANDS:
        return _shown(f"{place} {_DEMANDS[rule].format(clipped(value))}")
    return _shown(f"{place} does not satisfy '{rule}'")


def clipped(value: Any) -> str:
    """A text, or a value as JSON, of bounded length."""
    text = value if isinstance(value, str) else _beginning(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _beginning(value: Any) -> str:
    """As much of a value as JSON as is ever shown; the rest is not spelled out."""
    text = ""
    for piece in json.JSONEncoder(ensure_ascii=False).iterencode(value):
        text += piece
        if len(text) > _SHOWN:
            break
    return text


def _shown(words: str) -> str:
    """One line of bounded length."""
    line = single_line(words)
    return line if len(line) <= 4 * _SHOWN else line[: 4 * _SHOWN - 1] + "…"
