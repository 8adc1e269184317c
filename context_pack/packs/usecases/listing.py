"""Lists of packs. Takes no lock and changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from attrs import frozen

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.paging import Page
from context_pack.kernel.ports import Clock
from context_pack.packs.domain.listing import MOST_LIMIT, Filter, chosen, list_text
from context_pack.packs.domain.model import Listed, Pack, parse_status
from context_pack.packs.domain.pages import Rendered
from context_pack.packs.ports import PackStore
from context_pack.packs.usecases.commands import LEAST_TOKENS, MOST_TOKENS, ListPacks, ListText
from context_pack.toolkit.tokens import fitting


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
        check_budget(command.max_tokens)
        wanted = _filter(command)
        page, now = chosen(self.store.summaries(), wanted), self.clock.now()
        return fitting(command.max_tokens, lambda room: Rendered(list_text(page, wanted, now, room))).text


def _filter(command: ListPacks | ListText) -> Filter:
    if not 1 <= command.limit <= MOST_LIMIT:
        raise invalid(f"'limit' must be an integer from 1 to {MOST_LIMIT}", "limit")
    if command.offset < 0:
        raise invalid("'offset' must be an integer of at least 0", "offset")
    status = None if command.status is None else parse_status(command.status)
    return Filter(status, command.query, command.limit, command.offset)


def check_budget(tokens: int) -> None:
    """Refuse a page that is too small or too large."""
    if not LEAST_TOKENS <= tokens <= MOST_TOKENS:
        raise invalid(f"'max_tokens' must be an integer from {LEAST_TOKENS} to {MOST_TOKENS}", "max_tokens")
