"""Passages of a document: what is embedded, ranked and shown.

A section that fits is one passage; a heading with nothing of its own below it goes with what follows. A
longer section is cut where it hurts least: between blocks, then between list items, lines or sentences, last
inside a fence or a table. A passage is always one stretch of the document's own characters. Sizes are tokens,
estimated as bytes / 4.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import NamedTuple

from context_pack.kernel.text import split_lines
from context_pack.retrieval.headings import (
    Heading,
    Structure,
    document,
    heading_list,
    headings,
    is_markdown,
    title_of,
)
from context_pack.retrieval.model import Piece

CHUNKER = "sections-400/5"
"""Another value, other passages: an index made with another one is made anew."""
MOST_TITLE = 1000
MOST_HEADING = 1000
"""How much of a heading goes with its passages: all lines above a rule of dashes are one, however many."""
MOST_LEVELS = 6
"""Of the headings above a passage: Markdown has six levels, other formats as many as they like."""
TARGET = 400
LIMIT = 560
"""What still counts as about 400 tokens: a section of this size stays whole."""

# What a cut costs, from between blocks to inside a word.
BLOCK, ITEM, NESTED, LINE, CODE, WORD, FENCE, ANYWHERE = range(8)

_LEAST = TARGET // 2
# The parts of a long line: up to the end of a sentence, else up to a blank, else of this many characters.
_PART_CHARACTERS = 300
_PART = re.compile(
    rf"(?P<sentence>.{{1,{_PART_CHARACTERS}}}(?:[.!?…][\"')\]*_]{{0,3}}[ \t]+|[。！？；]|\Z))"
    rf"|(?P<word>.{{1,{_PART_CHARACTERS}}}[ \t])|(?P<letters>.{{1,{_PART_CHARACTERS}}})",
    re.DOTALL,
)


class Chunked(NamedTuple):
    """The title of a document and its passages in order."""

    title: str
    pieces: tuple[Piece, ...]


def chunks(text: str, key: str, title: str | None = None) -> Chunked:
    """A document in passages, parsed once; a blank one has none. A title that is given wins over its own."""
    text = text.removeprefix("\ufeff")
    if is_markdown(key):
        found = document(text)
        marks, costs = heading_list(found), _block_costs(found)
    else:
        marks, costs = headings(text, key), _paragraph_costs(split_lines(text))
    shown = title_of(text, key, marks)[:MOST_TITLE] if title is None else title
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    pieces = (
        piece
        for section in _sections(marks, text, starts)
        for piece in _pieces(text, starts, costs, section, shown, key)
    )
    return Chunked(shown, tuple(pieces))


class _Section(NamedTuple):
    """Lines `start` to `end` (from 0, the end left out) below the headings of `path`."""

    start: int
    end: int
    path: list[str]


def _sections(marks: list[Heading], text: str, starts: list[int]) -> Iterator[_Section]:
    """The sections of a document, those without a body joined to what follows."""
    count = len(starts) - 1
    open_headings: list[Heading] = []
    begin: int | None = None
    bounds = [0, *(mark.line - 1 for mark in marks), count]
    for number, (start, end) in enumerate(pairwise(bounds)):
        if number:
            mark = marks[number - 1]
            open_headings = [held for held in open_headings if held.level < mark.level]
            open_headings.append(mark)
        first = start if begin is None else begin
        body = text[starts[start] : starts[end]]
        if _is_bare(body, bool(number)) and end < count:
            begin = first if body.strip() else None
            continue
        begin = None
        if first < end:
            path = [held.text[:MOST_HEADING] for held in open_headings if held.text]
            yield _Section(first, end, path[-MOST_LEVELS:])


def _is_bare(body: str, headed: bool) -> bool:
    """Whether a section has nothing but its heading; before the first one, at most two words (an anchor)."""
    lines = [line for line in body.split("\n", 12) if line.strip()]
    if not headed:
        return len(lines) <= 1 and len(body.split()) <= 2
    return len(lines) <= 1 or (len(lines) == 2 and not lines[1].strip("=- \t\r"))


def _pieces(
    text: str, starts: list[int], costs: list[int], section: _Section, title: str, key: str
) -> Iterator[Piece]:
    """The passages of one section."""
    path = section.path
    shown = path[1:] if path[:1] == [title] else path
    context = "\n".join(part for part in (title, " > ".join(shown)) if part)
    names = " ".join((*_names(title, key), *shown))
    lines = [
        Cut(starts[line], starts[line + 1], costs[line] if line < len(costs) else 0)
        for line in range(section.start, section.end)
    ]
    for begin, end in cut(text, lines):
        yield Piece(
            text=text[begin:end],
            start=bisect_right(starts, begin),
            end=bisect_right(starts, end - 1),
            heading=path[-1] if path else "",
            context=context,
            names=names,
            facts={"path": path},
        )


def _names(title: str, key: str) -> list[str]:
    """The words of a title and of a path, once each: a base name that stands for a title is in the path."""
    path, _, base = key.rpartition("/")
    stem = base.rpartition(".")[0] or base
    return [part for part in (title if title != base else "", path, stem) if part]


def _block_costs(found: Structure) -> list[int]:
    """What a cut before each line of a Markdown document costs."""
    costs = [LINE] * len(found.lines)
    for block in found.blocks:
        if block.kind in ("fence", "table", "code"):
            inside = CODE if block.kind == "code" else FENCE
            costs[block.start : block.end + 1] = [inside] * (block.end + 1 - block.start)
        costs[block.start] = BLOCK if not block.depth else ITEM if block.item else NESTED
    return costs


def _paragraph_costs(lines: list[str]) -> list[int]:
    """What a cut before each line of any other text costs: little behind a blank line."""
    costs: list[int] = []
    blank = True
    for line in lines:
        if not blank:
            costs.append(LINE)
        else:
            costs.append(NESTED if line[:1] in (" ", "\t") else BLOCK)
        blank = not line.strip()
    return costs


class Cut(NamedTuple):
    """A stretch of characters, and what a cut before it costs."""

    begin: int
    end: int
    cost: int


def size(text: str) -> float:
    """The estimated tokens of a text."""
    return len(text) / 4 if text.isascii() else len(text.encode("utf-8", "surrogatepass")) / 4


def cut(text: str, lines: list[Cut]) -> Iterator[tuple[int, int]]:
    """The stretches of a section, without blank lines around them; one when the section fits."""
    if not lines:
        return
    begin, end = lines[0].begin, min(lines[-1].end, len(text))
    whole = _trimmed(text, begin, end)
    if whole is None:
        return
    if size(text[whole[0] : whole[1]]) <= LIMIT:
        yield whole
        return
    yield from _stretches(text, [part for line in lines for part in _parts(text, line)])


def _stretches(text: str, parts: list[Cut]) -> Iterator[tuple[int, int]]:
    """The stretches of a section too long for one."""
    reach = [0.0]
    for part in parts:
        reach.append(reach[-1] + size(text[part.begin : part.end]))
    start = 0
    while start < len(parts):
        after = _next_cut(parts, reach, start)
        stretch = _trimmed(text, parts[start].begin, parts[after - 1].end)
        if stretch is not None:
            yield stretch
        start = after


def _next_cut(parts: list[Cut], reach: list[float], start: int) -> int:
    """Where the stretch from `start` ends: within the limit, at the cheapest place."""
    left = reach[-1] - reach[start]
    if left <= LIMIT:
        return len(parts)
    aim = min(TARGET, left / 2) if left < 2 * TARGET else TARGET
    best, best_rank = start + 1, (2, 0, 0.0)
    for at in range(start + 1, len(parts) + 1):
        length = reach[at] - reach[start]
        if length > LIMIT:
            break
        cost = parts[at].cost if at < len(parts) else BLOCK
        # Short stretches are better than a cut inside a sentence or a fence, and worse than any other.
        short = length < _LEAST and cost <= CODE
        rank = (int(short) if cost <= CODE else 1 + (cost > WORD), cost, abs(aim - length))
        if rank <= best_rank or at == start + 1:
            best, best_rank = at, rank
    return best


def _parts(text: str, line: Cut) -> Iterator[Cut]:
    """A line as it is, or in parts when it is long."""
    if line.end - line.begin <= _PART_CHARACTERS:
        yield line
        return
    costs = {"sentence": LINE, "word": WORD, "letters": ANYWHERE}
    if line.cost == FENCE:
        costs |= {"sentence": FENCE, "word": FENCE}
    cost = line.cost
    for part in _PART.finditer(text, line.begin, line.end):
        yield Cut(part.start(), part.end(), cost)
        cost = costs[str(part.lastgroup)]


def _trimmed(text: str, begin: int, end: int) -> tuple[int, int] | None:
    """The stretch without blank lines at its beginning and blanks at its end; None when nothing is left."""
    body = text[begin:end]
    end = begin + len(body.rstrip())
    lead = len(body) - len(body.lstrip())
    if begin + lead >= end:
        return None
    # The indentation of the first line stays: it may be code.
    return begin + text.rfind("\n", begin, begin + lead) - begin + 1 if "\n" in body[:lead] else begin, end
