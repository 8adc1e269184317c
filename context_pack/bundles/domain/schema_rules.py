"""The rules of JSON Schema that are our own, because the library's are slow, vague or cannot be stopped.

`jsonschema` walks the schema and has the other rules. Ours count their steps, search with patterns that can
be given up, keep the order of the data, and never spell out a schema in a message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from context_pack.bundles.domain.patterns import Patterns
from context_pack.bundles.domain.steps import COST, Steps
from context_pack.bundles.domain.unevaluated import EvaluatedParts
from context_pack.kernel.text import canonical_json

Errors = Iterator[Any]
Rule = Callable[[Any, Any, Any, Any], Any]
_REFERENCES = {"$ref": 5, "$dynamicRef": 5}
"""The cost of following one reference, in steps."""


def validator_class(patterns: Patterns, steps: Steps) -> Any:
    """A validator of draft 2020-12 with our rules."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    make: Any = extend
    return make(Draft202012Validator, rules(patterns, steps))


def rules(patterns: Patterns, steps: Steps) -> dict[str, Rule]:
    """Our rules by keyword."""
    from jsonschema import Draft202012Validator, ValidationError

    seen = EvaluatedParts(patterns, steps)
    keys: dict[int, tuple[Any, frozenset[str]]] = {}

    def visit(_: Any, cost: int, value: Any, __: Any) -> tuple[()]:
        steps.visit(cost, value)
        return ()

    def key(value: Any) -> str:
        text = canonical_json(_whole(value))
        steps.text(text)
        return text

    def followed(name: str) -> Rule:
        library = Draft202012Validator.VALIDATORS[name]

        def follow(validator: Any, ref: str, value: Any, schema: Any) -> Any:
            steps.take(_REFERENCES[name])
            return library(validator, ref, value, schema)

        return follow

    def pattern(_: Any, wanted: str, value: Any, __: Any) -> Errors:
        if isinstance(value, str) and patterns.found(wanted, value) is False:
            yield ValidationError(wanted)

    def by_pattern(validator: Any, wanted: Any, value: Any, __: Any) -> Errors:
        if isinstance(value, dict):
            for text, schema in wanted.items():
                steps.take(len(value))
                for name, inner in value.items():
                    if patterns.found(text, name):
                        yield from validator.descend(inner, schema, path=name, schema_path=text)

    def additional(validator: Any, wanted: Any, value: Any, schema: Any) -> Errors:
        if not isinstance(value, dict):
            return
        known, texts = schema.get("properties", {}), schema.get("patternProperties", {})
        for name, inner in value.items():
            steps.take(1 + len(texts))
            # Where a pattern cannot say, the field gets the benefit of the doubt.
            if name in known or any(patterns.found(text, name) is not False for text in texts):
                continue
            if wanted is False:
                yield ValidationError(name)
            else:
                yield from validator.descend(inner, wanted, path=name)

    def required(_: Any, names: list[str], value: Any, __: Any) -> Errors:
        if isinstance(value, dict):
            yield from (ValidationError(name) for name in names if name not in value)

    def unique(_: Any, wanted: bool, value: Any, __: Any) -> Errors:
        if wanted and isinstance(value, list) and len({key(item) for item in value}) < len(value):
            yield ValidationError("unique")

    def enum(_: Any, wanted: list[Any], value: Any, __: Any) -> Errors:
        if id(wanted) not in keys:  # the list is kept, so that no other gets its identity
            keys[id(wanted)] = (wanted, frozenset(map(key, wanted)))
        if key(value) not in keys[id(wanted)][1]:
            yield ValidationError("enum")

    def const(_: Any, wanted: Any, value: Any, __: Any) -> Errors:
        if key(wanted) != key(value):
            yield ValidationError("const")

    def negated(validator: Any, wanted: Any, value: Any, __: Any) -> Errors:
        if validator.evolve(schema=wanted).is_valid(value):
            yield ValidationError("not")

    def one_of(validator: Any, wanted: list[Any], value: Any, __: Any) -> Errors:
        if sum(validator.evolve(schema=schema).is_valid(value) for schema in wanted) != 1:
            yield ValidationError("oneOf")

    def unevaluated(kind: type[Any]) -> Rule:
        def rule(validator: Any, wanted: Any, value: Any, schema: Any) -> Errors:
            if isinstance(value, kind):
                known, rest = seen.of(validator, value, schema), validator.evolve(schema=wanted)
                parts = value.items() if isinstance(value, dict) else enumerate(value)
                if not all(key in known or rest.is_valid(inner) for key, inner in parts):
                    yield ValidationError("unevaluated")

        return rule

    return {
        COST: visit,
        **{name: followed(name) for name in _REFERENCES},
        "pattern": pattern,
        "patternProperties": by_pattern,
        "additionalProperties": additional,
        "required": required,
        "uniqueItems": unique,
        "enum": enum,
        "const": const,
        "not": negated,
        "oneOf": one_of,
        "unevaluatedProperties": unevaluated(dict),
        "unevaluatedItems": unevaluated(list),
    }


def _whole(value: Any) -> Any:
    """A value for comparison by JSON's rules: `1` equals `1.0`, but not `true`."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return {name: _whole(item) for name, item in value.items()} if isinstance(value, dict) else value
