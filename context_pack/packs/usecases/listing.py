"""Lists of packs. Takes no lock and changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from attrs import frozen

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paging import Page
from context_pack.kernel.ports import Clock
from context_pack.packs.domain.listing import Filter, chosen, list_text
from context_pack.packs.domain.model import Listed, Pack, Status
from context_pack.packs.ports import PackStore
from context_pack.packs.usecases.commands import ListPacks, ListText
from context_pack.toolkit.budget import room_of


@frozen
class PackLister:
    """Lists packs."""

    store: PackStore
    clock: Clock

    def summaries(self, command: ListPacks) -> Page[Listed]:
        """Summaries of the packs that pass the filters, the last changed first."""
        wanted = _filter(command)
        return chosen(self.store.summaries(), wanted)

    def list(self, command: ListPacks) -> Page[Pack]:
        """The packs that pass the filters, the last changed first."""
        found = self.summaries(command)
        return Page(tuple(self._whole(found.items)), found.total, found.has_more)

    def _whole(self, listed: Iterable[Listed]) -> Iterator[Pack]:
        """These packs with their sections, but for one that was deleted a moment ago."""
        for pack in listed:
            try:
                yield pack if isinstance(pack, Pack) else self.store.get(pack.id)
            except Failure as failure:
                if failure.code is not Code.NOT_FOUND:
                    raise

    def expired(self) -> Sequence[Pack]:
        """The packs whose time is over and which can still be restored, the last that expired first."""
        return sorted(self.store.expired(), key=lambda pack: pack.expires_at, reverse=True)

    def list_text(self, command: ListText) -> str:
        """The list as Markdown, within the budget."""
        wanted = _filter(command)
        page = chosen(self.store.summaries(), wanted)
        return list_text(page, wanted, self.clock.now(), room_of(command.max_tokens))


def _filter(command: ListPacks | ListText) -> Filter:
    status = None if command.status is None else Status(command.status)
    return Filter(status, command.query, command.limit, command.offset)
