"""`grep_codebase`: what a call may ask, the lines of texts that match, and how a line is shown.

A line is what `kernel.text` says it is. A match belongs to one line: the first place where the pattern
matches is its column, counted in characters from 1. Lines too long to show are cut around that place.

A pattern is Python's `regex` for each line by itself. Two things keep a search of many lines quick. The words
that every match must have are looked for first, and only lines with them are tried. And watching the clock
costs ten times a search, so a pattern that cannot take long on a short line is not watched there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import regex
from attrs import field, frozen

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.languages import language_of
from context_pack.kernel.patterns import check_pattern_size
from context_pack.kernel.ports import Reason
from context_pack.toolkit.arguments import arg, boolean, integer, text
from context_pack.toolkit.call import Call, Check
from context_pack.toolkit.limits import DEFAULT_MAX_TOKENS, LEAST_TOKENS, MOST_TOKENS

MAX_FILE_BYTES = 1024 * 1024
MAX_PATTERN_CHARS = 200
MAX_GLOB_CHARS = 1000
MAX_HITS = 100
DEFAULT_HITS = 50
CONTEXT_LINES = 2
SHOWN_CHARS = 500
ELLIPSIS = "…"

_LEAD = 100
"""How much of a cut line is shown before its match."""
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


@frozen
class GrepCodebase:
    """The arguments of `grep_codebase`."""

    pattern: str = arg(text(1, MAX_PATTERN_CHARS), "Regular expression, matched line by line")
    file_pattern: str | None = arg(
        text(0, MAX_GLOB_CHARS),
        'Glob of the files to search (e.g. "**/*.ts"); without "/" it is compared with the name',
        name="filePattern",
        default=None,
    )
    case_sensitive: bool = arg(boolean(), "Whether case matters", name="caseSensitive", default=False)
    limit: int = arg(integer(1, MAX_HITS), "Most matches to return", default=DEFAULT_HITS)
    context: int = arg(
        integer(0, CONTEXT_LINES), "Lines around a match; 0: only lines, by file", default=CONTEXT_LINES
    )
    max_tokens: int = arg(
        integer(LEAST_TOKENS, MOST_TOKENS),
        "Most tokens",
        name="maxTokens",
        default=DEFAULT_MAX_TOKENS,
    )


@frozen
class LineQuery:
    """One search: a pattern, which files by glob, and how many lines to bring back."""

    pattern: str
    glob: str | None = None
    case_sensitive: bool = False
    limit: int = DEFAULT_HITS


def query_of(command: GrepCodebase) -> LineQuery:
    """The search that a call asks for."""
    return LineQuery(command.pattern, command.file_pattern, command.case_sensitive, command.limit)


@frozen
class LineHit:
    """One matching line as it is shown, with the lines around it."""

    path: str
    line: int
    column: int
    text: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@frozen
class FoundLines:
    """The first hits by path and line, how many lines match in all, and how many files were searched.

    `unsearched` counts the files that were not: the time was over before; `skipped` are files of code that
    are too large, no UTF-8 or not readable; `milliseconds` is the time it took.
    """

    hits: tuple[LineHit, ...]
    total: int
    files: int
    unsearched: int = 0
    skipped: tuple[str, ...] = ()
    milliseconds: int = field(default=0, eq=False)


class OutOfTime(Exception):
    """The time of a search is over."""


class CodeSearch(Protocol):
    """Searches the text files under the source root, behind the path policy and the ignore files.

    Directory contexts come behind the project's own files; what is in the storage folder is not searched,
    and a pack that was exported only with a glob.
    """

    def search(self, query: LineQuery, call: Call) -> FoundLines:
        """The lines that match; to a client those that were found in time, commands have all the time.

        Raises:
            Failure: `invalid_data` for a pattern or glob that means nothing, `timed_out` before any file.
            Cancelled: the caller has withdrawn the call.
        """


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


class Pattern:
    """Finds the lines of a text that match."""

    def __init__(self, source: str, case_sensitive: bool) -> None:
        flags = regex.V0 | regex.MULTILINE | (0 if case_sensitive else regex.IGNORECASE)
        self.compiled: Any = regex.compile(source, flags)
        self.case_sensitive = case_sensitive
        words = required_words(source)
        self.words = words if case_sensitive else [word.lower() for word in words if word.isascii()]
        """Every match has them, in whatever case unless case matters; the first is the longest."""
        runs = len(_RUN.findall(source))
        is_quick = runs < len(SHORT_LINES) and len(_CHOICE.findall(source)) < 8 and not _SLOW.search(source)
        self._quick = SHORT_LINES[runs] if is_quick else -1
        """Up to which length a line is not watched."""

    def find(self, text: str, check: Check, most: int) -> tuple[int, list[tuple[int, int]]]:
        """How many lines match, and line and column of the first; every line ends with a line feed."""
        lines: Iterable[tuple[int, str]]
        if self.words and (self.case_sensitive or text.isascii()):
            lines = _lines_with(self.words, text, text if self.case_sensitive else text.lower())
        else:
            lines = enumerate(text.split("\n")[:-1])
        search, quick, total = self.compiled.search, self._quick, 0
        places: list[tuple[int, int]] = []
        for number, line in lines:
            match = search(line) if len(line) <= quick else self._watched(line, check)
            if match is not None:
                total += 1
                if total <= most:
                    places.append((number, match.start()))
        return total, places

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


def _lines_with(words: Sequence[str], text: str, searched: str) -> Iterator[tuple[int, str]]:
    """The lines that have all words, with their numbers; looked for in the text, or in that in lower case."""
    number = at = 0
    place = searched.find(words[0])
    while place >= 0:
        begin, end = text.rfind("\n", 0, place) + 1, text.find("\n", place)
        number, at = number + text.count("\n", at, begin), begin
        if all(searched.find(word, begin, end) >= 0 for word in words[1:]):
            yield number, text[begin:end]
        # Behind the line feed: a word may itself begin with one, and would be met there for ever.
        place = searched.find(words[0], end + 1)


def hit_in(path: str, lines: Sequence[str], index: int, start: int) -> LineHit:
    """The hit in `lines[index]` whose match starts at character `start`, both counted from 0."""
    return LineHit(
        path,
        index + 1,
        start + 1,
        shown(lines[index], start),
        tuple(shown(line) for line in lines[max(0, index - CONTEXT_LINES) : index]),
        tuple(shown(line) for line in lines[index + 1 : index + 1 + CONTEXT_LINES]),
    )


def shown(line: str, start: int = 0, most: int = SHOWN_CHARS) -> str:
    """The line in at most `most` characters, cut around `start` and marked where it was cut."""
    if len(line) <= most:
        return line
    first = max(0, min(start - _LEAD, len(line) - most + 1))
    if first == 0:
        return line[: most - 1] + ELLIPSIS
    if first + most - 1 >= len(line):
        return ELLIPSIS + line[first:]
    return ELLIPSIS + line[first : first + most - 2] + ELLIPSIS
