"""Which of many known texts may stand in a file, without splitting the file into lines.

A long text is known by what follows each line start of its beginning. A file is sampled: every `STEP`
characters, what follows the next line start. Wherever the text stands, one sample falls on its beginning. A
short text is known by its longest line, and files are split for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

PIECE, STEP = 48, 500
"""How long a sample is, and how far samples are apart."""

T = TypeVar("T")


class Probes(Generic[T]):
    """Finds out which things may have their text in a file."""

    def __init__(self) -> None:
        self._pieces: dict[str, list[T]] = {}
        self._lines: dict[str, list[T]] = {}

    def add(self, excerpt: str, thing: T) -> None:
        """Look for a text from now on."""
        pieces = set(_pieces(f"{excerpt}\n"))
        known = self._pieces if pieces else self._lines
        for key in pieces or (max(excerpt.split("\n"), key=len),):
            known.setdefault(key, []).append(thing)

    def found(self, text: str) -> Iterator[T]:
        """The things whose text may stand on whole lines of this one, some twice; no other has it there."""
        if self._pieces:
            near, find = range(STEP - 1, len(text), STEP), text.find
            samples = [text[(start := find("\n", at) + 1) : start + PIECE] for at in near]
            for piece in self._pieces.keys() & [text[:PIECE], *samples]:
                yield from self._pieces[piece]
        if self._lines:
            for line in self._lines.keys() & text.split("\n"):
                yield from self._lines[line]


def _pieces(text: str) -> list[str]:
    """What follows each line start up to the first that is a step away; nothing if the text ends before."""
    at, pieces = 0, []
    while at + PIECE <= len(text):
        pieces.append(text[at : at + PIECE])
        if at >= STEP - 1:
            return pieces
        at = text.index("\n", at) + 1
    return []
