"""What is wrong with a value, by path and in words: jsonschema finds it, `rule_words` says what is wanted.

Stricter than the standard in two points: a text with a lone surrogate is no string, as no file can hold it,
and infinity is no number.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

from attrs import frozen
from jsonschema import Draft202012Validator
from jsonschema.validators import extend

from context_pack.kernel.errors import clip
from context_pack.kernel.nearness import close
from context_pack.kernel.text import has_half_characters
from context_pack.toolkit.rule_words import rule_in_words

Schema = dict[str, Any]
MAX_PROBLEMS = 10

_STANDARD = Draft202012Validator.TYPE_CHECKER
_TYPES = _STANDARD.redefine_many(
    {
        "string": lambda _, value: isinstance(value, str) and not has_half_characters(value),
        "number": lambda _, value: _STANDARD.is_type(value, "number") and abs(value) < inf,
    }
)
_make: Any = extend
_Validator = _make(Draft202012Validator, type_checker=_TYPES)


@frozen
class Problem:
    """One thing wrong: where (`$.a[0].b`), in which field, in words."""

    path: str
    field: str
    message: str


def problems_of(schema: Schema, value: Any) -> list[Problem]:
    """Everything wrong with a value (the first few), the shallowest first, one problem for each path."""
    by_path: dict[str, Problem] = {}
    errors = sorted(_Validator(schema).iter_errors(value), key=lambda error: len(error.absolute_path))
    for problem in (problem for error in errors for problem in _explained(error)):
        by_path.setdefault(problem.path, problem)
    return sorted(by_path.values(), key=lambda each: each.path.count("."))[:MAX_PROBLEMS]


def _explained(error: Any) -> Iterator[Problem]:
    path, known = error.json_path, error.schema.get("properties", {})
    if error.validator == "required":
        for name in error.validator_value:
            if name not in error.instance:
                yield Problem(f"{path}.{name}", name, f"'{name}' is required")
    elif error.validator == "additionalProperties":
        for name in [name for name in error.instance if name not in known][:MAX_PROBLEMS]:
            shown, near = clip(str(name)), close(str(name), known)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            allowed = ", ".join(known) or "none"
            yield Problem(
                f"{path}.{shown}", shown, f"'{shown}' is not supported here; allowed: {allowed}{hint}"
            )
    else:
        field = next((part for part in reversed(error.absolute_path) if isinstance(part, str)), "")
        yield Problem(path, field, f"'{field or 'arguments'}' must be: {rule_in_words(error.schema)}")
