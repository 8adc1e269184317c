"""A search pattern: Python's `regex` for each line by itself.

Three things keep a search of many lines quick. A plain text is looked for without `regex`. Of any other
pattern the longest word that every match must have is looked for first, and only lines with it are tried. And
watching the clock costs more than most searches, so a pattern that cannot take long on a short line is not
watched there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import regex

from context_pack.code.search import INVALID_PATTERN, FoundLines, LineHit, OutOfTime, hit_in
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.patterns import check_pattern_size

SLICE_SECONDS = 0.25
"""How long one line is tried before somebody asks whether that is still wanted; then twice as long."""
SHORT_LINE = 200
_PLAIN = re.compile(r"(?:[\w :;,=<>@%!\"'`/~&#-]|\\[^\w\s])+", re.ASCII)
_BRACE = re.compile(r"(\\[pPN]\{[^}]*\}|\\.)|\{(?!\d*,?\d*\})", re.DOTALL)
"""A `{` that counts nothing; `regex` would take `{e}` for fuzzy matching."""
_SET = r"\[\^?\]?(?:\\.|\[:[^\]]*:\]|[^\]\\])*\]"
_MAY_BE_ABSENT = re.compile(r"\||\(\?|\(\*|\\[^\WbBdDwWsSAZ]|\)[?*{]")
"""Choices, groups that need not match, and escapes that spell characters: no word is surely needed then."""
_NO_WORD = re.compile(rf"(?:\\.|{_SET}|.)(?:[?*]|\{{[^}}]*\}})|\\.|{_SET}|\W", re.DOTALL)
_SLOW = re.compile(r"\)[*+?{]|\\[1-9gk]|\(\*|\(\?(?!:|<?[=!]|i\)|P?<\w)")
"""Repeated groups, references back and what is rare: with these a short line may take for ever."""
_RUN = re.compile(r"[*+]|,\}")
_CHOICE = re.compile(r"[?|]|,\d+\}")


Check = Callable[[], None]
"""Raises when a search is no longer wanted, or `OutOfTime`."""


class Pattern:
    """Finds the lines of a text that match."""

    def __init__(self, source: str, case_sensitive: bool) -> None:
        flags = regex.V0 | regex.MULTILINE | (0 if case_sensitive else regex.IGNORECASE)
        self.compiled: Any = regex.compile(source, flags)
        self.case_sensitive = case_sensitive
        self._is_plain = _PLAIN.fullmatch(source) is not None
        if self._is_plain:
            word = re.sub(r"\\(.)", r"\1", source)
        else:
            words = [] if _MAY_BE_ABSENT.search(source) else _NO_WORD.sub(" ", source).split()
            word = max(words, key=len, default="")
        self.word = word if case_sensitive else word.lower() if word.isascii() else ""
        """Every match has it, in whatever case unless case matters."""
        self._is_quick = (
            not _SLOW.search(source) and len(_RUN.findall(source)) < 3 and len(_CHOICE.findall(source)) < 8
        )

    def starts(self, text: str, check: Check) -> list[int]:
        """Where the first match of each matching line begins; every line ends with a line feed."""
        words: str | None = None
        if self.word and (self.case_sensitive or text.isascii()):
            words = text if self.case_sensitive else text.lower()
            if self._is_plain:
                return list(_places(words, self.word))
        lines = _lines(text) if words is None else _lines_with(self.word, words, text)
        found: list[int] = []
        search = self.compiled.search
        for count, (begin, line) in enumerate(lines, 1):
            if not count & 63:
                check()
            match = search(line) if self._is_quick and len(line) <= SHORT_LINE else self._watched(line, check)
            if match is not None:
                found.append(begin + match.start())
        return found

    def _watched(self, line: str, check: Check) -> Any:
        """The first match in a line; other threads run meanwhile."""
        seconds = SLICE_SECONDS
        while True:
            try:
                return self.compiled.search(line, timeout=seconds, concurrent=True)
            except TimeoutError:
                check()
                seconds *= 2


def compiled(text: str, case_sensitive: bool) -> Pattern:
    """The pattern that `text` spells.

    Raises:
        Failure: `invalid_data` with the pattern and the reason, if it means nothing.
    """
    source = _BRACE.sub(lambda brace: brace[1] or r"\{", text)
    try:
        check_pattern_size(source)
        return Pattern(source, case_sensitive)
    except Failure as failure:
        reason = failure.message
    except (regex.error, RecursionError, OverflowError, ValueError) as error:
        reason = str(error) or "too complex"
    raise Failure(Code.INVALID_DATA, INVALID_PATTERN, {"pattern": text, "details": reason})


def search_texts(
    pattern: Pattern, texts: Iterable[tuple[str, str | None]], count: int, limit: int, check: Check
) -> FoundLines:
    """Search so many files, given with their texts, or None for one that is no text.

    When the time is over, what was found until then is the answer.
    """
    hits: list[LineHit] = []
    total = files = seen = 0
    try:
        for path, text in texts:
            check()
            if text is not None:
                starts = pattern.starts(text, check)
                hits.extend(_hits(path, text, starts[: limit - len(hits)]))
                total += len(starts)
                files += 1
            seen += 1
    except OutOfTime:
        pass
    return FoundLines(tuple(hits), total, files, count - seen)


def _hits(path: str, text: str, starts: list[int]) -> Iterator[LineHit]:
    lines = text.split("\n")[:-1] if starts else []
    number = at = 0
    for start in starts:
        begin = text.rfind("\n", 0, start) + 1
        number, at = number + text.count("\n", at, begin), begin
        yield hit_in(path, lines, number, start - begin)


def _places(text: str, word: str) -> Iterator[int]:
    """Where a word first stands on each line that has it."""
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, text.find("\n", at) + 1)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    at = 0
    for line in text.split("\n")[:-1]:
        yield at, line
        at += len(line) + 1


def _lines_with(word: str, searched: str, text: str) -> Iterator[tuple[int, str]]:
    """The lines that have a word, which is looked for in `searched`: the text, or that in lower case."""
    for at in _places(searched, word):
        begin = text.rfind("\n", 0, at) + 1
        yield begin, text[begin : text.find("\n", at)]
