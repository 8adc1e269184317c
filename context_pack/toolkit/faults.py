"""What is wrong with a value, by path and in our own words: strict JSON Schema checking.

The rules that commands and contexts use, and no others: `1.0` is no integer, infinity is no number, `$` does
not match before a final newline, every missing and every unknown field is named, and what is already too long
is not looked into. `tests/unit/toolkit/test_toolkit_faults.py` compares the verdicts with `jsonschema`, which
takes half of a server's first call to load. Messages never repeat a value of the caller, only names, clipped.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice
from operator import ge, le
from typing import Any, NamedTuple

from context_pack.kernel.classes import frozen
from context_pack.kernel.errors import clip
from context_pack.kernel.nearness import close
from context_pack.kernel.text import has_half_characters

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
_CLASSES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}
_BOUNDED = ("integer", "number")
_SIZES: Mapping[str, tuple[type[str] | type[list[Any]], Callable[[int, int], bool]]] = {
    "minLength": (str, ge),
    "maxLength": (str, le),
    "minItems": (list, ge),
    "maxItems": (list, le),
}
_BOUNDS: Mapping[str, Callable[[Any, Any], bool]] = {"minimum": ge, "maximum": le}
VALUE_RULES = frozenset({"type", "enum", "const", "pattern", *_SIZES, *_BOUNDS})
"""The rules about a value itself; those about what is in it are `properties`, `required`,
`additionalProperties` and `items`."""


@frozen
class Problem:
    """One thing wrong with the arguments: where (`$.a[0].b`), which field, which rule, in words."""

    path: str
    field: str
    rule: str
    message: str


class _Broken(NamedTuple):
    """A broken rule: where, which one, what it wants (of rules about fields, the field), of which schema."""

    path: tuple[str | int, ...]
    rule: str
    wanted: Any
    schema: Schema

    @property
    def depth(self) -> int:
        """How deep the faulty field lies; a missing or unknown one is a step deeper than its object."""
        return len(self.path) + (self.rule in ("required", "additionalProperties"))


def problems_of(schema: Schema, value: Any) -> list[Problem]:
    """Everything wrong with `value` (the first few), the shallowest first, unknown fields before others."""
    broken: list[_Broken] = []
    _check(schema, value, (), broken)
    if not broken:
        found = _half_characters(value, "$", "") if has_half_characters(value) else ()
        return list(islice(found, MAX_PROBLEMS))
    broken.sort(key=lambda each: (each.depth, each.rule != "additionalProperties"))
    # One value may break several rules; the first one told is enough.
    by_path: dict[str, Problem] = {}
    for problem in map(_explain, broken[:MAX_LOOKED_AT]):
        by_path.setdefault(problem.path, problem)
    return list(by_path.values())[:MAX_PROBLEMS]


def _check(schema: Schema, value: Any, path: tuple[str | int, ...], broken: list[_Broken]) -> None:
    """Add the rules that a value breaks, in the order of the schema."""
    for rule, wanted in schema.items():
        if rule in VALUE_RULES:
            if not _holds(rule, wanted, value, schema):
                broken.append(_Broken(path, rule, wanted, schema))
        elif isinstance(value, dict):
            if rule == "properties":
                for name in wanted:
                    if name in value:
                        _check(wanted[name], value[name], (*path, name), broken)
            elif rule == "required":
                for name in wanted:
                    if name not in value:
                        broken.append(_Broken(path, rule, name, schema))
            elif rule == "additionalProperties" and not wanted:
                unknown = [name for name in value if name not in schema.get("properties", ())]
                for name in unknown[:MAX_PROBLEMS]:
                    broken.append(_Broken(path, rule, str(name), schema))
        elif rule == "items" and isinstance(value, list) and len(value) <= schema.get("maxItems", math.inf):
            for index, item in enumerate(value):
                if len(broken) < MAX_LOOKED_AT:
                    _check(wanted, item, (*path, index), broken)


def _holds(rule: str, wanted: Any, value: Any, schema: Schema) -> bool:
    """Whether a value keeps a rule about itself; a rule for another type is kept."""
    if rule == "type":
        return isinstance(value, _CLASSES[wanted]) and (wanted not in _BOUNDED or is_number(value))
    if rule in _SIZES:
        kind, keeps = _SIZES[rule]
        return not isinstance(value, kind) or keeps(len(value), wanted)
    if rule in _BOUNDS:
        return not is_number(value) or _BOUNDS[rule](value, wanted)
    if rule == "pattern":
        looked_at = isinstance(value, str) and len(value) <= schema.get("maxLength", math.inf)
        return not looked_at or compiled(wanted).search(value) is not None
    return bool(value in wanted if rule == "enum" else value == wanted)


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


def is_number(value: object) -> bool:
    """Whether it is a finite number, and no truth value."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A published pattern as it is meant: `$` is the very end, as in ECMAScript."""
    closed = pattern.endswith("$") and not pattern.endswith(r"\$")
    return re.compile(pattern[:-1] + r"\Z" if closed else pattern)


def _explain(broken: _Broken) -> Problem:
    """Our own words for a broken rule."""
    path = "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in broken.path)
    _, rule, wanted, schema = broken
    if rule == "required":
        return Problem(f"{path}.{wanted}", wanted, rule, f"'{wanted}' is required")
    if rule == "additionalProperties":
        name = clip(wanted)
        known = list(schema.get("properties", ()))
        words = f"'{name}' is not supported here; allowed: {', '.join(known) or 'none'}{_meant(name, known)}"
        return Problem(f"{path}.{name}", name, rule, words)
    field = next((part for part in reversed(broken.path) if isinstance(part, str)), "")
    needed = ", ".join(f"'{name}'" for name in schema.get("required", ())) if field and rule == "type" else ""
    words = f"{_subject(broken.path, field)} {_demand(rule, wanted, schema)}"
    return Problem(path, field, rule, f"{words}{f' with {needed}' if needed else ''}")


def _meant(name: str, known: list[str]) -> str:
    """A hint at the field that was meant by one that is not known, or nothing."""
    usual = [each for each in OTHER_NAMES.get(name.lower(), ()) if each in known]
    same = [each for each in known if _parts(each) == _parts(name)]
    near = (usual or same or close(name, known))[:1]
    return f"; did you mean '{near[0]}'?" if near else ""


def _parts(name: str) -> list[str]:
    """The words of a name, in any order: `startLine` and `line_start` have the same."""
    return sorted(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().split("_"))


def _subject(path: tuple[str | int, ...], field: str) -> str:
    if path and isinstance(path[-1], int):
        return f"item {path[-1]} of '{field}'"
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
