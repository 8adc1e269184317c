"""Passages of a document: what is embedded, ranked and shown.

A section that fits is one passage; a heading with nothing of its own below it goes with what follows. A
longer section is cut where it hurts least: between blocks, then between list items, lines or sentences, last
inside a fence or a table; what follows a cut begins with the last sentences before it. A passage is always
one stretch of the document's own characters.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import NamedTuple

from context_pack.kernel.text import split_lines
from context_pack.retrieval.cutting import BLOCK, CODE, FENCE, ITEM, LINE, NESTED, Cut, cut
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

CHUNKER = "sections-400-80/3"
"""Another value, other passages: an index made with another one is made anew."""
MOST_TITLE = 1000
MOST_HEADING = 1000
"""How much of a heading goes with its passages: all lines above a rule of dashes are one, however many."""
MOST_PATH = 6 * MOST_HEADING
"""How much of all headings above a passage: Markdown has six levels, other formats as many as they like."""


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
            yield _Section(first, end, _path(open_headings))


def _path(open_headings: list[Heading]) -> list[str]:
    """The headings above a passage, the outermost first; where they are too much, the outermost go."""
    path = [held.text[:MOST_HEADING] for held in open_headings if held.text]
    while sum(map(len, path)) > MOST_PATH:
        del path[0]
    return path


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
        if block.kind in ("fence", "code"):
            inside = FENCE if block.kind == "fence" else CODE
            costs[block.start : block.end + 1] = [inside] * (block.end + 1 - block.start)
        elif (rule := _table_rule(found.lines, block.start, block.end)) is not None:
            costs[rule : block.end + 1] = [FENCE] * (block.end + 1 - rule)
        costs[block.start] = BLOCK if not block.depth else ITEM if block.item else NESTED
    return costs


def _table_rule(lines: list[str], start: int, end: int) -> int | None:
    """The line of dashes below a table's head, among the lines of a block; None where there is no table."""
    for line in range(start + 1, end + 1):
        rule = "|" in lines[line] and "-" in lines[line] and not lines[line].strip("|:- \t\r")
        if rule and "|" in lines[line - 1]:
            return line
    return None


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
