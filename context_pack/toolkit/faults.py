"""What is wrong with a value, by path and in our own words: strict JSON Schema checking.

`jsonschema` walks the schema; the rules it is lax, slow or vague about are our own: `1.0` is no integer,
infinity is no number, `$` does not match before a final newline, every missing and every unknown field is
named, and what is already too long is not looked into. Messages never repeat a value of the caller, only
names, clipped. `jsonschema` is loaded on first use.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

from context_pack.kernel.classes import frozen
from context_pack.kernel.nearness import close
from context_pack.kernel.patterns import lazy_pattern

Schema = dict[str, Any]

MAX_PROBLEMS = 10
MAX_LOOKED_AT = 1000
"""How many faults are collected before the shallowest are chosen."""

OTHER_NAMES: dict[str, tuple[str, ...]] = {
    "file": ("path",), "file_path": ("path",), "filename": ("path",), "glob": ("filePattern",),
    "path": ("filePattern", "scope"), "q": ("query", "pattern"), "query": ("pattern",), "symbol": ("name",),
    "maxresults": ("limit",), "max_results": ("limit",), "top_k": ("limit",), "count": ("limit",),
    "lines": ("line_start", "startLine"), "text": ("content", "query"), "entityid": ("id",),
    "id": ("entityId",),
}  # fmt: skip
"""Common argument names of other tools, in lower case, and ours to suggest for them."""
_SURROGATE = lazy_pattern("[\ud800-\udfff]")


@frozen
class Problem:
    """One thing wrong with the arguments: where (`$.a[0].b`), which field, which rule, in words."""

    path: str
    field: str
    rule: str
    message: str


def problems_of(validator: Any, value: Any) -> list[Problem]:
    """Everything wrong with `value` (the first few), the shallowest first, unknown fields before others."""
    errors = list(islice(validator.iter_errors(value), MAX_LOOKED_AT))
    errors.sort(key=lambda error: (_depth(error), error.validator != "additionalProperties"))
    if not errors:
        return list(islice(_half_characters(value, "$", ""), MAX_PROBLEMS))
    # One value may break several rules; the first one told is enough.
    by_path: dict[str, Problem] = {}
    for problem in map(_explain, errors):
        by_path.setdefault(problem.path, problem)
    return list(by_path.values())[:MAX_PROBLEMS]


def _depth(error: Any) -> int:
    """How deep the faulty field lies; a missing or unknown one is a step deeper than its object."""
    return len(error.absolute_path) + (error.validator in ("required", "additionalProperties"))


def _half_characters(value: Any, path: str, field: str) -> Iterator[Problem]:
    """Texts with a lone surrogate: JSON can spell them, but no file, process or reply can carry them."""
    if isinstance(value, str):
        if has_half_characters(value):
            words = "holds half a character (a lone surrogate); send whole characters"
            yield Problem(path, field, "unicode", f"'{field}' {words}")
    elif isinstance(value, dict):
        for name, inner in value.items():
            shown = clip(str(name))
            yield from _half_characters(name, f"{path}.{shown}", shown)
            yield from _half_characters(inner, f"{path}.{shown}", shown)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _half_characters(inner, f"{path}[{index}]", field)


@cache
def _validator_class() -> Any:
    """jsonschema's newest draft with our own rules."""
    from jsonschema import Draft202012Validator, ValidationError
    from jsonschema.validators import extend

    def missing(_: Any, names: list[str], value: Any, __: Schema) -> Iterator[ValidationError]:
        if isinstance(value, dict):
            yield from (ValidationError(name) for name in names if name not in value)

    def unknown(_: Any, allowed: bool, value: Any, schema: Schema) -> Iterator[ValidationError]:
        if isinstance(value, dict) and not allowed:
            names = (str(name) for name in value if name not in schema.get("properties", ()))
            yield from map(ValidationError, islice(names, MAX_PROBLEMS))

    def pattern(_: Any, wanted: str, value: Any, schema: Schema) -> Iterator[ValidationError]:
        fits = isinstance(value, str) and len(value) <= schema.get("maxLength", math.inf)
        if fits and not compiled(wanted).search(value):
            yield ValidationError(wanted)

    def items(validator: Any, wanted: Schema, value: Any, schema: Schema) -> Iterator[ValidationError]:
        if isinstance(value, list) and len(value) <= schema.get("maxItems", math.inf):
            for index, item in enumerate(value):
                yield from validator.descend(item, wanted, path=index)

    types = Draft202012Validator.TYPE_CHECKER.redefine_many(
        {"integer": lambda _, value: is_whole(value), "number": lambda _, value: is_number(value)}
    )
    rules = {"required": missing, "additionalProperties": unknown, "pattern": pattern, "items": items}
    make: Any = extend
    return make(Draft202012Validator, rules, type_checker=types)


