"""A pack as Markdown pages: a pure function of the pack, what became of its refs, the time and a budget.

A pack that fits comes whole. Else every page begins with the legend and goes on where the last one ended:
items in reading order come whole where they fit, and one that is larger than a page is cut between its lines
and says which it shows. Then a field of more than a `MOST_OF_PAGE`th of the page ends in `…`, so that heads
leave room for code.

Nothing can be forged: fields are single lines, code lines begin with their number, fences are longer than any
run of backticks inside, and prose goes through `kernel.markdown`. A block of prose (a paragraph, a list) that
is larger than a page is shown as its source. A cursor carries the pack's revision: pages of two packs, or of
two revisions of one, never mix.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from itertools import pairwise

from attrs import evolve, frozen

from context_pack.kernel.errors import invalid
from context_pack.kernel.markdown import block_parser, escape_structure
from context_pack.kernel.paging import decode_cursor, encode_cursor
from context_pack.kernel.text import fence_for
from context_pack.kernel.times import format_instant, human, remaining_seconds
from context_pack.packs.claims import (
    Doubt,
    NamedPlace,
    Resolve,
    claims_of,
    doubts_of,
    name_now,
    summary,
    with_places,
)
from context_pack.packs.handover import ended
from context_pack.packs.model import Pack, Ref, Section
from context_pack.packs.states import Resolution, State, fence_language
from context_pack.toolkit.budget import cut_text, room_of, size
from context_pack.toolkit.limits import DEFAULT_MAX_TOKENS

CURSOR_KIND = "pack"
GAP, NEWLINE = "\n\n", "\n"
LEGEND, CONTENT = "[LEGEND]", "[CONTENT]"
CONTINUED = " (continued)"
READ_AGAIN = "> to be read again:"
WHAT_CHANGED = "> what changed:"
WHAT_IT_WAS = "> what it was when it was anchored, and is nowhere now:"
NOTHING_CHANGED = "> nothing has changed since it was anchored"
LEAST_ROOM = 2_000
"""Bytes of the smallest page: beside legend and heads there must be room for code."""
MOST_OF_PAGE = 20
REVIEW_SHARE = 0.2
"""How much of a page lists what must be read again."""
LISTED_LINES = 32
"""So many lines of a diff are shown where there may be dozens of diffs."""
LEAST_WIDTH = 4
NOTE_BYTES = 60
FAR = 10**9


class Mode(StrEnum):
    """How much of a pack is shown."""

    FULL = "full"
    COMPACT = "compact"
    DIFF = "diff"


@frozen
class Rendered:
    """One page; `cursor` leads to the next, None on the last."""

    text: str
    cursor: str | None = None


@frozen
class Bookmark:
    """What a cursor carries: the pack, its revision, the mode, and the item and line to go on with."""

    pack_id: str
    revision: int
    mode: Mode
    item: int = 0
    line: int = 0

    def encode(self) -> str:
        """The cursor."""
        payload = {"id": self.pack_id, "revision": self.revision, "mode": self.mode.value}
        return encode_cursor(CURSOR_KIND, {**payload, "at": [self.item, self.line]})

    @classmethod
    def decode(cls, cursor: str) -> Bookmark:
        """The bookmark of a cursor.

        Raises:
            Failure: `invalid_data`, field `cursor`.
        """
        match decode_cursor(CURSOR_KIND, cursor):
            case {"id": str(key), "revision": int(revision), "mode": mode, "at": [int(item), int(line)]}:
                if mode in set(Mode) and item >= 0 and line >= 0:
                    return cls(key, revision, Mode(mode), item, line)
        raise invalid("'cursor' does not lead anywhere; render the pack without it", "cursor")

    def check(self, pack: Pack) -> None:
        """Return only if the cursor belongs to this pack as it now is.

        Raises:
            Failure: `invalid_data` for another pack, `revision_conflict` for a changed one.
        """
        if self.pack_id != pack.id:
            raise invalid("'cursor' belongs to another pack; render this one without it", "cursor")
        pack.check_revision(self.revision)


@frozen
class Body:
    """The long part of an item: code with the number of its first line, a diff, or (no language) prose."""

    lines: Sequence[str]
    language: str | None = None
    first: int | None = None

    @property
    def shown(self) -> Sequence[str]:
        """Its lines, those of code with their numbers."""
        if self.first is None:
            return self.lines
        width = max(LEAST_WIDTH, len(str(self.first + len(self.lines) - 1)))
        return [f"{number:>{width}}: {line}" for number, line in enumerate(self.lines, self.first)]

    def fenced(self, lines: Sequence[str]) -> str:
        """Lines in a fence that nothing in the body closes."""
        fence = fence_for(NEWLINE.join(self.lines))
        language = "markdown" if self.language is None else self.language
        return NEWLINE.join([f"{fence}{language}", *lines, fence])

    @property
    def text(self) -> str:
        """All of it as Markdown."""
        return NEWLINE.join(self.lines) if self.language is None else self.fenced(self.shown)


@frozen
class Item:
    """One thing to show: a block of prose, a ref, what changed of one, or a diagram.

    `section` and `chapter` are the headings that it stands under, which a page that begins with it repeats;
    `again` is its head on a page that goes on with it.
    """

    head: Sequence[str]
    body: Body | None = None
    again: Sequence[str] = ()
    section: str = ""
    chapter: str = ""
    opens: bool = False
    """Whether it is the first of its chapter."""
    follows: bool = False
    """Whether it goes on with the item before it."""
    is_ref: bool = False

    def text(self, first: bool) -> str:
        """The item on a page, perhaps as the first of it."""
        lines = [f"{self.section}{CONTINUED}", ""] if first and self.section else []
        if self.chapter and (self.opens or first):
            lines.append(self.chapter if self.opens else f"{self.chapter}{CONTINUED}")
        head = NEWLINE.join([*lines, *(self.again if first and self.follows else self.head)])
        if self.body is None:
            return head
        gap = NEWLINE if self.body.language is None else GAP
        return f"{head}{gap}{self.body.text}" if head else self.body.text

    def pieces(self, room: int, line: int) -> Iterator[tuple[int, Item]]:
        """The item from a line of its body on, in pieces of at most a page, with the lines they begin at."""
        if self.body is None or (not line and size(self.text(first=True)) <= room):
            yield line, self
            return
        lines, count = self.body.shown, len(self.body.lines)
        number = self.body.first or 1
        while line < count:
            head = list(self.again if line else self.head)
            head += [""] if head else []
            piece = evolve(self, head=head, body=None, opens=self.opens and not line, follows=False)
            left = room - size(piece.text(first=True)) - size(self.body.fenced([])) - NOTE_BYTES
            end = line
            while end < count and (left := left - size(lines[end]) - 1) >= 0:
                end += 1
            part = lines[line:end] or [cut_text(lines[line], max(1, left + size(lines[line])))]
            end = max(end, line + 1)
            note = f"> showing lines {number + line}-{number + end - 1} of {number}-{number + count - 1}"
            yield line, evolve(piece, head=[*head, note, "", self.body.fenced(part)])
            line = end


def render(
    pack: Pack,
    resolve: Resolve,
    now: datetime,
    mode: Mode = Mode.FULL,
    max_tokens: int = DEFAULT_MAX_TOKENS,
    at: tuple[int, int] = (0, 0),
) -> Rendered:
    """One page of the pack from an item, and a line of it, on."""
    room = max(LEAST_ROOM, room_of(max_tokens))
    claims, bare = claims_of(pack)
    doubts = doubts_of(claims, resolve)
    # A pack that was built part by part looks as if there were no claims: its refs say what became of them.
    cited = summary(doubts, len(claims), bare) if any(ref.spellings for _, ref in pack.refs) else ""
    layout = _Layout(pack, resolve, mode, room, doubts, cited)
    if at == (0, 0):
        text = f"{layout.legend(now)}{GAP}{CONTENT}{NEWLINE}"
        text += GAP.join(item.text(first=False) for item in layout.items())
        if size(text) <= room:
            return Rendered(text.removesuffix(NEWLINE))
    layout = evolve(layout, most=room // MOST_OF_PAGE)
    return _page(layout, layout.legend(now), list(layout.items()), at)


def _page(layout: _Layout, legend: str, items: Sequence[Item], at: tuple[int, int]) -> Rendered:
    """The page that begins at a line of an item; the line that leads on stands before its content, too.

    Some clients cut the end of a long answer off.
    """
    if at[0] > len(items):
        raise invalid("'cursor' leads past the end; render the pack without it", "cursor")

    def leading_on(item: int, line: int) -> tuple[str, str]:
        cursor = Bookmark(layout.pack.id, layout.pack.revision, layout.mode, item, line).encode()
        refs = sum(each.is_ref for each in items[item:])
        left = f"{refs} refs" if refs else f"{len(items) - item} parts without refs"
        return f'{GAP}> truncated: {left} left; continue with output {{"cursor": "{cursor}"}}', cursor

    start = f"{GAP}{CONTENT}{NEWLINE}"
    room = layout.room - size(legend + start) - 2 * size(leading_on(len(items), FAR)[0])
    shown: list[str] = []
    used = 0
    for index in range(at[0], len(items)):
        for line, piece in items[index].pieces(room, at[1] if index == at[0] else 0):
            text = piece.text(first=not shown)
            used += size(text) + len(GAP)
            if shown and used > room + len(GAP):
                rest, cursor = leading_on(index, line)
                return Rendered(f"{legend}{rest}{start}{GAP.join(shown)}{rest}", cursor)
            shown.append(text)
    return Rendered(f"{legend}{start}{GAP.join(shown)}".removesuffix(NEWLINE))


@frozen
class _Layout:
    """What a pack shows, in reading order; a field has at most `most` bytes."""

    pack: Pack
    resolve: Resolve
    mode: Mode
    room: int
    doubts: Sequence[Doubt]
    cited: str
    """How many claims there are, where prose names code."""
    most: int = FAR

    def _cut(self, text: str) -> str:
        return cut_text(text, self.most)

    def legend(self, now: datetime) -> str:
        """The pack's title, name, status and what may be out of date; absent values are left out."""
        pack = self.pack
        fields = {
            "id": pack.id,
            "name": pack.name,
            "from worktree": pack.worktree,
            "status": pack.status.value,
            "revision": str(pack.revision),
            "expires_at": format_instant(pack.expires_at, whole_seconds=True),
            "ttl_remaining": human(remaining_seconds(pack.expires_at, now)),
            "tags": ", ".join(pack.tags),
            "brief": pack.brief,
            "refs": _counted(self.resolve(ref) for _, ref in pack.refs),
            "claims": self.cited,
        }
        lines = [f"- {name}: {self._cut(value)}" for name, value in fields.items() if value]
        return NEWLINE.join([LEGEND, f"# Context pack: {ended(self._cut(pack.heading))}", *lines])

    def items(self) -> Iterator[Item]:
        """Everything there is to show: what must be read again, then section by section."""
        if self.mode is Mode.DIFF:
            yield from self._changed() if self.doubts else [Item([NOTHING_CHANGED])]
            return
        if self.doubts and self.cited:
            yield Item([self._review()])
        for section in with_lines_of_today(self.pack, self.resolve).sections:
            yield from self._section(section)

    def _section(self, section: Section) -> Iterator[Item]:
        """Its text, loose refs, groups by name, diagrams."""
        title = f"## {self._cut(section.title)} [{section.key}]"
        text = escape_structure(section.description or "")
        blocks = [text] if self.most == FAR else list(_blocks(text))
        for number, block in enumerate(blocks):
            body = Body(block.split(NEWLINE)) if block else None
            if number:
                yield Item([], body, section=title)
            else:
                yield Item([title], body, [f"{title}{CONTINUED}"])
        groups: dict[str, list[Ref]] = {}
        for ref in section.refs:
            groups.setdefault(ref.group or "", []).append(ref)
        for name in sorted(groups):
            chapter = f"### group: {ended(self._cut(name))}" if name else ""
            for index, ref in enumerate(groups[name]):
                resolution = self.resolve(ref)
                item, place = self._ref(section, ref, resolution), resolution.found
                if self.mode is Mode.FULL and resolution.excerpt is not None and place is not None:
                    lines = resolution.excerpt.split(NEWLINE)
                    item = evolve(item, body=Body(lines, fence_language(place.path), place.lines.start))
                yield evolve(item, section=title, chapter=chapter, opens=index == 0)
                if self.mode is Mode.FULL and resolution.difference is not None:
                    head = [f"#### {ref.key} [{section.key}]{CONTINUED}", WHAT_CHANGED]
                    body = Body(resolution.difference.diff, "diff")
                    yield Item([WHAT_CHANGED], body, head, title, chapter, follows=True)
        for index, diagram in enumerate(section.diagrams):
            name = f"#### {self._cut(diagram.title)} [{diagram.key}]"
            why = [] if diagram.why is None else [f"- why: {self._cut(diagram.why)}"]
            body = Body(diagram.mermaid.split(NEWLINE), "mermaid")
            head, again = [name, *why], [f"{name}{CONTINUED}"]
            yield Item(head, body, again, title, "### Diagrams", opens=index == 0)

    def _ref(self, section: Section, ref: Ref, resolution: Resolution) -> Item:
        """A ref and what is said about its code; a page that goes on with it repeats where that is."""
        path, lines, now = ref.path.value, str(ref.lines), resolution.found
        if now is not None and now.path != ref.path:
            path = f"{now.path} (moved from {path})"
        if now is not None and now.lines != ref.lines:
            lines = f"{now.lines} (moved from {lines})"
        name = f"#### {ref.key} [{section.key}]"
        title = [] if ref.title is None else [f"**{self._cut(ref.title)}**"]
        why = [] if ref.why is None else [f"- why: {self._cut(ref.why)}"]
        place = [f"- path: {self._cut(path)}", f"- lines: {lines}"]
        notes: list[str] = []
        if resolution.state is State.CHANGED:
            notes = ["", f"> {self._cut(resolution.change)}"]
        elif now is None:
            word = "unknown" if resolution.state is State.UNKNOWN else "stale"
            notes = ["", f"> {word} ref: {self._cut(resolution.reason or 'the code was not found')}"]
        again = [f"{name}{CONTINUED}", *place]
        return Item([name, *title, *place, *why, *notes], None, again, is_ref=True)

    def _changed(self) -> Iterator[Item]:
        """The refs of doubtful claims, the most doubtful first, each with all that is said about it."""
        sections = {id(ref): section for section, ref in self.pack.refs}
        refs: dict[int, tuple[Ref, list[str]]] = {}
        for doubt in self.doubts:
            for ref, _ in doubt.refs:
                _, sentences = refs.setdefault(id(ref), (ref, []))
                if doubt.claim.is_prose:
                    sentence = f"{doubt.claim.sentence} [{doubt.claim.section.key}]"
                    sentences.append(f"- {escape_structure(sentence)}")
        for key, (ref, sentences) in refs.items():
            section, resolution = sections[key], self.resolve(ref)
            item = self._ref(section, ref, resolution)
            head, body = [*sentences, *([""] if sentences else []), *item.head], None
            if resolution.difference is not None:
                body = Body(_beginning(resolution.difference.diff), "diff")
            elif resolution.former is not None:
                head += ["", WHAT_IT_WAS]
                body = Body(resolution.former.split(NEWLINE), fence_language(ref.path), ref.lines.start)
            yield evolve(item, head=head, body=body)

    def _review(self) -> str:
        """The list of what must be read again: sentences with what became of the code."""
        lines: list[str] = []
        most = int(self.room * REVIEW_SHARE)
        for doubt in self.doubts:
            line = f"- {doubt.claim.sentence} [{doubt.claim.section.key}]: {doubt.change}"
            most -= size(line)
            if most < 0:
                lines.append(f"- and {len(self.doubts) - len(lines)} more: the mode diff has them all")
                break
            lines.append(line)
        return f"{READ_AGAIN}{GAP}{escape_structure(NEWLINE.join(lines))}"


