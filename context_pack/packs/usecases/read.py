"""Reading packs: one, a list, a rendered page. Takes no lock and changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from operator import is_

from attrs import evolve, field, frozen

from context_pack.kernel.errors import invalid
from context_pack.kernel.paging import Page
from context_pack.kernel.ports import Clock, SourceTree
from context_pack.packs.domain.bookmarks import Bookmark, Mode, Position
from context_pack.packs.domain.budget import joined
from context_pack.packs.domain.layout import legend_of
from context_pack.packs.domain.lifecycle import check_status
from context_pack.packs.domain.listing import MOST_LIMIT, Filter, chosen, list_text
from context_pack.packs.domain.model import Pack, parse_status
from context_pack.packs.domain.render import Rendered, render
from context_pack.packs.domain.scopes import NOTHING_KNOWN, Scopes, scopes_in
from context_pack.packs.ports import NoScopes, PackSettings, PackStore, ScopeWatch
from context_pack.packs.usecases.commands import (
    LEAST_TOKENS,
    MOST_TOKENS,
    ListPacks,
    ListText,
    Named,
    RenderPack,
)
from context_pack.packs.usecases.resolving import Check, Resolver, unwatched
from context_pack.packs.usecases.sightings import Page as KeptPage
from context_pack.packs.usecases.sightings import Sightings
from context_pack.packs.usecases.target import located
from context_pack.toolkit.limits import BYTES_PER_TOKEN

WITHOUT_END = 10**12
"""A budget of tokens that no pack reaches."""
_MINUTE = timedelta(minutes=1)


@frozen
class _Listed:
    """The list as it was last written, and until when it reads the same."""

    command: ListText
    packs: Sequence[Pack]
    since: datetime
    until: datetime
    text: str

    def holds(self, command: ListText, packs: Sequence[Pack], now: datetime) -> bool:
        """Whether the same would be written again; a pack that has not changed is the same object."""
        return (
            command == self.command
            and self.since <= now <= self.until
            and len(packs) == len(self.packs)
            and all(map(is_, packs, self.packs))
        )


def _same_until(packs: Sequence[Pack], now: datetime) -> datetime:
    """The end of the first whole minute of life that ends: lives are written in minutes or more."""
    ends = [pack.expires_at - (pack.expires_at - now) // _MINUTE * _MINUTE for pack in packs]
    return min(ends, default=now + _MINUTE)


@frozen
class PackReader:
    """Reads live packs."""

    store: PackStore
    tree: SourceTree
    clock: Clock
    settings: PackSettings = field(factory=PackSettings)
    sightings: Sightings = field(factory=Sightings, eq=False, repr=False)
    watch: ScopeWatch = field(factory=NoScopes)
    _last: list[_Listed | None] = field(factory=lambda: [None], init=False, eq=False, repr=False)

    def get(self, named: Named) -> Pack:
        """The pack."""
        return located(self.store, named)

    def list(self, command: ListPacks | ListText) -> Page[Pack]:
        """The packs that pass the filters, the last changed first."""
        return chosen(self.store.all(), _filter(command))

    def list_text(self, command: ListText) -> str:
        """The same as Markdown, within the budget."""
        _check_budget(command.max_tokens)
        most = command.max_tokens * BYTES_PER_TOKEN
        packs, now = self.store.all(), self.clock.now()
        last = self._last[0]
        if last is not None and last.holds(command, packs, now):
            return last.text
        wanted = _filter(command)
        text = list_text(chosen(packs, wanted), wanted, now, most)
        self._last[0] = _Listed(command, packs, now, _same_until(packs, now), text)
        return text

    def render(self, command: RenderPack, check: Check = unwatched) -> Rendered:
        """A page of the pack with its code.

        Raises:
            Failure: `invalid_state` when the pack has another status than asked for, `revision_conflict` when
                it has changed since the page that the cursor came from.
        """
        _check_budget(command.max_tokens)
        wanted = None if command.status is None else parse_status(command.status)
        mode = None if command.mode is None else _mode(command.mode)
        mark = None if command.cursor is None else Bookmark.decode(command.cursor)
        if mark is not None and command.id is None and command.name is None:
            command = evolve(command, id=mark.pack_id)
        pack = located(self.store, command)
        position = Position()
        if mark is not None:
            mark.check(pack)
            if mode is not None and mode is not mark.mode:
                raise invalid(
                    "'mode' is not that of the cursor; leave it out, or start without cursor", "mode"
                )
            position, mode = mark.position, mark.mode
        check_status(pack, wanted)
        return self._rendered(pack, mode or Mode.FULL, command.max_tokens, position, check)

    def document(self, named: Named, mode: str = Mode.FULL) -> str:
        """The whole pack as one Markdown text, however long."""
        return self._rendered(self.get(named), _mode(mode), WITHOUT_END).text

    def scopes(self, pack: Pack, check: Check = unwatched) -> Scopes:
        """How the contexts of the scopes that the pack names stand."""
        named = scopes_in(pack)
        return self.watch.states(named, check) if named else NOTHING_KNOWN

    def _rendered(
        self, pack: Pack, mode: Mode, tokens: int, position: Position | None = None, check: Check = unwatched
    ) -> Rendered:
        """A page; the last one again, if it would be made of the same."""
        refs = [ref for _, ref in pack.refs]
        resolver = Resolver(self.tree, self.settings.max_source_bytes, check, self.sightings, refs)
        now, request = self.clock.now(), (mode, tokens, position)
        scopes = self.scopes(pack, check)
        legend = joined(legend_of(pack, now, scopes))
        known = self.sightings.page(request, pack, legend)
        if known is not None and resolver.unchanged(known.sightings):
            return known.rendered
        rendered = render(pack, resolver, now, mode, tokens, position, scopes)
        sighted = resolver.sighted()
        if sighted is not None:
            self.sightings.keep(request, KeptPage(pack, legend, sighted, rendered))
        return rendered


def _filter(command: ListPacks | ListText) -> Filter:
    if not 1 <= command.limit <= MOST_LIMIT:
        raise invalid(f"'limit' must be an integer from 1 to {MOST_LIMIT}", "limit")
    if command.offset < 0:
        raise invalid("'offset' must be an integer of at least 0", "offset")
    status = None if command.status is None else parse_status(command.status)
    return Filter(status, command.query, command.limit, command.offset)


def _mode(value: str) -> Mode:
    try:
        return Mode(value)
    except ValueError:
        raise invalid(f"'mode' must be one of: {', '.join(Mode)}", "mode") from None


def _check_budget(tokens: int) -> None:
    if not LEAST_TOKENS <= tokens <= MOST_TOKENS:
        raise invalid(f"'max_tokens' must be an integer from {LEAST_TOKENS} to {MOST_TOKENS}", "max_tokens")
