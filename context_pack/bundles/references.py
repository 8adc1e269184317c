"""Which ids an entity names: by the relations of its bundle type, then by the fields its schema marks.

A value counts that is a text with something in it, or a list of such texts. References come in the order of
the declared relations, then of the schema's fields, then of the data; the first of equal ones counts. Schema
and data are walked together, so that a schema which contains itself is followed as far as the data goes: all
values at one place (`steps.actorId`, whatever the index) are looked at together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from context_pack.bundles.model import Field, Reference, Relation
from context_pack.bundles.schemas import SchemaChecker, looked_up
from context_pack.bundles.spelling import title_of, words_of

MARK = "x-sdd-refTargets"


class Subschema(NamedTuple):
    """A part of a schema, and what finds its references."""

    schema: Mapping[str, Any]
    resolver: Any


class References:
    """Finds the references of one type's entities."""

    def __init__(
        self, relations: Iterable[Relation], checker: SchemaChecker, schema: Any, resolver: Any
    ) -> None:
        self._checker = checker
        self._roots = [Subschema(schema, resolver)] if isinstance(schema, Mapping) else []
        self._relations = [Field(one.from_field, self._title(one.from_field)) for one in relations]

    def of(self, data: Mapping[str, Any]) -> tuple[Reference, ...]:
        """Every reference of an entity, each once."""
        declared = {field.name: field for field in reversed(self._relations)}
        found: dict[Reference, None] = {}
        for relation in self._relations:
            for value in values_at(data, relation.name):
                found.update((Reference(relation, target), None) for target in ids_in(value))
        for path, title, target in _marked(self._roots, [data], self._checker):
            name = ".".join(path)
            field = declared.get(name) or Field(name, title or words_of(name))
            found[Reference(field, target)] = None
        return tuple(found)

    def _title(self, name: str) -> str:
        """The schema's title of a field that a relation declares, else its name in words."""
        paths = ([name], name.split("."))
        titles = (_title_at(self._roots, path, self._checker) for path in paths)
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


def _marked(
    roots: Sequence[Subschema],
    values: Sequence[Any],
    checker: SchemaChecker,
    path: tuple[str, ...] = (),
    title: str | None = None,
) -> Iterator[tuple[tuple[str, ...], str | None, str]]:
    """The marked ids in the values at one place: the field's path and title, and the id."""
    if not roots or not values:
        return
    parts = _same_place(roots)
    if path and any(any(ids_in(part.schema.get(MARK))) for part in parts):
        yield from ((path, title, target) for value in values for target in ids_in(value))
    objects = [value for value in values if isinstance(value, Mapping)]
    fields = _fields(parts, checker, objects)
    for name, schemas in fields.items():
        checker.check()
        inner = [value[name] for value in objects if name in value]
        yield from _marked(schemas, inner, checker, (*path, name), _title(schemas))
    for schemas, items in _items(parts, [value for value in values if isinstance(value, list)]):
        yield from _marked(schemas, items, checker, path, title)


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
        found = looked_up(resolver, schema["$ref"])
        if found is not None and isinstance(found.contents, Mapping):
            yield Subschema(found.contents, found.resolver)
    several = (schema.get(key) for key in ("allOf", "anyOf", "oneOf"))
    inner = [one for each in several if isinstance(each, list) for one in each]
    inner += [schema.get(key) for key in ("if", "then", "else")]
    inner += _mapping(schema.get("dependentSchemas")).values()
    yield from (Subschema(one, resolver) for one in inner if isinstance(one, Mapping))


def _fields(
    parts: Sequence[Subschema], checker: SchemaChecker, values: Sequence[Mapping[str, Any]] = ()
) -> dict[str, list[Subschema]]:
    """The subschemas of each field, in the order of the schema; then of fields that it does not name."""
    named: dict[str, list[Subschema]] = {}
    for schema, resolver in parts:
        for name, one in _mapping(schema.get("properties")).items():
            named.setdefault(name, []).append(Subschema(one, resolver))
    unnamed: dict[str, list[Subschema]] = {}
    for name in dict.fromkeys(name for value in values for name in value if name not in named):
        checker.check()
        for schema, resolver in parts:
            patterns = _mapping(schema.get("patternProperties")).items()
            fitting = [one for pattern, one in patterns if checker.matches(pattern, name)]
            rest = fitting or [schema.get("additionalProperties")]
            unnamed.setdefault(name, []).extend(Subschema(one, resolver) for one in rest)
    return {
        name: [part for part in schemas if isinstance(part.schema, Mapping)]
        for name, schemas in {**named, **unnamed}.items()
    }


def _items(
    parts: Sequence[Subschema], lists: Sequence[list[Any]]
) -> Iterator[tuple[list[Subschema], list[Any]]]:
    """The items of lists with their subschemas: those at a place of their own, then the others."""
    prefix = max((len(_list(schema.get("prefixItems"))) for schema, _ in parts), default=0)
    for number in range(prefix + 1):
        some = [
            _list(schema.get("prefixItems"))[number : number + 1] or [schema.get("items")]
            for schema, _ in parts
        ]
        schemas = [
            Subschema(one[0], part.resolver)
            for one, part in zip(some, parts, strict=True)
            if isinstance(one[0], Mapping)
        ]
        end = number + 1 if number < prefix else None
        yield schemas, [item for each in lists for item in each[number:end]]


def _title_at(roots: Sequence[Subschema], path: Sequence[str], checker: SchemaChecker) -> str | None:
    """The title of the field at a path; lists on the way are passed through."""
    for name in path:
        parts = _same_place(roots)
        items = _same_place(
            [Subschema(one, r) for s, r in parts if isinstance(one := s.get("items"), Mapping)]
        )
        roots = _fields(parts, checker).get(name) or _fields(items, checker).get(name) or []
    return _title(roots)


def _title(schemas: Sequence[Subschema]) -> str | None:
    return next(filter(None, (title_of(schema) for schema, _ in schemas)), None)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
