"""Lists of packs, and which pack a caller means. Takes no lock and changes nothing.

The id wins over the name, and a name may stand in the id's place. What a person may mean is always answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import accumulate
from operator import attrgetter
from typing import Any

from attrs import frozen

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.paging import Page, page
from context_pack.kernel.ports import Clock
from context_pack.kernel.text import close, is_pack_id, single_line
from context_pack.kernel.times import format_instant, human, remaining_seconds
from context_pack.packs.commands import ListPacks, ListText, NamedPack
from context_pack.packs.model import Pack
from context_pack.packs.ports import TRASH_KEEPS, PackStore, is_deleted, last_expired
from context_pack.packs.record import MOMENTS, to_record
from context_pack.toolkit.budget import cut_text, room_of, size
from context_pack.toolkit.offers import best_first

LONGEST_HEADING = 800
"""Bytes; what callers give is shorter, a file of another writer may hold anything."""
NOTHING = "No context packs found."
TITLE = "# Context packs"
_REST_BYTES = 120
"""More than the line that leads on has."""
LISTED = ("id", "name", "title", "brief", "tags", "status", "revision", *MOMENTS)


def last_changed_first(packs: Iterable[Pack]) -> list[Pack]:
    """The packs in the order of every list."""
    by_id = sorted(packs, key=attrgetter("id"))
    return sorted(by_id, key=attrgetter("updated_at"), reverse=True)


def chosen(packs: Iterable[Pack], wanted: ListPacks | ListText) -> Page[Pack]:
    """The packs that pass the filters of a command, the last changed first."""
    needle = (wanted.query or "").strip().casefold()
    passing = (pack for pack in packs if wanted.status in (None, pack.status) and _holds(pack, needle))
    return page(last_changed_first(passing), wanted.offset, wanted.limit)


def _holds(pack: Pack, needle: str) -> bool:
    paths = (str(ref.path) for _, ref in pack.refs)
    texts = (pack.id, pack.title, pack.name, pack.brief, *pack.tags, *paths)
    return any(needle in text.casefold() for text in texts if text is not None)


def list_text(packs: Page[Pack], offset: int, now: datetime, most: int) -> str:
    """The list as Markdown in at most `most` bytes; when packs are left, top and end say how to go on."""
    if not packs.items:
        return NOTHING
    lines = [_line(pack, now) for pack in packs.items]
    whole = "\n".join([TITLE, "", *lines])
    if not packs.has_more and size(whole) <= most:
        return whole
    used = accumulate((size(line) + 1 for line in lines), initial=size(TITLE) + 2 * _REST_BYTES)
    fitting = max(1, sum(each <= most for each in used) - 1)
    left = packs.total - offset - fitting
    if left <= 0:
        return whole
    rest = f'> truncated: {left} packs left; continue with output {{"offset": {offset + fitting}}}'
    return "\n".join([TITLE, "", rest, "", *lines[:fitting], "", rest])


def listed(packs: Page[Pack], now: datetime) -> dict[str, Any]:
    """The list as JSON: how many packs there are, and those of this page without their sections."""
    rows = [_summary(pack, now) for pack in packs]
    return {"count": len(rows), "total": packs.total, "has_more": packs.has_more, "packs": rows}


def _summary(pack: Pack, now: datetime) -> dict[str, Any]:
    remaining = remaining_seconds(pack.expires_at, now)
    return {
        **to_record(pack, LISTED, anchors=False),
        "ttl_remaining_seconds": remaining,
        "ttl_remaining_human": human(remaining),
        **({} if pack.author is None else {"author": pack.author}),
        **({} if pack.worktree is None else {"worktree": pack.worktree}),
    }


def _line(pack: Pack, now: datetime) -> str:
    life = human(remaining_seconds(pack.expires_at, now))
    tree = "" if pack.worktree is None else f", from worktree {pack.worktree}"
    name = "" if pack.name in (None, pack.heading) else f"name `{pack.name}`, "
    facts = f"{name}{pack.status}, revision `{pack.revision}`, ttl `{life}`{tree}"
    return f"- `{pack.id}` — {cut_text(pack.heading, LONGEST_HEADING)} ({facts})"


@frozen
class PackLister:
    """Lists packs."""

    store: PackStore
    clock: Clock

    def list(self, command: ListPacks) -> Page[Pack]:
        """The packs that pass the filters, the last changed first."""
        return chosen(self.store.all(), command)

    def expired(self) -> Sequence[Pack]:
        """The packs whose time is over and which can still be restored, the last that expired first."""
        return sorted(self.store.expired(), key=lambda pack: pack.expires_at, reverse=True)

    def unchecked(self) -> Sequence[Pack]:
        """The expired packs that somebody may miss: not deleted, nor there again under their id or name."""
        live = [pack for pack in self.store.readable()[0] if pack.worktree is None]
        there = {pack.id for pack in live} | {pack.name for pack in live if pack.name is not None}
        return [pack for pack in self.expired() if not (is_deleted(pack) or {pack.id, pack.name} & there)]

    def list_text(self, command: ListText) -> str:
        """The list as Markdown, within the budget."""
        packs, failure = self.store.readable()
        if failure is not None and failure.code is not Code.UNAVAILABLE:
            raise failure
        text = list_text(
            chosen(packs, command), command.offset, self.clock.now(), room_of(command.max_tokens)
        )
        return text if failure is None else f"{text}\n\n> {single_line(failure.message)}"


def located(store: PackStore, named: NamedPack) -> Pack:
    """The live pack that the call means; what has the shape of an id is never tried as a name.

    Raises:
        Failure: `invalid_data` when the call gives neither id nor name, or `not_found`; it says how a deleted
            or expired one comes back, or which names are near.
    """
    given = named.name if named.id is None else named.id
    if given is None:
        raise invalid("'id' or 'name' is required; list the packs to see them", "id")
    handle = given.strip()
    try:
        return store.get(handle) if is_pack_id(handle) else store.find(handle)
    except Failure as failure:
        if failure.code is not Code.NOT_FOUND:
            raise
        message, details = failure.message, dict(failure.details)
    if (gone := _in_trash(store, handle)) is not None:
        end = format_instant(gone.expires_at + TRASH_KEEPS, whole_seconds=True)
        what = "was deleted" if is_deleted(gone) else "has expired"
        message = f"that pack {what}; it can be restored until {end}"
        way = f"'context-pack packs restore {gone.id}' brings it back"
        details["hint"] = f"{way}, 'packs list --expired' shows all"
    elif not is_pack_id(handle) and (near := close(handle, names(store, ""))):
        message = f"no live pack is called {handle!r}; did you mean {' or '.join(map(repr, near))}?"
        details["near"] = near
    raise Failure(Code.NOT_FOUND, message, details)


def _in_trash(store: PackStore, handle: str) -> Pack | None:
    """The deleted or expired pack with that id or name that ended last; None when the store cannot say."""
    with suppress(Failure):
        return last_expired(store.expired(), handle)
    return None


def live_packs(store: PackStore) -> Sequence[Pack]:
    """Every live pack, the last changed first; none when the store cannot say."""
    with suppress(Failure):
        return last_changed_first(store.all())
    return ()


def handles(store: PackStore, typed: str) -> Iterator[str]:
    """Ids, then names, that begin with what was typed; then names that hold it."""
    packs = live_packs(store)
    yield from (pack.id for pack in packs if pack.id.startswith(typed))
    yield from best_first([pack.name for pack in packs if pack.name is not None], typed)


def names(store: PackStore, typed: str) -> Sequence[str]:
    """What packs are called, the id standing for one without a name; the best match first."""
    return best_first([pack.name or pack.id for pack in live_packs(store)], typed)
