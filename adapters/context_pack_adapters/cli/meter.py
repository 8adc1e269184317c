"""A progress bar: one line on a terminal's stderr, redrawn in place.

It is never wider than the terminal, because a line that wraps cannot be drawn over, and it is gone when the
work ends, also by an interrupt. Where stderr is no terminal, or a dumb one, nothing is shown.
"""

from __future__ import annotations

import os
import sys
from typing import Self
from unicodedata import east_asian_width

from context_pack.retrieval.model import Progress
from context_pack_adapters.cli.terminal import harmless

USUAL_COLUMNS = 80
BAR_CELLS = 30
NAME_CELLS = 24


class Meter:
    """A line on stderr that can be redrawn; leaving its `with` block clears it."""

    def __init__(self) -> None:
        self._live = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._shown = ""

    def draw(self, text: str) -> None:
        """Show a text in the place of the last one, as much of it as there is room for."""
        if not self._live:
            return
        line = fitted(harmless(text), columns() - 1)
        if line != self._shown:
            sys.stderr.write("\r" + line + " " * (cells(self._shown) - cells(line)))
            sys.stderr.flush()
            self._shown = line

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            sys.stderr.write("\r" + " " * cells(self._shown) + "\r")
            sys.stderr.flush()
            self._shown = ""


class Bar(Meter):
    """A meter that draws how much of something is done."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what

    def show(self, progress: Progress) -> None:
        """Draw the bar at this progress."""
        if not self._live or not progress.total:
            return
        full, empty = _blocks()
        filled = BAR_CELLS * progress.done // progress.total
        count = f"{progress.done}/{progress.total}"
        what = fitted(self.what, min(NAME_CELLS, columns() - len(count) - 3))
        room = columns() - cells(what) - len(count) - 3
        bar = f" {full * filled}{empty * (BAR_CELLS - filled)}" if room >= BAR_CELLS else ""
        self.draw(f"{what}{bar} {count}")


def columns() -> int:
    """How wide the terminal behind stderr is now."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or USUAL_COLUMNS
    except (OSError, ValueError):
        return USUAL_COLUMNS


def fitted(text: str, room: int) -> str:
    """The beginning of the text that takes no more than so many cells."""
    line = text[: max(room, 0)]
    while cells(line) > room and line:
        line = line[:-1]
    return line


def cells(text: str) -> int:
    """How many cells of a terminal the text takes; never too few."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def _blocks() -> tuple[str, str]:
    """The characters of a bar, chosen from what the terminal's encoding has."""
    try:
        "█░".encode(sys.stderr.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return "#", "-"
    return "█", "░"
