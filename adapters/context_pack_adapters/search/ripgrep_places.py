"""What `rg` says, taken apart: records of path and value, and the line and column of a match."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from context_pack_adapters.search.matching import Spot
from context_pack_adapters.search.ripgrep_process import Run

COUNTS = ("--count",)
"""Options that print how many lines match in each file."""
NAMES = ("--files-with-matches",)
"""Options that print which files match."""
PLACES = ("--line-number", "--column", "--max-columns=1")
"""Options that print where matches are, and of the lines nothing, but for those of one byte."""
_SOME, _NONE = 0, 1


class Unusable(Exception):
    """`rg` did not do what it was asked: the pure engine must."""


def records(run: Run) -> list[tuple[str, bytes]]:
    """The lines of the output: a path and what is said of it.

    Raises:
        Unusable: `rg` failed.
        TimedOut: the search is no longer wanted, or took too long.
    """
    parts = (line.partition(b"\0") for line in _output(run).split(b"\n")[:-1])
    return [(os.fsdecode(path), value) for path, _, value in parts]


def names(run: Run) -> list[str]:
    """The paths that are all of the output.

    Raises:
        Unusable: `rg` failed.
        TimedOut: the search is no longer wanted, or took too long.
    """
    return [os.fsdecode(path) for path in _output(run).split(b"\0")[:-1]]


def _output(run: Run) -> bytes:
    answer = run.finish()
    if answer.code not in (_SOME, _NONE):
        raise Unusable(f"exit code {answer.code}")
    return answer.output


def place(value: bytes) -> tuple[int, int | None]:
    """Line and byte of the first match in a line, both from 1.

    `rg` finds no column for a match of nothing behind the last character of a file: there it is None.
    """
    line, column, *more = value.split(b":", 2)
    return int(line), int(column) if more and column else None


def spots(text: str, places: Mapping[int, int | None]) -> Iterator[Spot]:
    """Where places are in a text, in lines and characters from 0."""
    lines = text.split("\n")
    for line, column in places.items():
        whole = lines[line - 1]
        before = whole if column is None else whole.encode()[: column - 1].decode("utf-8", "ignore")
        yield Spot(line - 1, len(before))
