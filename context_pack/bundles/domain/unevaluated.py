"""Which fields and items of a value a schema evaluated, for `unevaluatedProperties` and `…Items`.

A schema has looked at what its own keywords speak of and at what those subschemas have looked at that are
about the same value and hold for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from context_pack.bundles.domain.patterns import Patterns
from context_pack.bundles.domain.steps import Steps, cost_of

_ALTERNATIVES = ("allOf", "anyOf", "oneOf")
_REST_OF_FIELDS = ("additionalProperties", "unevaluatedProperties")
_REST_OF_ITEMS = ("items", "unevaluatedItems")


@frozen(eq=False)
class EvaluatedParts:
    """Finds the evaluated parts of a value, within a budget of steps."""

    patterns: Patterns
    steps: Steps

    def of(self, validator: Any, value: Any, schema: Any, *, inner: bool = False) -> set[Any]:
        """The names of the fields, or the places of the items, that a schema covers.

        An `inner` schema's own rule for the rest counts, that of the asking one does not.
        """
        if not isinstance(schema, Mapping):
            return set()
        self.steps.take(cost_of(schema) + len(value))
        is_mapping = isinstance(value, Mapping)
        rest = _REST_OF_FIELDS if is_mapping else _REST_OF_ITEMS
        if any(name in schema for name in rest[: 2 if inner else 1]):
            return set(value if is_mapping else range(len(value)))
        found = self._fields(value, schema) if is_mapping else _items(validator, value, schema)
        for other, part in self._beside(validator, value, schema):
            found |= self.of(other, value, part, inner=True)
        return found

    def _fields(self, value: Mapping[str, Any], schema: Mapping[str, Any]) -> set[str]:
        found = set(value) & set(schema.get("properties", ()))
        for text in schema.get("patternProperties", ()):
            self.steps.take(len(value))
            # Where a pattern cannot say, the field gets the benefit of the doubt.
            found.update(name for name in value if self.patterns.found(text, name) is not False)
        return found

    def _beside(self, validator: Any, value: Any, schema: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
        """The subschemas that are about the same value and hold for it, each with its validator."""
        for name in ("$ref", "$dynamicRef"):
            if isinstance(schema.get(name), str):
                found = validator._resolver.lookup(schema[name])
                yield (
                    validator.evolve(schema=found.contents, _resolver=found.resolver),
                    found.contents,
                )
        for name in _ALTERNATIVES:
            for part in schema.get(name, ()):
                if validator.evolve(schema=part).is_valid(value):
                    yield validator, part
        if "if" in schema:
            holds = validator.evolve(schema=schema["if"]).is_valid(value)
            if holds:
                yield validator, schema["if"]
            branch = "then" if holds else "else"
            if branch in schema:
                yield validator, schema[branch]
        if isinstance(value, Mapping):
            for name, part in schema.get("dependentSchemas", {}).items():
                if name in value:
                    yield validator, part


def _items(validator: Any, value: list[Any], schema: Mapping[str, Any]) -> set[int]:
    found = set(range(min(len(value), len(schema.get("prefixItems", ())))))
    if "contains" in schema:
        holds = validator.evolve(schema=schema["contains"]).is_valid
        found.update(place for place, item in enumerate(value) if holds(item))
    return found
