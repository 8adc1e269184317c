"""A pack as Markdown pages: one pure function over the pack, its resolved refs, the time and a budget.

Every page carries the legend, is never larger than its budget, and gets further than the last; together the
pages show everything once. Items come whole while they fit. An item that does not even fit a page of its own
is cut, and says which lines it shows. A pack that fits is laid out exactly as the contract shows it.
"""

from __future__ import annotations

from datetime import datetime

from attrs import frozen

from context_pack.kernel.errors import invalid
from context_pack.packs import layout
from context_pack.packs.claims import Resolve, claims_of, doubts_of, headline, summary
from context_pack.packs.layout import Item
from context_pack.packs.model import NOTHING_KNOWN, Pack, Scopes
from context_pack.packs.pages import GAP, Bookmark, Line, Mode, Position, Style, joined, part, shrunk
from context_pack.packs.pages import Rendered as Rendered
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
    position = position or Position()
    claims, bare = claims_of(pack)
    doubts = doubts_of(claims, resolve)
    if mode is Mode.DIFF:
        items = list(layout.changed_items(resolve, doubts))
    else:
        items = list(layout.items_of(layout.with_lines_of_today(pack, resolve), resolve, mode))
    counted = doubts, len(claims), bare
    # A pack that was built part by part looks as it always did: its refs say what became of them.
    cited = summary(*counted) if any(ref.spellings for _, ref in pack.refs) else ""
    refs = layout.counted(resolve(ref) for _, ref in pack.refs)
    legend = layout.legend_of(pack, now, scopes, refs, cited)
    room = max(LEAST_ROOM, room_of(max_tokens))
    above = ""
    if mode is Mode.DIFF and not items:
        above = layout.NOTHING_CHANGED
    elif doubts and cited and mode is not Mode.DIFF and position == Position():
        above = layout.review_of(doubts, headline(*counted), int(room * REVIEW_SHARE)) + GAP
    return _Pages(pack, mode, room, items).page(legend, above, position)


@frozen
class _Pages:
    """The items of one pack, and the bytes of a page."""

    pack: Pack
    mode: Mode
    room: int
    items: list[Item]

    def page(self, legend: list[Line], above: str, start: Position) -> Rendered:
        """The page that begins at a position, with what stands above its content."""
        if start.item > len(self.items):
            raise invalid("'cursor' leads past the end; render the pack without it", "cursor")
        most = int(self.room * LEGEND_SHARE)
        page = self._filled(legend, above, start)
        if size(joined(legend)) <= most or (page.cursor is None and size(page.text) <= self.room):
            return page
        return self._filled(shrunk(legend, most), above, start)

    def _filled(self, legend: list[Line], above: str, start: Position) -> Rendered:
        """Whole items as far as they fit after this legend; a piece of one that is larger than a page."""
        top = f"{joined(legend)}{GAP}{layout.CONTENT}\n{above}"
        shown: list[str] = []
        used = size(top)
        for index in range(start.item, len(self.items)):
            shown.append(self._shown(index, start)[0])
            used += size(shown[-1]) + len(GAP)
            if used > self.room + len(GAP):
                break
        else:
            return Rendered((top + GAP.join(shown)).removesuffix("\n"))
        # Not everything fits: the line that leads on needs room, twice, whatever numbers it will hold.
        reserve = 2 * (len(GAP) + size(self._trailer(Position(len(self.items), FAR))))
        while shown and used > self.room - reserve:
            used -= size(shown.pop()) + len(GAP)
        index, left = start.item + len(shown), self.room - reserve - used
        after = Position(index)
        if not shown or left > self.room * CUT_SHARE:
            text, after = self._shown(index, start, left, must=not shown)
            shown += [text] if text else []
        # Before the content, too: some clients cut the end of a long answer off.
        line = "" if after.item == len(self.items) else GAP + self._trailer(after)
        top = f"{joined(legend)}{line}{GAP}{layout.CONTENT}\n{above}"
        cursor = self._cursor(after) if line else None
        return Rendered(top + GAP.join(shown) + line, cursor)

    def _shown(
        self, index: int, start: Position, room: int | None = None, must: bool = True
    ) -> tuple[str, Position]:
        """An item of a page that begins at `start`, as far as it fits, and what comes after that.

        Nothing is shown of one that can wait for the next page, and should.
        """
        item, opening = self.items[index], index == start.item
        line = start.line if opening else 0
        lines = [*item.heads(opening, line > 0), *item.notes]
        body = None if item.body is None or line >= len(item.body.lines) else item.body
        if room is not None:
            if body is None and not must:
                return "", Position(index)
            gaps = len(GAP) * (1 + len(item.notes))
            lines = shrunk(lines, room - gaps if body is None else int(self.room * HEAD_SHARE))
            room -= size(joined(lines)) + gaps + NOTE_BYTES
            if room < LEAST_BODY and not must:
                return "", Position(index)
        count = len(lines) - len(item.notes)
        texts = [joined(lines[:count]), *map(str, lines[count:])]
        if body is None:
            return GAP.join(texts), Position(index + 1)
        found = part(body, line, room)
        after = Position(index + 1) if found.next is None else Position(index, found.next)
        if body.style is Style.PROSE:  # it stands right under its heading
            return f"{texts[0]}\n{found.text}", after
        return GAP.join([*texts, *filter(None, [found.note]), found.text]), after

    def _trailer(self, after: Position) -> str:
        left = sum(item.is_ref for item in self.items[after.item :])
        cursor = self._cursor(after)
        return f'> truncated: {left} refs left; continue with output {{"cursor": "{cursor}"}}'

    def _cursor(self, position: Position) -> str:
        return Bookmark(self.pack.id, self.pack.revision, self.mode, position).encode()
