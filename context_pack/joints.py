"""Where two features meet without knowing each other: one's values as the other's port asks for them."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from context_pack.memory.ports import PackNote
from context_pack.packs.domain.model import Pack
from context_pack.packs.ports import PackStore


@frozen
class PacksAsNotes:
    """What live packs say, for memory to search."""

    packs: PackStore

    def notes(self) -> Iterator[PackNote]:
        """Every section and every ref of every live pack."""
        for pack in self.packs.all():
            yield from _notes(pack)


def _notes(pack: Pack) -> Iterator[PackNote]:
    for section in pack.sections:
        told = "\n".join(filter(None, (pack.heading, pack.brief, section.title, section.description)))
        yield PackNote(pack.id, section.key, None, section.title, told, pack.updated_at)
        for ref in section.refs:
            title = ref.title or ref.key
            text = "\n".join(filter(None, (title, ref.why, ref.path.value)))
            lines = (ref.path.value, ref.lines.start, ref.lines.end)
            yield PackNote(pack.id, section.key, ref.key, title, text, pack.updated_at, *lines)
