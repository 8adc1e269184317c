"""Entities against their schema: JSON Schema draft 2020-12, by `jsonschema`, within bounds.

A schema is a foreign file, so nothing in it may crash or hang the server: one that is no schema checks
nothing; its work is counted (`steps`), its patterns are bounded (`patterns`), `$ref` stays inside the bundle
(`schema_files`); the rules that `jsonschema` leaves to chance or to slow code are our own (`schema_rules`).
`x-sdd-*` and `format` say nothing here. Once a schema has proved too costly, it checks nothing more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from context_pack.bundles.domain.patterns import PATIENCE, Patterns
from context_pack.bundles.domain.problems import clipped, problem_words
from context_pack.bundles.domain.schema_files import SchemaWorld, uri_of
from context_pack.bundles.domain.schema_rules import validator_class
from context_pack.bundles.domain.steps import TooCostly, is_too_deep

MOST_PROBLEMS = 20
"""The most problems that are listed for one entity."""
TOO_LONG = "checking by it takes too long; nothing more is checked"


class Validation:
    """Validates entities of one type by its schema, the file at `path`."""

    def __init__(self, path: str, world: SchemaWorld) -> None:
        self._steps = world.steps
        self._patterns = Patterns(self._steps)
        self._given_up: str | None = None
        self._validator: Any = None
        if path in world.documents:
            make = validator_class(self._patterns, self._steps)
            self._validator = make({"$ref": uri_of(path)}, registry=world.registry)
            try:
                self._steps.begin_value()
                for pattern in _patterns_in(world.documents[path]):
                    self._patterns.compiled(pattern)
            except TooCostly:
                self._given_up = TOO_LONG

    @property
    def flaws(self) -> list[str]:
        """Problems of the schema that showed during validation."""
        patterns = self._patterns
        told = [f"the pattern {clipped(text)} cannot be used: {why}" for text, why in patterns.faulty.items()]
        told += [
            f"the pattern {clipped(text)} takes longer than {PATIENCE:g} s and is not checked"
            for text in patterns.spent
        ]
        return told if self._given_up is None else [*told, self._given_up]

    def problems(self, data: Any) -> list[str]:
        """The first few validation errors of an entity."""
        if self._validator is None or self._given_up is not None:
            return []
        found: dict[str, None] = {}
        try:
            self._steps.begin_value(data)
            for error in islice(self._validator.iter_errors(data), MOST_PROBLEMS):
                found[problem_words(error)] = None
        except TooCostly:
            self._given_up = TOO_LONG
        except BaseException as error:
            if is_too_deep(error):
                self._given_up = "it refers to itself without end; nothing is checked"
                return list(found)
            if error is self._steps.interrupted or not isinstance(error, Exception):
                raise
            # Whatever jsonschema stumbles over is the schema's doing: say it, and go on without it.
            self._given_up = f"it cannot be used ({type(error).__name__}); nothing more is checked"
        return list(found)


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
