"""Entities against their schema: JSON Schema draft 2020-12, by `jsonschema`, within bounds.

A schema is a foreign file, so nothing in it may crash or hang the server: one that is no schema checks
nothing; patterns are bounded (`patterns`); `$ref` stays inside the bundle (`schema_files`) and is followed
only so many times per entity; the rules that `jsonschema` leaves to chance or to slow code (the order of
unknown fields, unique items) are our own. `x-sdd-*` and `format` say nothing here. Once a schema has proved
too costly, it checks nothing more.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from context_pack.bundles.domain.patterns import PATIENCE, Patterns
from context_pack.bundles.domain.problems import clipped, problem_words
from context_pack.bundles.domain.schema_files import SchemaWorld, uri_of
from context_pack.kernel.digest import canonical_json

MOST_PROBLEMS = 20
"""Of one entity; who has so many will look at the file."""
MOST_STEPS = 20_000
"""How many times one entity may make `$ref` be followed."""


class _TooCostly(Exception):
    """The schema sends the validator round and round."""


class Validation:
    """What one type's schema, the file at `path`, says about its entities."""

    def __init__(self, path: str, world: SchemaWorld) -> None:
        self._patterns = Patterns()
        self._steps = 0
        self._given_up: str | None = None
        self._validator: Any = None
        if path in world.documents:
            for pattern in _patterns_in(world.documents[path]):
                self._patterns.compiled(pattern)
            by_pattern = "patternProperties" in json.dumps(list(world.documents.values()))
            rules = _rules(self._patterns, self._step, with_unevaluated=not by_pattern)
            self._validator = _extended(rules)({"$ref": uri_of(path)}, registry=world.registry)

    @property
    def flaws(self) -> list[str]:
        """What has proved wrong with the schema so far, besides what its world knows."""
        patterns = self._patterns
        told = [f"the pattern {clipped(text)} cannot be used: {why}" for text, why in patterns.faulty.items()]
        told += [
            f"the pattern {clipped(text)} takes longer than {PATIENCE:g} s and is not checked"
            for text in patterns.spent
        ]
        return told if self._given_up is None else [*told, self._given_up]

    def problems(self, data: Any) -> list[str]:
        """What the schema finds wrong with an entity; the first few."""
        if self._validator is None or self._given_up is not None:
            return []
        self._steps = 0
        found: dict[str, None] = {}
        try:
            for error in islice(self._validator.iter_errors(data), MOST_PROBLEMS):
                found[problem_words(error)] = None
        except (_TooCostly, RecursionError):
            self._given_up = (
                "it refers to itself without end, or too often to be followed; nothing is checked"
            )
        except Exception as error:
            # Whatever jsonschema stumbles over is the schema's doing: say it, and go on without it.
            self._given_up = f"it cannot be used ({type(error).__name__}); nothing more is checked"
        return list(found)

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise _TooCostly


def _patterns_in(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for item in schema:
            yield from _patterns_in(item)
    elif isinstance(schema, Mapping):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        if isinstance(schema.get("patternProperties"), Mapping):
            yield from schema["patternProperties"]
        for value in schema.values():
            yield from _patterns_in(value)


def _extended(rules: Mapping[str, Any]) -> Any:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    make: Any = extend
    return make(Draft202012Validator, rules)


def _rules(patterns: Patterns, step: Any, with_unevaluated: bool) -> dict[str, Any]:
    """The rules that are our own."""
    from jsonschema import Draft202012Validator, ValidationError

    library = Draft202012Validator.VALIDATORS

    def pattern(_: Any, wanted: str, value: Any, __: Any) -> Iterator[ValidationError]:
        if isinstance(value, str) and patterns.found(wanted, value) is False:
            yield ValidationError(wanted)

    def by_pattern(validator: Any, wanted: Any, value: Any, __: Any) -> Iterator[ValidationError]:
        if isinstance(value, dict):
            for text, schema in wanted.items():
                for name, inner in value.items():
                    if patterns.found(text, name):
                        yield from validator.descend(inner, schema, path=name, schema_path=text)

    def additional(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
        if not isinstance(value, dict):
            return
        known, texts = schema.get("properties", {}), schema.get("patternProperties", {})
        for name, inner in value.items():
            # Where a pattern cannot say, the field gets the benefit of the doubt.
            if name in known or any(patterns.found(text, name) is not False for text in texts):
                continue
            if wanted is False:
                yield ValidationError(name)
            else:
                yield from validator.descend(inner, wanted, path=name)

    def required(_: Any, names: list[str], value: Any, __: Any) -> Iterator[ValidationError]:
        if isinstance(value, dict):
            yield from (ValidationError(name) for name in names if name not in value)

    def unique(_: Any, wanted: bool, value: Any, __: Any) -> Iterator[ValidationError]:
        if wanted and isinstance(value, list) and len({_key(item) for item in value}) < len(value):
            yield ValidationError("unique")

    def reference(name: str) -> Any:
        def follow(validator: Any, ref: str, value: Any, schema: Any) -> Any:
            step()
            return library[name](validator, ref, value, schema)

        return follow

    ours: dict[str, Any] = {
        "pattern": pattern,
        "patternProperties": by_pattern,
        "additionalProperties": additional,
    }
    ours |= {"required": required, "uniqueItems": unique}
    ours |= {name: reference(name) for name in ("$ref", "$dynamicRef")}
    # The library's own rule would run patterns without a bound, so it gives way where there are any.
    return ours if with_unevaluated else {**ours, "unevaluatedProperties": lambda *_: ()}


def _key(value: Any) -> str:
    """A text that is equal for values that JSON calls equal: `1` and `1.0` are, `1` and `true` are not."""
    return canonical_json(_whole(value))


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return {key: _whole(item) for key, item in value.items()} if isinstance(value, dict) else value
