"""What is wrong with a value, by path and in words: jsonschema finds it, this module says what is wanted.

One vocabulary for every schema of ours: arguments of tools, directory contexts, and the tables of the
contract. The words name fields and rules and never repeat a value. (A project's own schemas, of its bundles,
may have rules of any kind, and are worded by jsonschema.)

Stricter than the standard in two points: a text with a lone surrogate is no string, as no file can hold it,
and infinity is no number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from math import inf
from typing import Any

from attrs import frozen

from context_pack.kernel.errors import clip
from context_pack.kernel.text import close, has_half_characters

Schema = dict[str, Any]
MAX_PROBLEMS = 10


@frozen
class Problem:
    """One thing wrong: where (`$.a[0].b`), in which field, in words."""

    path: str
    field: str
    message: str


def validator_of(schema: Schema) -> Any:
    """What checks values against a schema."""
    return _validator_class()(schema)


@cache
def _validator_class() -> Any:
    """The class of validators; loaded with the first check, as many commands and programs make none."""
    from jsonschema import Draft202012Validator, ValidationError, validators

    def matches(_: Any, pattern: str, value: Any, __: Any) -> Iterator[Any]:
        """The rule `pattern`; its `$` is the very end, as in JavaScript, and not before a last newline."""
        if isinstance(value, str) and not re.search(re.sub(r"\$\Z", r"\\Z", pattern), value):
            yield ValidationError("no match")

    standard = Draft202012Validator.TYPE_CHECKER
    types = standard.redefine_many(
        {
            "string": lambda _, value: isinstance(value, str) and not has_half_characters(value),
            "number": lambda _, value: standard.is_type(value, "number") and abs(value) < inf,
        }
    )
    make: Any = validators.extend
    return make(Draft202012Validator, {"pattern": matches}, type_checker=types)


def problems_of(schema: Schema, value: Any) -> list[Problem]:
    """Everything wrong with a value by a schema (the first few), as `problems_with` a validator of it."""
    return problems_with(validator_of(schema), value)


def problems_with(validator: Any, value: Any) -> list[Problem]:
    """Everything wrong with a value (the first few), the shallowest first, one problem for each path."""
    by_path: dict[str, Problem] = {}
    errors = sorted(validator.iter_errors(value), key=lambda error: len(error.absolute_path))
    for problem in (problem for error in errors for problem in _explained(error)):
        by_path.setdefault(problem.path, problem)
    return sorted(by_path.values(), key=lambda each: each.path.count("."))[:MAX_PROBLEMS]


def _explained(error: Any) -> Iterator[Problem]:
    path, fields = error.json_path, error.schema.get("properties", {})
    if error.validator == "required":
        for name in error.validator_value:
            if name not in error.instance:
                yield Problem(f"{path}.{name}", name, f"'{name}' is required")
    elif error.validator == "additionalProperties":
        for name in islice((name for name in error.instance if name not in fields), MAX_PROBLEMS):
            clipped = clip(str(name))
            yield Problem(f"{path}.{clipped}", clipped, unsupported(str(name), fields))
    else:
        parts = list(error.absolute_path)
        items = ""
        while parts and isinstance(parts[-1], int):
            items = f"[{parts.pop()}]{items}"
        field = parts[-1] if parts else ""
        subject = f"{field or 'arguments'}{items}"
        yield Problem(path, field, f"'{subject}' must be: {rule_in_words(error.schema)}")


def unsupported(name: str, fields: Mapping[str, Any]) -> str:
    """That there is no field of that name, which there are, and which may have been meant."""
    near = likely(name, fields)
    hint = f"; did you mean '{near}'?" if near else ""
    return f"'{clip(name)}' is not supported here; allowed: {', '.join(fields) or 'none'}{hint}"


def likely(name: str, fields: Mapping[str, Any]) -> str | None:
    """The field that somebody who wrote `name` may have meant: one with the same last words, else one alike.

    Letter by letter `diagram_title` is more like `diagram_key` than like `title`.
    """
    ending = [field for field in fields if name.endswith(f"_{field}") or field.endswith(f"_{name}")]
    return next(iter(ending or close(name, fields)), None)


def rule_in_words(schema: Mapping[str, Any]) -> str:
    """What a value must be: `integer, 1 to 500`, `string, 3 to 120 characters`, `list of …`."""
    if "enum" in schema:
        return "one of " + ", ".join(f"`{value}`" for value in schema["enum"])
    match schema.get("type", "any value"):
        case "string":
            return "string" + _span(schema, "minLength", "maxLength", " characters") + _pattern(schema)
        case "array":
            count = _span(schema, "minItems", "maxItems", "").removeprefix(", ")
            return f"list of {count + ' × ' if count else ''}{rule_in_words(schema.get('items', {}))}"
        case "boolean":
            return "true or false"
        case kind:
            return str(kind) + _span(schema, "minimum", "maximum", "")


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
