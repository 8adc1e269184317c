"""Where two features meet without knowing each other: one's values as the other's port asks for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import frozen

from context_pack.contexts.ports import ContextPorts
from context_pack.contexts.usecases.commands import CheckFreshness
from context_pack.contexts.usecases.query import Checked, ContextQueries
from context_pack.memory.ports import PackNote
from context_pack.packs.domain.model import Pack
from context_pack.packs.domain.scopes import Scopes, ScopeState
from context_pack.packs.ports import NoScopes, PackStore, ScopeWatch, Waiting, patiently


@frozen
class ContextsAsScopes:
    """How the contexts of folders stand, for packs whose sections name the folders."""

    queries: ContextQueries

    @classmethod
    def over(cls, contexts: ContextPorts | None) -> ScopeWatch:
        """The watch over these contexts; one that knows nothing where there are none."""
        return NoScopes() if contexts is None else cls(ContextQueries(contexts.projects, contexts.format))

    def states(self, scopes: Sequence[str], waiting: Waiting = patiently, /) -> Scopes:
        """The state of each scope; a context that is not there or cannot be read is missing."""
        return {scope: self._state(scope, waiting) for scope in scopes}

    def _state(self, scope: str, waiting: Waiting) -> ScopeState:
        found = self.queries.check(CheckFreshness(scope=scope), waiting)
        return ScopeState(found.freshness.state) if isinstance(found, Checked) else ScopeState.MISSING


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