def strict_validator(schema: Schema) -> Any:
    """A validator for `problems_of`; making one is slow, so keep it."""
    return _validator_class()(schema)


def is_whole(value: object) -> bool:
    """Whether it is an integer, and no truth value."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Whether it is a finite number."""
    return is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def has_half_characters(text: str) -> bool:
    """Whether a text holds a lone surrogate."""
    return _SURROGATE.search(text) is not None


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A published pattern as it is meant: `$` is the very end, as in ECMAScript."""
    closed = pattern.endswith("$") and not pattern.endswith(r"\$")
    return re.compile(pattern[:-1] + r"\Z" if closed else pattern)


def _explain(error: Any) -> Problem:
    """Our own words for an error; those of our rules about fields hold the field's name as their message."""
    path = "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
    rule, value, schema = error.validator, error.validator_value, error.schema
    if rule == "required":
        return Problem(f"{path}.{error.message}", error.message, rule, f"'{error.message}' is required")
    if rule == "additionalProperties":
        name = clip(error.message)
        known = list(schema.get("properties", ()))
        words = f"'{name}' is not supported here; allowed: {', '.join(known) or 'none'}{_meant(name, known)}"
        return Problem(f"{path}.{name}", name, rule, words)
    field = next((part for part in reversed(error.absolute_path) if isinstance(part, str)), "")
    needed = ", ".join(f"'{name}'" for name in schema.get("required", ())) if field and rule == "type" else ""
    words = f"{_subject(error, field)} {_demand(rule, value, schema)}{f' with {needed}' if needed else ''}"
    return Problem(path, field, rule, words)


def _meant(name: str, known: list[str]) -> str:
    """A hint at the field that was meant by one that is not known, or nothing."""
    usual = [each for each in OTHER_NAMES.get(name.lower(), ()) if each in known]
    same = [each for each in known if _parts(each) == _parts(name)]
    near = (usual or same or close(name, known))[:1]
    return f"; did you mean '{near[0]}'?" if near else ""


def _parts(name: str) -> list[str]:
    """The words of a name, in any order: `startLine` and `line_start` have the same."""
    return sorted(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().split("_"))


def _subject(error: Any, field: str) -> str:
    parts = list(error.absolute_path)
    if parts and isinstance(parts[-1], int):
        return f"item {parts[-1]} of '{field}'"
    return f"'{field}'" if field else "the arguments"


TYPE_NAMES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


def _demand(rule: str, value: Any, schema: Schema) -> str:
    """What a value must be, in words."""
    match rule:
        case "type" if "enum" in schema:
            return _demand("enum", schema["enum"], schema)
        case "type":
            return f"must be {TYPE_NAMES.get(value, value)}{_span(schema)}"
        case "minimum" | "maximum":
            return f"must be {TYPE_NAMES.get(schema['type'], 'a number')}{_span(schema)}"
        case "enum":
            return f"must be one of: {', '.join(map(str, value))}"
        case "minLength":
            return f"must have at least {value} character{'' if value == 1 else 's'}"
        case "maxLength":
            return f"must have at most {value} characters"
        case "pattern":
            about = f" ({schema['description']})" if "description" in schema else ""
            return "must not be blank" if value == r"\S" else f"must match {value}{about}"
        case "minItems":
            return f"must have at least {value} item{'' if value == 1 else 's'}"
        case "maxItems":
            return f"must have at most {value} items"
    return "is not valid"


def _span(schema: Schema) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f" from {low} to {high}"
    if low is not None:
        return f" of at least {low}"
    return "" if high is None else f" of at most {high}"


def clip(name: str) -> str:
    """A caller's own word, safe to repeat: one printable line of at most 80 characters."""
    clean = "".join(char if char.isprintable() else "?" for char in name[:81])
    return clean if len(clean) <= 80 else clean[:79] + "…"
