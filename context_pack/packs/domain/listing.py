"""Lists of packs: which are shown, in which order, and how they read as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from operator import attrgetter
from typing import TypeVar

from attrs import frozen

from context_pack.kernel.paging import Page, page
from context_pack.kernel.times import human, remaining_seconds
from context_pack.packs.domain.budget import Line, joined, shrunk
from context_pack.packs.domain.model import Listed, Status
from context_pack.toolkit.budget import size

DEFAULT_LIMIT, MOST_LIMIT = 50, 500
LONGEST_LINE = 1_024
NOTHING = "No context packs found."
TITLE = "# Context packs"
AnyPack = TypeVar("AnyPack", bound=Listed)


@frozen
class Filter:
    """Which packs are wanted, and which part of them."""

    status: Status | None = None
    query: str | None = None
    limit: int = DEFAULT_LIMIT
    offset: int = 0


def chosen(packs: Iterable[AnyPack], wanted: Filter) -> Page[AnyPack]:
    """The packs that pass the filter: the last changed first, then by id."""
    passing = [pack for pack in packs if wanted.status in (None, pack.status)]
    if needle := (wanted.query or "").strip().casefold():
        passing = [pack for pack in passing if _holds(pack, needle)]
    passing.sort(key=attrgetter("id"))
    passing.sort(key=attrgetter("updated_at"), reverse=True)
    return page(passing, wanted.offset, wanted.limit)


def _holds(pack: Listed, needle: str) -> bool:
    paths = (str(ref.path) for _, ref in pack.refs)
    texts = (pack.id, pack.title, pack.name, pack.brief, *pack.tags, *paths)
    return any(needle in text.casefold() for text in texts if text is not None)


def list_text(found: Page[AnyPack], wanted: Filter, now: datetime, most: int) -> str:
    """The list as Markdown in at most `most` bytes; when packs are left, top and end say how to go on."""
    if not found.items:
        return NOTHING
    lines = [_line(pack, now) for pack in found.items]
    whole = "\n".join([TITLE, "", *lines])
    if not found.has_more and size(whole) <= most:
        return whole
    fitting = _fitting(lines, most)
    left = found.total - wanted.offset - fitting
    if left <= 0:
        return whole
    rest = _rest(left, wanted.offset + fitting)
    return "\n".join([TITLE, "", rest, "", *lines[:fitting], "", rest])


def _line(pack: Listed, now: datetime) -> str:
    life = human(remaining_seconds(pack.expires_at, now))
    tree = "" if pack.worktree is None else f", from worktree {pack.worktree}"
    tail = f" ({pack.status}, revision `{pack.revision}`, ttl `{life}`{tree})"
    return joined(shrunk([Line(f"- `{pack.id}` — ", pack.heading, tail)], LONGEST_LINE))


def _fitting(lines: Sequence[str], most: int) -> int:
    """How many lines fit beside the title and the lines that lead on; at least one."""
    used = size(TITLE) + 2 + 2 * (size(_rest(10**9, 10**9)) + 2)
    for index, line in enumerate(lines):
        used += size(line) + 1
        if used > most:
            return max(1, index)
    return len(lines)


def _rest(left: int, offset: int) -> str:
    return f'> truncated: {left} packs left; continue with output {{"offset": {offset}}}'
