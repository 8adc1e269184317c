"""Which ids an entity names: by the relations of its bundle type, then by the fields its schema marks.

A value counts that is a text with something in it, or a list of such texts. References come in the order of
the declared relations, then of the schema's fields, then of the data; the first of equal ones counts. How the
schema is walked is in `reference_plan`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from context_pack.bundles.domain.model import Field, Reference, Relation
from context_pack.bundles.domain.patterns import Patterns
from context_pack.bundles.domain.reference_plan import MarkedId, ReferencePlan, ids_in
from context_pack.bundles.domain.steps import Steps, TooCostly
from context_pack.bundles.domain.words import words_of

TOO_LONG = "finding references by it takes too long; some are missing"


class References:
    """Finds the references of one type's entities, within a budget of steps.

    `flaws` says when it was used up.
    """

    def __init__(
        self, relations: Iterable[Relation], schema: Any, resolver: Any, steps: Steps | None = None
    ) -> None:
        self._steps = steps or Steps()
        self._plan = ReferencePlan.of_schema(schema, resolver, Patterns(self._steps))
        self.flaws: list[str] = []
        self._fields: dict[str, Field] = {}
        self._relations = [Field(one.from_field, self._title(one.from_field)) for one in relations]
        for relation in self._relations:
            self._fields.setdefault(relation.name, relation)

    def of(self, data: Mapping[str, Any]) -> tuple[Reference, ...]:
        """Every reference of an entity, each once."""
        found: dict[Reference, None] = {}
        marked: list[MarkedId] = []
        try:
            self._steps.begin_value()
            for relation in self._relations:
                for value in self._values_at(data, relation.name):
                    found.update((Reference(relation, target), None) for target in ids_in(value))
            self._plan.walk(data, marked)
        except TooCostly:
            self.flaws = [TOO_LONG]
        marked.sort(key=lambda one: one.place)
        for one in marked:
            found[Reference(self._field(".".join(one.path), one.title), one.target)] = None
        return tuple(found)

    def _field(self, name: str, title: str | None) -> Field:
        known = self._fields.get(name)
        if known is None:
            known = self._fields[name] = Field(name, title or words_of(name))
        return known

    def _title(self, name: str) -> str:
        """The schema's title of a field that a relation declares, else its name in words."""
        try:
            self._steps.begin_value()
            return self._plan.title_at([name]) or self._plan.title_at(name.split(".")) or words_of(name)
        except TooCostly:
            self.flaws = [TOO_LONG]
            return words_of(name)

    def _values_at(self, data: Any, name: str) -> Iterator[Any]:
        """The values of a field: that of exactly this name, else those at its dotted path, through lists."""
        self._steps.take(1)
        if isinstance(data, list):
            for item in data:
                yield from self._values_at(item, name)
        elif isinstance(data, Mapping):
            if name in data:
                yield data[name]
            else:
                head, dot, rest = name.partition(".")
                if dot and head in data:
                    yield from self._values_at(data[head], rest)
