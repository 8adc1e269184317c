"""A search pattern: Python's `regex` for each line by itself.

Two things keep a search of many lines quick. The words that every match must have are looked for first, and
only lines with them are tried. And watching the clock costs ten times a search, so a pattern that cannot take
long on a short line is not watched there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import regex

from context_pack.code.grep import FoundLines, LineHit, OutOfTime, hit_in
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.languages import language_of
from context_pack.kernel.patterns import check_pattern_size
from context_pack.kernel.ports import Reason

SLICE_SECONDS = 0.25
"""How long one line is tried before somebody asks whether that is still wanted; then twice as long."""
SHORT_LINES = (200, 200, 200, 100)
"""Which lines are short enough for a pattern with so many runs: its time grows with their power."""
_BRACE = re.compile(r"(\\[pPN]\{[^}]*\}|\\.)|\{(?!\d*,?\d*\})", re.DOTALL)
"""A `{` that counts nothing; `regex` would take `{e}` for fuzzy matching."""
_TOKEN = re.compile(
    r"(?:(?P<open>\((?:\?:|\?P?<\w+>)?(?![?*]))|(?P<look>\(\?<?[=!])|(?P<choice>\|)|(?P<close>\))"
    r"|\\(?P<sign>[^\w\s])|(?P<char>[^\\()\[\].^$|?*+])"
    r"|(?P<kind>\\(?:[bBdDwWsSAZ]|[1-9](?!\d))|[.^$]|\[\^?\]?(?:\\.|\[:[^\]]*:\]|[^\]\\])*\]))"
    r"(?P<often>[?*+]|\{\d*,?\d*\})?[?+]?",
    re.DOTALL,
)
_SLOW = re.compile(r"\)[*+?{]|\(\*|\(\?(?!:|<?[=!]|i\)|P?<\w)")
"""Repeated groups, and what is rare: with these a short line may take for ever."""
_RUN = re.compile(r"[*+]|,\}|\\[1-9gk]")
_CHOICE = re.compile(r"[?|]|,\d+\}")


def required_words(source: str) -> list[str]:
    """Texts that every match has, the longest first.

    What may be absent, is one of several choices or is spelled by an escape counts for nothing.
    """
    groups: list[list[str]] = [[""]]
    is_lost = [False]
    at = 0
    while at < len(source):
        token = _TOKEN.match(source, at)
        if token is None:
            return []
        at = token.end()
        may_be_absent = (token["often"] or "+")[:2] in ("?", "*", "{0", "{,")
        if token["open"] or token["look"]:
            groups.append([""])
            is_lost.append(token["look"] is not None)
        elif token["choice"]:
            is_lost[-1] = True
        elif token["close"] and len(groups) > 1:
            inside, lost = groups.pop(), is_lost.pop()
            groups[-1] += ["", *([] if lost or may_be_absent else inside), ""]
        elif (char := token["char"] or token["sign"]) and not may_be_absent:
            groups[-1][-1] += char
        if token["often"] or token["kind"]:
            groups[-1].append("")
    return [] if is_lost[0] else sorted(filter(None, {*groups[0]}), key=lambda word: (-len(word), word))


Check = Callable[[], None]
"""Raises when a search is no longer wanted, or `OutOfTime`."""


class Pattern:
    """Finds the lines of a text that match."""

    def __init__(self, source: str, case_sensitive: bool) -> None:
        flags = regex.V0 | regex.MULTILINE | (0 if case_sensitive else regex.IGNORECASE)
        self.compiled: Any = regex.compile(source, flags)
        self.case_sensitive = case_sensitive
        words = required_words(source)
        if not case_sensitive:
            words = [word.lower() for word in words if word.isascii()]
        self.word, self._others = words[0] if words else "", words[1:]
        """Every match has them, in whatever case unless case matters; the first is the longest."""
        runs = len(_RUN.findall(source))
        is_quick = runs < len(SHORT_LINES) and len(_CHOICE.findall(source)) < 8 and not _SLOW.search(source)
        self._quick = SHORT_LINES[runs] if is_quick else -1
        """Up to which length a line is not watched."""

    def find(self, text: str, check: Check, most: int) -> tuple[int, list[tuple[int, int]]]:
        """How many lines match, and line and column of the first; every line ends with a line feed."""
        words: str | None = None
        if self.word and (self.case_sensitive or text.isascii()):
            words = text if self.case_sensitive else text.lower()
            if self.word not in words:
                return 0, []
        if words is not None:
            candidates = list(_lines_with(self.word, self._others, words, text))
            lines = [line for _, line in candidates]
        else:
            lines = text.split("\n")[:-1]
        search, quick, found = self.compiled.search, self._quick, []
        for number, line in enumerate(lines):
            match = search(line) if len(line) <= quick else self._watched(line, check)
            if match is not None:
                found.append((number, match.start()))
        if words is None:
            return len(found), found[:most]
        places = [candidates[number][0] + column for number, column in found[:most]]
        return len(found), list(_numbered(text, places))

    def _watched(self, line: str, check: Check) -> Any:
        """The first match in a line; other threads run meanwhile."""
        seconds = SLICE_SECONDS
        while True:
            check()
            try:
                return self.compiled.search(line, timeout=seconds, concurrent=True)
            except TimeoutError:
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
    raise Failure(Code.INVALID_DATA, "Invalid regex pattern", {"pattern": text, "details": reason})


def search_texts(
    pattern: Pattern, texts: Iterable[tuple[str, str | Reason]], count: int, limit: int, check: Check
) -> FoundLines:
    """Search so many files, given with their texts, or why they have none.

    When the time is over, what was found until then is the answer.
    """
    hits: list[LineHit] = []
    skipped: list[str] = []
    total = files = seen = 0
    try:
        for path, text in texts:
            check()
            if isinstance(text, Reason):
                if text is not Reason.BINARY and language_of(path):
                    skipped.append(path)
            else:
                count_of_file, places = pattern.find(text, check, limit - len(hits))
                lines = text.split("\n")[:-1] if places else []
                hits += [hit_in(path, lines, number, column) for number, column in places]
                total += count_of_file
                files += 1
            seen += 1
    except OutOfTime:
        pass
    return FoundLines(tuple(hits), total, files, count - seen, tuple(skipped))


def _numbered(text: str, places: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Line and column of places in their order."""
    number = at = 0
    for place in places:
        begin = text.rfind("\n", 0, place) + 1
        number, at = number + text.count("\n", at, begin), begin
        yield number, place - begin


def _places(text: str, word: str) -> Iterator[int]:
    """Where a word first stands on each line that has it."""
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, text.find("\n", at) + 1)


def _lines_with(word: str, others: Sequence[str], searched: str, text: str) -> Iterator[tuple[int, str]]:
    """The lines that have all words, which are looked for in `searched`: the text, or that in lower case."""
    for at in _places(searched, word):
        begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        if all(searched.find(other, begin, end) >= 0 for other in others):
            yield begin, text[begin:end]