def _blocks(text: str) -> Iterator[str]:
    """The blocks of a Markdown text, each with the lines up to the next one; an empty text is one."""
    tokens = block_parser().parse(text.replace("\r", " "))  # which the parser takes for the end of a line
    starts = {0, *(token.map[0] for token in tokens if token.level == 0 and token.map is not None)}
    lines = text.split(NEWLINE)
    for low, high in pairwise([*sorted(starts), len(lines)]):
        yield NEWLINE.join(lines[low:high]).strip(NEWLINE)


def _beginning(diff: Sequence[str]) -> Sequence[str]:
    """A diff in a list of many: its first lines."""
    left = len(diff) - LISTED_LINES
    return [*diff[:LISTED_LINES], *([f"… {left} more lines of this diff"] if left > 0 else [])]


def _counted(resolutions: Iterable[Resolution]) -> str:
    """How many refs there are, and how many in each state; empty while all are exact."""
    counts = Counter(resolution.state for resolution in resolutions)
    if counts.total() == counts[State.EXACT]:
        return ""
    each = ", ".join(f"{counts[state]} {state.value}" for state in State if counts[state])
    return f"{counts.total()} ({each})"


def with_lines_of_today(pack: Pack, resolve: Resolve) -> Pack:
    """The pack with where the code stands now behind each place that its prose names."""
    named = {spelling: ref for _, ref in pack.refs for spelling in ref.spellings}
    if not named:
        return pack

    def today(place: NamedPlace) -> str | None:
        ref = named.get(place.spelling)
        if ref is None:
            return None
        now = resolve(ref).found
        if now is None:
            return "gone"
        if (place.path, place.start, place.end) == (now.path.value, now.lines.start, now.lines.end):
            return None
        lines = str(now.lines) if place.spelling.startswith(f"{now.path}#") else f"{now.path}:{now.lines}"
        name = name_now(place, ref)
        return lines if name is None else f"now {name}, {lines}"

    sections = [
        evolve(section, description=section.description and with_places(section.description, today))
        for section in pack.sections
    ]
    return evolve(pack, sections=sections)
