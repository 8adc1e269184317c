"""Finds the lines of texts that match, with `regex`, never for long with the interpreter's lock held.

The text has every line ended by one line feed. A pattern that begins with a plain text is searched in the
whole text at once. One that merely needs a literal somewhere is tried only on the lines that hold it. A
pattern that cannot take long is not watched, because that costs more than the search. A search that does
take long goes on with the lock released, so that the server stays responsive; `regex` counts processor
time, so the wall clock is asked again whenever it gives up.
"""

from __future__ import annotations

from typing import Any

import regex

from context_pack.code.domain.search import FoundLines, LineHit, hit_in
from context_pack.code.domain.search_pattern import LINEAR, SQUARE, Pattern
from context_pack_adapters.search.deadline import Deadline, TimedOut

HELD_SECONDS = 0.02
HELD_CHARS = 64 * 1024
LONG_LINE = 1000
_REST_OF_LINE = r"[^\n]*\n"


class Collector:
    """Collects the answer of one search, file by file in the order of the paths."""

    def __init__(self, pattern: Pattern, limit: int, deadline: Deadline) -> None:
        self._matcher = LineMatcher(pattern, deadline)
        self._limit = limit
        self._deadline = deadline
        self._hits: list[LineHit] = []
        self._total = self._files = 0

    @property
    def is_full(self) -> bool:
        """Whether no more hits are wanted, only their number."""
        return len(self._hits) >= self._limit

    def count(self, lines: int) -> None:
        """Add a file by its number of matching lines."""
        self._files += 1
        self._total += lines

    def search(self, path: str, text: str) -> None:
        """Search the text of one more file."""
        if not self._files & 63:
            self._deadline.left()
        found = self._matcher.in_text(text, places=not self.is_full)
        self.count(len(found))
        if not found or self.is_full:
            return
        lines = text.split("\n")[:-1]
        number = at = 0
        for start in found[: self._limit - len(self._hits)]:
            begin = text.rfind("\n", 0, start) + 1
            number, at = number + text.count("\n", at, begin), begin
            self._hits.append(hit_in(path, lines, number, start - begin))

    def found(self) -> FoundLines:
        """The collected answer."""
        return FoundLines(tuple(self._hits), self._total, self._files)


class LineMatcher:
    """A pattern at work in one search; not shared between threads."""

    def __init__(self, pattern: Pattern, deadline: Deadline) -> None:
        self._deadline = deadline
        self._cost, self._slow = pattern.cost, False
        self._whole = _compiled(f"(?:{pattern.source}){_REST_OF_LINE}", pattern.fold)
        self._part = _compiled(pattern.source, pattern.fold)
        escaped = [regex.escape(text, special_only=False) for text in pattern.needs]
        self._literals = [_compiled(text + _REST_OF_LINE, fold=True) for text in escaped]

    def in_text(self, text: str, places: bool = True) -> list[Any]:
        """Where the first match of each line starts, in order; without `places`, only as many items."""
        short = len(text) <= HELD_CHARS
        if self._cost == LINEAR or (self._cost == SQUARE and short and not _has_long_lines(text)):
            return self._search(text, places)
        if short and not self._slow:
            try:
                return self._search(text, places, timeout=HELD_SECONDS, concurrent=False)
            except TimeoutError:
                self._slow = True
        while True:
            try:
                return self._search(text, places, timeout=self._deadline.left(), concurrent=True)
            except TimeoutError:
                continue  # processor time: on a busy machine the clock may still have some left
            except MemoryError:
                raise TimedOut from None

    def _search(self, text: str, places: bool, **limits: Any) -> list[Any]:
        if not self._literals:
            if places:
                return [match.start() for match in self._whole.finditer(text, **limits)]
            found: list[Any] = self._whole.findall(text, **limits)
            return found
        starts: list[int] = []
        for count, (start, end) in enumerate(self._candidates(text)):
            if not count % 1000:
                self._deadline.left()
            match = self._part.search(text, text.rfind("\n", 0, start) + 1, end - 1, **limits)
            if match is not None:
                starts.append(match.start())
        return starts

    def _candidates(self, text: str) -> list[tuple[int, int]]:
        """The first literal of each line that holds one, and the ends of those lines, in order."""
        if len(self._literals) == 1:
            return [match.span() for match in self._literals[0].finditer(text)]
        by_end: dict[int, int] = {}
        for literal in self._literals:
            for match in literal.finditer(text):
                start, end = match.span()
                by_end[end] = min(start, by_end.get(end, start))
        return sorted((start, end) for end, start in by_end.items())


def _compiled(source: str, fold: bool) -> Any:
    return regex.compile(source, regex.V0 | regex.MULTILINE | (regex.IGNORECASE if fold else 0))


def _has_long_lines(text: str) -> bool:
    """True if a line has twice `LONG_LINE` characters, False if none has more than that many."""
    find = text.find
    return any(find("\n", at, at + LONG_LINE) < 0 for at in range(0, len(text) - LONG_LINE, LONG_LINE))
