"""Which ids an entity names: by the relations of its bundle type, then by the fields its schema marks.

A value counts that is a text with something in it, or a list of such texts. References come in the order of
the declared relations, then of the schema's fields, then of the data; the first of equal ones counts. Schema
and data are walked together, so that a schema which contains itself is followed as far as the data goes: all
values at one place (`steps.actorId`, whatever the index) are looked at together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from context_pack.bundles.model import Field, Reference, Relation, title_of, words_of
from context_pack.bundles.schemas import looked_up
from context_pack.toolkit.call import check_call

MARK = "x-sdd-refTargets"


class Subschema(NamedTuple):
    """A part of a schema, and what finds its references."""

    schema: Mapping[str, Any]
    resolver: Any


class References:
    """Finds the references of one type's entities."""

    def __init__(self, relations: Iterable[Relation], schema: Any, resolver: Any) -> None:
        self._roots = [Subschema(schema, resolver)] if isinstance(schema, Mapping) else []
        self._relations = [Field(one.from_field, self._title(one.from_field)) for one in relations]

    def of(self, data: Mapping[str, Any]) -> tuple[Reference, ...]:
        """Every reference of an entity, each once."""
        declared = {field.name: field for field in reversed(self._relations)}
        references: dict[Reference, None] = {}
        for relation in self._relations:
            for value in values_at(data, relation.name):
                references.update((Reference(relation, target), None) for target in ids_in(value))
        for name, title, target in self._marked(self._roots, [data], "", None):
            field = declared.get(name) or Field(name, title or words_of(name))
            references[Reference(field, target)] = None
        return tuple(references)

    def _marked(
        self, roots: Sequence[Subschema], values: Sequence[Any], name: str, title: str | None
    ) -> Iterator[tuple[str, str | None, str]]:
        """The marked ids in the values at one place: the field's dotted path and title, and the id."""
        check_call()
        if not roots or not values:
            return
        parts = _same_place(roots)
        if name and any(any(ids_in(part.schema.get(MARK))) for part in parts):
            yield from ((name, title, target) for value in values for target in ids_in(value))
        objects = [value for value in values if isinstance(value, Mapping)]
        for field, schemas in _fields(parts, objects).items():
            inner = [value[field] for value in objects if field in value]
            yield from self._marked(schemas, inner, f"{name}.{field}" if name else field, _title(schemas))
        lists = [item for value in values if isinstance(value, list) for item in value]
        yield from self._marked(_inner(parts, "items"), lists, name, title)

    def _title(self, name: str) -> str:
        """The schema's title of a field that a relation declares, else its name in words."""
        titles = (_title_at(self._roots, path) for path in ([name], name.split(".")))
        return next(filter(None, titles), words_of(name))


def ids_in(value: Any) -> Iterator[str]:
    """The ids that a value names: itself, or its items, as far as they are texts with something in them."""
    for item in value if isinstance(value, list) else (value,):
        if isinstance(item, str) and item.strip():
            yield item


def values_at(data: Any, name: str) -> Iterator[Any]:
    """The values of a field: that of exactly this name, else those at its dotted path, through lists."""
    if isinstance(data, list):
        for item in data:
            yield from values_at(item, name)
    elif isinstance(data, Mapping):
        head, dot, rest = name.partition(".")
        if name in data:
            yield data[name]
        elif dot and head in data:
            yield from values_at(data[head], rest)


def _same_place(roots: Sequence[Subschema]) -> list[Subschema]:
    """The subschemas that are about the same value, each once: also behind `$ref` and in alternatives."""
    seen: dict[int, Subschema] = {}
    waiting = list(reversed(roots))
    while waiting:
        part = waiting.pop()
        if id(part.schema) not in seen:
            seen[id(part.schema)] = part
            waiting.extend(reversed(list(_beside(part))))
    return list(seen.values())


def _beside(part: Subschema) -> Iterator[Subschema]:
    schema, resolver = part
    if isinstance(schema.get("$ref"), str) and resolver is not None:
        target = looked_up(resolver, schema["$ref"])
        if target is not None and isinstance(target.contents, Mapping):
            yield Subschema(target.contents, target.resolver)
    several = (schema.get(key) for key in ("allOf", "anyOf", "oneOf"))
    inner = [one for each in several if isinstance(each, list) for one in each]
    inner += [schema.get(key) for key in ("if", "then", "else")]
    yield from (Subschema(one, resolver) for one in inner if isinstance(one, Mapping))


def _fields(
    parts: Sequence[Subschema], objects: Sequence[Mapping[str, Any]] = ()
) -> dict[str, list[Subschema]]:
    """The subschemas of each field, in the order of the schema; then of fields that it does not name."""
    named: dict[str, list[Subschema]] = {}
    for schema, resolver in parts:
        properties = schema.get("properties")
        for name, one in properties.items() if isinstance(properties, Mapping) else ():
            named.setdefault(name, []).extend([Subschema(one, resolver)] if isinstance(one, Mapping) else ())
    rest = _inner(parts, "additionalProperties")
    unnamed = (name for value in objects for name in value if name not in named)
    return {**named, **(dict.fromkeys(unnamed, rest) if rest else {})}


def _inner(parts: Sequence[Subschema], keyword: str) -> list[Subschema]:
    """The subschemas at a keyword."""
    return [
        Subschema(one, part.resolver)
        for part in parts
        if isinstance(one := part.schema.get(keyword), Mapping)
    ]


def _title_at(roots: Sequence[Subschema], path: Sequence[str]) -> str | None:
    """The title of the field at a path; lists on the way are passed through."""
    for name in path:
        parts = _same_place(roots)
        roots = _fields([*parts, *_same_place(_inner(parts, "items"))]).get(name, [])
    return _title(roots)


def _title(schemas: Sequence[Subschema]) -> str | None:
    return next(filter(None, (title_of(schema) for schema, _ in schemas)), None)
