"""What a search of the tree asks and finds, and how a found line is shown.

A line is what `kernel.text` says it is. A match belongs to one line: the first place where the pattern
matches is its column, counted in characters from 1. Lines too long to show are cut around that place.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

MAX_FILE_BYTES = 1024 * 1024
MAX_PATTERN_CHARS = 200
MAX_HITS = 100
DEFAULT_HITS = 50
CONTEXT_LINES = 2
SHOWN_CHARS = 500
SECONDS, LARGE_SECONDS = 3.0, 8.0
"""How long a client waits for a search, and in a large tree; commands and the library wait for its end."""
LARGE_TREE = 3_000
"""How many files make a tree a large one."""
CONTEXT_FILE = ".context.yaml"
ELLIPSIS = "…"
TIMED_OUT = "Search timed out"
INVALID_PATTERN = "Invalid regex pattern"

_LEAD = 100
"""How much of a cut line is shown before its match."""


@frozen
class LineQuery:
    """One search: a pattern, which files by glob, and how many lines to bring back.

    With `in_time` somebody waits for whom a part of the answer in time is better than all of it later.
    """

    pattern: str
    glob: str | None = None
    case_sensitive: bool = False
    limit: int = DEFAULT_HITS
    in_time: bool = False


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

    `unsearched` counts the files that were not: the time was over before.
    """

    hits: tuple[LineHit, ...]
    total: int
    files: int
    unsearched: int = 0


class OutOfTime(Exception):
    """The time of a search is over."""


def search_order(path: str, storage: str = "") -> tuple[bool, str]:
    """Files in the order of their paths, behind them our own: contexts, and what is in the storage folder."""
    own = path.rpartition("/")[2] == CONTEXT_FILE or bool(storage and path.startswith(f"{storage}/"))
    return own, path


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
