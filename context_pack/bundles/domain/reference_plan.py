"""Where a schema lets an entity name others: fields marked with `x-sdd-refTargets`, at any depth.

The subschemas for one place of the data (behind `$ref`, in `allOf`, in alternatives) are merged into a plan,
made when data first leads there: data is finite, so schemas that contain themselves are no trouble. Branches
that mention no reference are not walked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from attrs import frozen

from context_pack.bundles.domain.patterns import Patterns
from context_pack.bundles.domain.schema_files import looked_up
from context_pack.bundles.domain.steps import cost_of
from context_pack.bundles.domain.words import title_of

MARK = "x-sdd-refTargets"
_LEADS_ON = frozenset({MARK, "$ref", "$dynamicRef"})
# Subschemas that are about the very same value.
_BESIDE = ("allOf", "anyOf", "oneOf")
_BRANCHES = ("if", "then", "else")


class MarkedId(NamedTuple):
    """A marked id: where its field stands in the schema, its path in the data, and the field's title."""

    place: tuple[int, ...]
    path: tuple[str, ...]
    title: str | None
    target: str


class _Subschema(NamedTuple):
    """A subschema with its reference resolver, if there is one."""

    schema: Mapping[str, Any]
    resolver: Any


class _FieldPlan(NamedTuple):
    """A field: what is said about its value, its title, and its number among the fields."""

    plan: ReferencePlan
    title: str | None
    number: int


@frozen(eq=False)
class ReferencePlan:
    """The subschemas that apply to one place of the data."""

    roots: tuple[_Subschema, ...]
    patterns: Patterns
    """They also count the steps of the walk."""

    @classmethod
    def of_schema(cls, schema: Any, resolver: Any, patterns: Patterns) -> ReferencePlan:
        """The plan of a whole schema; of none, if the value is no schema."""
        return cls((_Subschema(schema, resolver),) if isinstance(schema, Mapping) else (), patterns)

    def title_at(self, path: Sequence[str]) -> str | None:
        """The title of the field at a path; lists on the way are passed through."""
        plan, title = self, None
        for name in path:
            child = plan._fields.get(name) or plan._items(0)._fields.get(name)
            if child is None:
                return None
            plan, title = child.plan, child.title
        return title

    def walk(
        self,
        value: Any,
        found: list[MarkedId],
        place: tuple[int, ...] = (),
        path: tuple[str, ...] = (),
        title: str | None = None,
    ) -> None:
        """Add the marked ids in a value.

        Raises:
            TooCostly: the steps are used up.
        """
        if path and self._is_marked:
            found.extend(MarkedId(place, path, title, target) for target in ids_in(value))
        if isinstance(value, Mapping):
            self._take(1 + len(self._leading) + len(self._unnamed))
            for name, child in self._children(value):
                child.plan.walk(value[name], found, (*place, child.number), (*path, name), child.title)
        elif isinstance(value, list) and self._has_items:
            self._take(len(value))
            for number, item in enumerate(value):
                self._items(number).walk(item, found, place, path, title)

    def _take(self, steps: int) -> None:
        self.patterns.steps.take(steps)

    @cached_property
    def _parts(self) -> tuple[_Subschema, ...]:
        found = []
        for part in _merged(self.roots):
            self._take(cost_of(part.schema))
            found.append(part)
        return tuple(found)

    @cached_property
    def _is_marked(self) -> bool:
        return any(_is_mark(part.schema.get(MARK)) for part in self._parts)

    @cached_property
    def _fields(self) -> dict[str, _FieldPlan]:
        """The named fields, in the order of the schema."""
        named: dict[str, list[_Subschema]] = {}
        for part in self._parts:
            for name, schema in _schemas(part.schema.get("properties")):
                named.setdefault(name, []).append(_Subschema(schema, part.resolver))
        return {name: self._child(parts, number) for number, (name, parts) in enumerate(named.items())}

    @cached_property
    def _leading(self) -> list[tuple[str, _FieldPlan]]:
        """The named fields that may hold references."""
        return [(name, child) for name, child in self._fields.items() if child.plan._leads_on]

    @cached_property
    def _unnamed(self) -> list[tuple[str | None, _FieldPlan]]:
        """The plans of unnamed fields: by pattern, then (None) for the rest."""
        number = len(self._fields)
        found: list[tuple[str | None, _FieldPlan]] = []
        for part in self._parts:
            for pattern, schema in _schemas(part.schema.get("patternProperties")):
                found.append((pattern, self._child([_Subschema(schema, part.resolver)], number)))
        for part in self._parts:
            for _, schema in _schemas({"": part.schema.get("additionalProperties")}):
                found.append((None, self._child([_Subschema(schema, part.resolver)], number)))
        return [(pattern, child) for pattern, child in found if child.plan._leads_on]

    @cached_property
    def _leads_on(self) -> bool:
        return any(_mentions(part.schema) for part in self.roots)

    @cached_property
    def _has_items(self) -> bool:
        return any("items" in part.schema or "prefixItems" in part.schema for part in self._parts)

    @cached_property
    def _item_plans(self) -> dict[int, ReferencePlan]:
        return {}

    @cached_property
    def _prefix(self) -> int:
        """The length of the list prefix that has schemas of its own."""
        return max((len(_list(part.schema.get("prefixItems"))) for part in self._parts), default=0)

    def _child(self, parts: list[_Subschema], number: int) -> _FieldPlan:
        title = next(filter(None, (title_of(part.schema) for part in parts)), None)
        return _FieldPlan(ReferencePlan(tuple(parts), self.patterns), title, number)

    def _children(self, value: Mapping[str, Any]) -> Iterator[tuple[str, _FieldPlan]]:
        """The fields of a value that may hold references."""
        for name, child in self._leading:
            if name in value:
                yield name, child
        if not self._unnamed:
            return
        for name in value:
            self._take(1 + len(self._unnamed))
            if name in self._fields:
                continue
            matched = False
            for pattern, child in self._unnamed:
                if pattern is None and matched:
                    break
                if pattern is None or self.patterns.found(pattern, name):
                    matched = True
                    yield name, child

    def _items(self, number: int) -> ReferencePlan:
        """The plan of the list item at that index."""
        number = min(number, self._prefix)
        known = self._item_plans.get(number)
        if known is None:
            parts = [
                _Subschema(schema, part.resolver)
                for part in self._parts
                for schema in [_item_schema(part.schema, number)]
                if isinstance(schema, Mapping)
            ]
            known = self._item_plans[number] = ReferencePlan(tuple(parts), self.patterns)
        return known


