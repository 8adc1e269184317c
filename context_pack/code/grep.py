"""`grep_codebase`: what a call may ask, what a search of the tree finds, and how a found line is shown.

A line is what `kernel.text` says it is. A match belongs to one line: the first place where the pattern
matches is its column, counted in characters from 1. Lines too long to show are cut around that place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from attrs import field, frozen

from context_pack.toolkit.arguments import arg, boolean, integer, text
from context_pack.toolkit.call import Call
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

    The project's files come first, then our own: contexts, and what is in the storage folder.
    """

    def search(self, query: LineQuery, call: Call) -> FoundLines:
        """The lines that match; to a client those that were found in time, commands have all the time.

        Raises:
            Failure: `invalid_data` for a pattern or glob that means nothing, `timed_out` before any file.
            Cancelled: the caller has withdrawn the call.
        """


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
