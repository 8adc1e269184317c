"""Connects features that do not import each other: one's values through the other's port."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from attrs import frozen

from context_pack.memory.ports import MemoryPorts, PackNote
from context_pack.memory.refresh import Refresher
from context_pack.memory.search import MemorySearcher
from context_pack.memory.stores import CodePlaces
from context_pack.packs.draft import is_own, own_description, own_heading, own_title, own_why
from context_pack.packs.model import Pack
from context_pack.packs.ports import PackStore


def memory_searcher(
    memory: MemoryPorts, packs: PackStore, monotonic: Callable[[], float], places: CodePlaces
) -> MemorySearcher:
    """Searches code, discoveries, sessions and the texts of packs."""
    refresher = Refresher(memory, PacksAsNotes(packs), monotonic)
    return MemorySearcher(memory, refresher, monotonic, places)


@frozen
class PacksAsNotes:
    """The texts of live packs, for memory to search."""

    packs: PackStore

    def notes(self) -> Iterator[PackNote]:
        """Every section and every ref of every live pack."""
        for pack in self.packs.all():
            yield from _notes(pack)


def _notes(pack: Pack) -> Iterator[PackNote]:
    """The hand-written texts of a pack; generated ones repeat the question and are left out."""
    title = own_title(pack)
    for section in pack.sections:
        words = list(filter(None, (title, pack.brief, own_heading(pack, section), own_description(section))))
        if words:
            # A pack without a title of its own is known by its name.
            told = "\n".join(words if title else filter(None, (pack.name, *words)))
            yield PackNote(
                pack.id, section.key, None, section.title, told, pack.updated_at, worktree=pack.worktree
            )
        for ref in filter(is_own, section.refs):
            name = ref.title or ref.key
            text = "\n".join(filter(None, (name, own_why(ref), ref.path.value)))
            lines = (ref.path.value, ref.lines.start, ref.lines.end)
            yield PackNote(pack.id, section.key, ref.key, name, text, pack.updated_at, *lines, pack.worktree)