def ids_in(value: Any) -> Iterator[str]:
    """The ids that a value names: itself, or its items, as far as they are texts with something in them."""
    for item in value if isinstance(value, list) else (value,):
        if isinstance(item, str) and item.strip():
            yield item


def _merged(roots: Sequence[_Subschema]) -> Iterator[_Subschema]:
    """The subschemas that are about the same value, each once, in the order of the schema."""
    seen: set[int] = set()
    waiting = list(reversed(roots))
    while waiting:
        part = waiting.pop()
        if id(part.schema) in seen:
            continue
        seen.add(id(part.schema))
        yield part
        waiting.extend(reversed(list(_beside(part))))


def _beside(part: _Subschema) -> Iterator[_Subschema]:
    schema, resolver = part
    for key in ("$ref", "$dynamicRef"):
        if isinstance(schema.get(key), str) and resolver is not None:
            yield from _resolved(schema[key], resolver)
    for key in _BESIDE:
        yield from (_Subschema(one, resolver) for one in _list(schema.get(key)) if isinstance(one, Mapping))
    for key in _BRANCHES:
        if isinstance(schema.get(key), Mapping):
            yield _Subschema(schema[key], resolver)
    yield from (_Subschema(one, resolver) for _, one in _schemas(schema.get("dependentSchemas")))


def _resolved(ref: str, resolver: Any) -> Iterator[_Subschema]:
    # Where it leads to nothing, the schema's own check has said so.
    found = looked_up(resolver, ref)
    if found is not None and isinstance(found.contents, Mapping):
        yield _Subschema(found.contents, found.resolver)


def _item_schema(schema: Mapping[str, Any], number: int) -> Any:
    prefix = _list(schema.get("prefixItems"))
    return prefix[number] if number < len(prefix) else schema.get("items")


def _schemas(value: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The named subschemas of a keyword that holds a mapping of them."""
    if isinstance(value, Mapping):
        yield from ((name, one) for name, one in value.items() if isinstance(one, Mapping))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_mark(value: Any) -> bool:
    return any(ids_in(value))


def _mentions(schema: Any) -> bool:
    """Whether a schema contains a reference mark or a `$ref` anywhere."""
    if isinstance(schema, list):
        return any(map(_mentions, schema))
    if not isinstance(schema, Mapping):
        return False
    return any(key in _LEADS_ON or _mentions(value) for key, value in schema.items())
