"""Finds the lines of one text that match, with `regex`, never for long with the interpreter's lock held.

The text has every line ended by one line feed. A pattern that begins with a plain text is searched in the
whole text at once. One that merely needs a literal somewhere is tried only on the lines that hold it. A
pattern that cannot take long is not watched, because that costs more than the search. A search that does
take long goes on with the lock released, so that the server stays responsive; `regex` counts processor
time, so the wall clock is asked again whenever it gives up.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import regex

from context_pack.code.domain.search_literals import Literal
from context_pack.code.domain.search_pattern import Pattern
from context_pack.code.domain.search_walk import Cost
from context_pack_adapters.search.deadline import Deadline, TimedOut

HELD_SECONDS = 0.02
HELD_CHARS = 64 * 1024
_REST_OF_LINE = r"[^\n]*\n"


class Spot(NamedTuple):
    """Where a matching line is: its number from 0, and the match's start in it from 0."""

    line: int
    start: int


class Matches(NamedTuple):
    """How many lines of a text match, and where the first of them are."""

    total: int
    spots: list[Spot]


NONE = Matches(0, [])


class Matcher:
    """A pattern at work in one search; not shared between threads."""

    def __init__(self, pattern: Pattern, deadline: Deadline) -> None:
        self._deadline = deadline
        self._slow = False
        source = pattern.regex
        self._whole = _compiled(f"(?:{source.text}){_REST_OF_LINE}", source.fold)
        self._plain = _compiled(source.text, source.fold)
        self._choices = bool(pattern.choices)
        literals = pattern.choices or pattern.needs
        direct = not literals or literals == (pattern.lead,)
        self._scanners = [] if direct else [_scanner(literal) for literal in literals]
        self._cost = pattern.cost

    def in_text(self, text: str, want: int, has_long_lines: bool) -> Matches:
        """The lines that match; where they are, for the first `want`.

        Raises:
            TimedOut: the search has taken too long.
        """
        if self._is_quick(text, has_long_lines):
            return self._search(text, want)
        if not self._slow and len(text) <= HELD_CHARS:
            try:
                return self._search(text, want, timeout=HELD_SECONDS, concurrent=False)
            except TimeoutError:
                self._slow = True
        while True:
            try:
                return self._search(text, want, timeout=self._deadline.left(), concurrent=True)
            except TimeoutError:
                continue  # processor time: on a busy machine the clock may still have some left
            except MemoryError:
                raise TimedOut from None

    def _is_quick(self, text: str, has_long_lines: bool) -> bool:
        """Whether the search cannot take long, so that it need not be watched."""
        if self._cost is Cost.SQUARE:
            return not has_long_lines and len(text) <= HELD_CHARS
        return self._cost is Cost.LINEAR

    def _search(self, text: str, want: int, **limits: Any) -> Matches:
        if not self._scanners:
            return self._direct(text, want, limits)
        found = self._candidates(text)
        if not found:
            return NONE
        return _located(text, found if self._choices else self._confirmed(text, found, limits), want)

    def _direct(self, text: str, want: int, limits: dict[str, Any]) -> Matches:
        """Search the whole text at once; past the wanted lines, only count."""
        if not want:
            return Matches(len(self._whole.findall(text, **limits)), [])
        starts: list[int] = []
        for match in self._whole.finditer(text, **limits):
            starts.append(match.start())
            if len(starts) == want:
                rest = len(self._whole.findall(text, match.end(), **limits))
                return Matches(want + rest, _spots(text, starts))
        return Matches(len(starts), _spots(text, starts)) if starts else NONE

    def _candidates(self, text: str) -> list[tuple[int, int]]:
        """The first literal of each line that holds one, and the ends of those lines, in order."""
        if len(self._scanners) == 1:
            return [match.span() for match in self._scanners[0].finditer(text)]
        by_end: dict[int, int] = {}
        for scanner in self._scanners:
            for match in scanner.finditer(text):
                start, end = match.span()
                by_end[end] = min(start, by_end.get(end, start))
        return sorted((start, end) for end, start in by_end.items())

    def _confirmed(
        self, text: str, found: list[tuple[int, int]], limits: dict[str, Any]
    ) -> Iterator[tuple[int, int]]:
        """The lines that match as a whole, each with the start of its match."""
        search = self._plain.search
        for count, (start, end) in enumerate(found):
            if not count % 1000:
                self._deadline.left()
            match = search(text, text.rfind("\n", 0, start) + 1, end - 1, **limits)
            if match is not None:
                yield match.start(), end


def _located(text: str, found: Any, want: int) -> Matches:
    starts = [start for start, _ in found]
    return Matches(len(starts), _spots(text, starts[:want]))


def _spots(text: str, starts: list[int]) -> list[Spot]:
    """Line and place of positions that are in order."""
    spots: list[Spot] = []
    line = at = 0
    for start in starts:
        begin = text.rfind("\n", 0, start) + 1
        line += text.count("\n", at, begin)
        at = begin
        spots.append(Spot(line, start - begin))
    return spots


@lru_cache(maxsize=64)
def _compiled(source: str, fold: bool) -> Any:
    return regex.compile(source, regex.V0 | regex.MULTILINE | (regex.IGNORECASE if fold else 0))


def _scanner(literal: Literal) -> Any:
    return _compiled(regex.escape(literal.text, special_only=False) + _REST_OF_LINE, literal.fold)
