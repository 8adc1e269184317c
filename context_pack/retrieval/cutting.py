"""Cuts a long section into overlapping stretches, at the places of least cost.

A section comes as lines, each with what a cut before it costs; lines longer than a passage may be are taken
apart at sentences, then at blanks, then anywhere. Sizes are tokens, estimated as bytes / 4.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

TARGET = 400
LIMIT = 560
"""What still counts as about 400 tokens: a section of this size stays whole."""
OVERLAP = 80

# What a cut costs, from between blocks to inside a word.
BLOCK, ITEM, NESTED, LINE, CODE, WORD, FENCE, ANYWHERE = range(8)

_LEAST = TARGET // 2
_SENTENCE = re.compile(r"[.!?…][\"')\]*_]{0,3}[ \t]+|[。！？；]")
_WORD = re.compile(r"[ \t]+")
# A line is looked at in parts of about an overlap, and a part without a blank in it is cut at this many
# characters.
_LONG_LINE = OVERLAP * 4
_UNBROKEN = 300


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
    """The overlapping stretches of a section too long for one."""
    reach = [0.0]
    for part in parts:
        reach.append(reach[-1] + size(text[part.begin : part.end]))
    start, done = 0, 0
    while done < len(parts):
        after = _next_cut(parts, reach, start, done)
        stretch = _trimmed(text, parts[start].begin, parts[after - 1].end)
        if stretch is not None:
            yield stretch
        start, done = _overlap(parts, reach, start, after), after


def _next_cut(parts: list[Cut], reach: list[float], start: int, done: int) -> int:
    """Where the stretch from `start` ends: behind `done`, within the limit, at the cheapest place."""
    left = reach[-1] - reach[start]
    if left <= LIMIT:
        return len(parts)
    aim = min(TARGET, left / 2) if left < 2 * TARGET else TARGET
    best, best_rank = done + 1, (2, 0, 0.0)
    for at in range(done + 1, len(parts) + 1):
        length = reach[at] - reach[start]
        if length > LIMIT:
            break
        cost = parts[at].cost if at < len(parts) else BLOCK
        # Short stretches are better than a cut inside a sentence or a fence, and worse than any other.
        short = length < _LEAST and cost <= CODE
        rank = (int(short) if cost <= CODE else 1 + (cost > WORD), cost, abs(aim - length))
        if rank <= best_rank or at == done + 1:
            best, best_rank = at, rank
    return best


def _overlap(parts: list[Cut], reach: list[float], start: int, after: int) -> int:
    """Where the next stretch begins: up to 80 tokens before the cut, never inside a fence."""
    best = after
    best_cost = CODE
    for at in range(after - 1, start, -1):
        if reach[after] - reach[at] > OVERLAP:
            break
        cost = parts[at].cost
        if cost in (FENCE, ANYWHERE):
            break
        if cost <= best_cost:
            best, best_cost = at, cost
    return best


def _parts(text: str, line: Cut) -> Iterator[Cut]:
    """A line as it is, or in parts when it is long."""
    if line.end - line.begin <= _LONG_LINE and size(text[line.begin : line.end]) <= OVERLAP:
        yield line
        return
    fenced = line.cost == FENCE
    begin, cost = line.begin, line.cost
    for end, next_cost in _breaks(text, line, fenced):
        yield Cut(begin, end, cost)
        begin, cost = end, next_cost
    if begin < line.end:
        yield Cut(begin, line.end, cost)


def _breaks(text: str, line: Cut, fenced: bool) -> Iterator[tuple[int, int]]:
    """The places where a long line may be cut, in order, each with its cost."""
    ends = {match.end() for match in _SENTENCE.finditer(text, line.begin, line.end)} if not fenced else set()
    last = line.begin
    for stop in (*sorted(ends), line.end):
        blanks = (
            [match.end() for match in _WORD.finditer(text, last, stop)] if stop - last > _UNBROKEN else []
        )
        for place in (*blanks, stop):
            while place - last > _UNBROKEN:
                last += _UNBROKEN
                yield last, ANYWHERE
            if place < stop and place - last > _UNBROKEN // 3:
                last = place
                yield place, FENCE if fenced else WORD
        if stop < line.end:
            last = stop
            yield stop, LINE


def _trimmed(text: str, begin: int, end: int) -> tuple[int, int] | None:
    """The stretch without blank lines at its beginning and blanks at its end; None when nothing is left."""
    body = text[begin:end]
    end = begin + len(body.rstrip())
    lead = len(body) - len(body.lstrip())
    if begin + lead >= end:
        return None
    # The indentation of the first line stays: it may be code.
    return begin + text.rfind("\n", begin, begin + lead) - begin + 1 if "\n" in body[:lead] else begin, end
