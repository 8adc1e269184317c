"""Lists of packs. Takes no lock and changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from attrs import define, field

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paging import Page
from context_pack.kernel.ports import Clock
from context_pack.packs.domain.listing import Filter, chosen, list_text, same_until
from context_pack.packs.domain.model import Listed, Pack, Status
from context_pack.packs.ports import PackStore
from context_pack.packs.usecases.commands import ListPacks, ListText
from context_pack.toolkit.budget import room_of
from context_pack.toolkit.spec import Answer


class _Written(NamedTuple):
    """The last rendered list, its input, and the time span in which it stays the same."""

    made_of: tuple[ListText, Sequence[Listed]]
    wanted: Filter
    since: datetime
    until: datetime
    answer: Answer


@define
class PackLister:
    """Lists packs; the last list in Markdown is kept (benches/side_by_side/throughput.py, three packs)."""

    store: PackStore
    clock: Clock
    _last: _Written | None = field(default=None, init=False, eq=False, repr=False)

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

    def expired(self, trashed: bool = True) -> Sequence[Pack]:
        """The packs whose time is over and which can still be restored, the last that expired first."""
        return sorted(self.store.expired(trashed), key=lambda pack: pack.expires_at, reverse=True)

    def list_text(self, command: ListText) -> Answer:
        """The list as Markdown, within the budget."""
        last = self._last
        wanted = _filter(command) if last is None or last.made_of[0] is not command else last.wanted
        made_of, now = (command, self.store.summaries()), self.clock.now()
        # A pack that has not changed is the same object, and the same objects are compared quickly.
        if last is None or last.made_of != made_of or not last.since <= now < last.until:
            last = self._last = _written(made_of, wanted, now)
        return last.answer


def _written(made_of: tuple[ListText, Sequence[Listed]], wanted: Filter, now: datetime) -> _Written:
    command, packs = made_of
    page = chosen(packs, wanted)
    text = list_text(page, wanted, now, room_of(command.max_tokens))
    return _Written(made_of, wanted, now, same_until(page, now), Answer(text, kept=True))


def _filter(command: ListPacks | ListText) -> Filter:
    status = None if command.status is None else Status(command.status)
    return Filter(status, command.query, command.limit, command.offset)
