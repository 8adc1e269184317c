"""A pack as Markdown pages: one pure function over the pack, its resolved refs, the time and a budget.

Every page carries the legend, is never larger than its budget, and gets further than the last; together the
pages show everything once. Items come whole while they fit. An item that does not even fit a page of its own
is cut, and says which lines it shows. A pack that fits is laid out exactly as the contract shows it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from attrs import define, evolve, field

from context_pack.kernel.errors import invalid
from context_pack.packs import layout
from context_pack.packs.claims import claims_of, doubts_of, headline, summary
from context_pack.packs.layout import Item, ItemBlock
from context_pack.packs.model import NOTHING_KNOWN, Pack, Ref, Scopes
from context_pack.packs.pages import GAP, Bookmark, Line, Mode, Position, joined, part, shrunk
from context_pack.packs.pages import Rendered as Rendered
from context_pack.packs.states import Resolution
from context_pack.toolkit.budget import room_of, size
from context_pack.toolkit.limits import DEFAULT_MAX_TOKENS

LEGEND_SHARE, HEAD_SHARE = 0.4, 0.3
CUT_SHARE, REVIEW_SHARE = 0.2, 0.2
"""An item is cut rather than moved to the next page where it would leave more of this one empty."""
LEAST_BODY = 200
"""In less room than this a body is not begun."""
NOTE_BYTES = 100
LEAST_ROOM = 1_200
"""Bytes of the smallest page that still gets further."""
FAR = 10**9

Resolve = Callable[[Ref], Resolution]


def render(
    pack: Pack,
    resolve: Resolve,
    now: datetime,
    mode: Mode = Mode.FULL,
    max_tokens: int = DEFAULT_MAX_TOKENS,
    position: Position | None = None,
    scopes: Scopes = NOTHING_KNOWN,
) -> Rendered:
    """One page of the pack from a position on."""
    claims, bare = claims_of(pack)
    doubts = doubts_of(claims, resolve)
    pack = layout.with_lines_of_today(pack, resolve)
    items = layout.items_of(pack)
    states = {id(item.part): resolve(item.part) for item in items if isinstance(item.part, Ref)}
    if mode is Mode.FULL and any(found.difference is not None for found in states.values()):
        items = list(layout.with_changes(items, states))
    elif mode is Mode.DIFF:
        items = list(layout.only_changes(items, doubts))
    counted = doubts, len(claims), bare
    # A pack that was built part by part looks as it always did: its refs say what became of them.
    cited = summary(*counted) if any(ref.spellings for _, ref in pack.refs) else ""
    legend = layout.legend_of(pack, now, scopes, layout.counted(states.values()), cited)

    room = max(LEAST_ROOM, room_of(max_tokens))
    review = ""
    if doubts and cited and mode is not Mode.DIFF and (position or Position()) == Position():
        review = layout.review_of(doubts, headline(*counted), int(room * REVIEW_SHARE)) + GAP
    page = _Pages(pack, states, mode, room, items, review).page(legend, position or Position())
    return (
        page
        if items or mode is not Mode.DIFF
        else evolve(page, text=f"{page.text}\n{layout.NOTHING_CHANGED}")
    )


@define
class _Pages:
    """The items of one pack, and what became of its refs."""

    pack: Pack
    states: layout.States
    mode: Mode
    budget: int
    items: list[Item]
    review: str = ""
    """What stands above the content of the first page."""
    reserve: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        # Room for the line that leads on, twice, whatever numbers it will hold.
        longest = _trailer(len(self.items), self._cursor(Position(len(self.items), FAR)))
        self.reserve = 2 * (len(GAP) + size(longest))

    def page(self, legend: list[Line], position: Position) -> Rendered:
        """The page that begins at a position."""
        if position.item > len(self.items):
            raise invalid("'cursor' leads past the end; render the pack without it", "cursor")
        most = int(self.budget * LEGEND_SHARE)
        page = self._filled(legend, position)
        if size(joined(legend)) <= most or (page.cursor is None and size(page.text) <= self.budget):
            return page
        return self._filled(shrunk(legend, most), position)

    def _filled(self, legend: list[Line], position: Position) -> Rendered:
        """Whole items as far as they fit after this legend; a piece of one that is larger than a page."""
        top = f"{joined(legend)}{GAP}{layout.CONTENT}\n{self.review}"
        room, used = self.budget - size(top), 0
        shown: list[str] = []
        kept = 0
        for index in range(position.item, len(self.items)):
            shown.append(self._whole(index, position))
            used += size(shown[-1]) + (len(GAP) if index > position.item else 0)
            if used > room:
                break
            # What leaves no room for the last line stays only if nothing follows it.
            kept = len(shown) if used <= room - self.reserve else kept
        else:
            return Rendered((top + GAP.join(shown)).removesuffix("\n"))
        text = top + "".join(whole_item + GAP for whole_item in shown[:kept])
        left = self.budget - self.reserve - size(text)
        if not kept or left > self.budget * CUT_SHARE:
            cut = self._cut(text, position.item + kept, position, left, must=not kept)
            if cut is not None:
                return cut
        return self._ended(text.removesuffix(GAP), Position(position.item + kept))

    def _whole(self, index: int, position: Position) -> str:
        """An item to its end."""
        block, line = self._block(index, position)
        return block.text(None if block.body is None else part(block.body, line))

    def _cut(self, text: str, index: int, position: Position, room: int, must: bool) -> Rendered | None:
        """A page that ends with a part of an item; None if that can wait for the next page, and should."""
        block, line = self._block(index, position)
        body = block.body
        if body is None:
            head = block.shrunk(room - len(GAP) * len(block.notes)).text(None)
            return self._ended(text + head, Position(index + 1)) if must else None
        block = block.shrunk(int(self.budget * HEAD_SHARE))
        room -= size(block.text(None)) + NOTE_BYTES + 2 * len(GAP)
        if room < LEAST_BODY and not must:
            return None
        shown = part(body, line, room)
        after = Position(index + 1) if shown.next is None else Position(index, shown.next)
        return self._ended(text + block.text(shown), after)

    def _block(self, index: int, position: Position) -> tuple[ItemBlock, int]:
        """An item of a page that begins at `position`, and the line from which its body is shown."""
        item, opening = self.items[index], index == position.item
        line = position.line if opening else 0
        return layout.block_of(item, line, opening, self.states.get(id(item.part)), self.mode), line

    def _ended(self, text: str, after: Position) -> Rendered:
        """A page that is not the last, with the line that leads on."""
        if after.item == len(self.items):
            return Rendered(text)
        left = sum(item.is_ref for item in self.items[after.item :])
        cursor = self._cursor(after)
        line = _trailer(left, cursor)
        # Before the content, too: some clients cut the end of a long answer off.
        top = text.replace(f"{GAP}{layout.CONTENT}\n", f"{GAP}{line}{GAP}{layout.CONTENT}\n", 1)
        return Rendered(f"{top}{GAP}{line}", cursor)

    def _cursor(self, position: Position) -> str:
        return Bookmark(self.pack.id, self.pack.revision, self.mode, position).encode()


def _trailer(left: int, cursor: str) -> str:
    return f'> truncated: {left} refs left; continue with output {{"cursor": "{cursor}"}}'
