"""An entity as a document that people read: title, fields by their schema titles, related entities by type.

Values come from files and must not forge the document: texts of several lines are contained, texts on one
line stay on it and open no block. A reference is shown with the title of what it names. The entity is always
shown whole; of those it is related to, the nearest as far as there is room, and the document says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from attrs import frozen

from context_pack.bundles.model import Bundle, Entity, address_of, title_of, words_of
from context_pack.kernel.markdown import escape_structure
from context_pack.kernel.text import fenced, single_line
from context_pack.toolkit.budget import json_size

MOST_NESTED = 4
"""How deep lists in lists are shown as lists; deeper values are shown as JSON."""
MORE = "use a smaller dependencyDepth, get_context, or export_context, which is always complete"
"""How to see what a document had no room for."""
_MARKUP = re.compile(r"<(?=[A-Za-z/!?])")
_BLOCK_START = re.compile(r"\A(\d*)(?=[#>~`+*=|.)[-])")


def document(
    bundle: Bundle, entity: Entity, related: Sequence[Entity], most: int
) -> tuple[str, list[Entity]]:
    """The document: the entity, then its related entities by type; and which of them have a place in it.

    The related ones, nearest first, take at most `most` bytes of an answer with the entity.
    """
    text = f"# {_line(entity.title)}\n\n{_Writer(bundle, entity).text()}"
    room = most - json_size(text)
    shown: list[Entity] = []
    groups: dict[str, list[str]] = {}
    for one in related:
        section = f"\n#### {_line(one.title)}\n\n{_Writer(bundle, one).text()}"
        room -= json_size(section) + json_size(address_of(one))
        if room < 0:
            break
        shown.append(one)
        groups.setdefault(one.type, []).append(section)
    if related:
        text += "\n## Related entities\n"
    for name, sections in groups.items():
        text += f"\n### {_line(_type_title(bundle, name))}\n{''.join(sections)}"
    left = len(related) - len(shown)
    return f"{text}\n> truncated: {left} related entities left; {MORE}\n" if left else text, shown


def _type_title(bundle: Bundle, name: str) -> str:
    return title_of(bundle.schemas.get(name)) or name


@frozen(eq=False)
class _Writer:
    """Writes one entity."""

    bundle: Bundle
    entity: Entity

    @cached_property
    def named(self) -> dict[str, Entity]:
        """The entities that this one refers to."""
        return {edge.target.id: edge.target for edge in self.bundle.edges[self.entity.id]}

    def text(self) -> str:
        """The entity as whole lines."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        """What every entity has, then its fields in the order of the file, each under its title."""
        entity, schema = self.entity, self.bundle.schemas.get(self.entity.type)
        yield f"- **Type:** {_line(_type_title(self.bundle, entity.type))}"
        yield f"- **ID:** {_line(entity.id)}"
        yield f"- **Last modified:** {entity.modified}"
        id_field = self.bundle.kinds[entity.type].id_field
        used = {id_field, *(name for name in ("title", "name") if entity.data.get(name) == entity.title)}
        rest = {
            name: value for name, value in entity.data.items() if name not in used and not _is_empty(value)
        }
        yield from self._items(rest, schema, 0)

    def _items(self, value: Any, schema: Any, depth: int) -> Iterator[str]:
        """A list or mapping as a list; of the entity itself, texts of several lines stand by themselves."""
        indent = "  " * depth
        if depth >= MOST_NESTED:
            text = json.dumps(value, ensure_ascii=False, indent=2)
            yield from (f"{indent}{line}" for line in fenced(text, "json").splitlines())
            return
        named = _named(schema)
        entries: list[tuple[str, Any, Any]]
        if isinstance(value, Mapping):
            titles = {name: title_of(named.get(name)) or words_of(name) for name in value}
            entries = [(f"**{_line(titles[name])}:**", one, named.get(name)) for name, one in value.items()]
        else:
            entries = [("", one, schema) for one in value]
        for number, (head, one, inner) in enumerate(entries, 1):
            if isinstance(one, Mapping | list) and one:
                yield f"{indent}- {head or f'{number}:'}"
                yield from self._items(one, _inner(inner), depth + 1)
            elif depth == 0 and isinstance(one, str) and len(one.strip().splitlines()) > 1:
                yield from ("", head, "", escape_structure(one.strip()), "")
            elif head:
                yield f"{indent}- {head} {self._scalar(one)}"
            else:
                yield f"{indent}- {_BLOCK_START.sub(_escaped, self._scalar(one), count=1)}"

    def _scalar(self, value: Any) -> str:
        if isinstance(value, str):
            other = self.named.get(value)
            title = "" if other is None or other.title == other.id else f" — {_line(other.title)}"
            # An empty item would make a heading of the line above it.
            return (_line(value) or '""') + title
        return json.dumps(value, ensure_ascii=False)


def _named(schema: Any) -> Mapping[str, Any]:
    """The schemas of a mapping's fields, by name."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return properties if isinstance(properties, Mapping) else {}


def _inner(schema: Any) -> Any:
    """The schema of a list's items, or the schema itself."""
    items = schema.get("items") if isinstance(schema, Mapping) else None
    return items if isinstance(items, Mapping) else schema


def _is_empty(value: Any) -> bool:
    return value is None or value in ("", [], {})


def _line(text: str) -> str:
    """A text on one line that opens no HTML."""
    return _MARKUP.sub(r"\\<", single_line(text))


def _escaped(start: re.Match[str]) -> str:
    """The start of a line, kept from opening a block."""
    return f"{start[1]}\\"
