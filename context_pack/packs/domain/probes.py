"""Which of many known texts may stand in a file, without splitting the file into lines.

A long text is known by what follows each line start of its beginning. A file is sampled: what follows its
first line start, then the next at least `STEP` characters on. Wherever the text stands, one sample falls on
its beginning. A short text is known by its longest line, and files are split for it.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from context_pack.kernel.patterns import lazy_pattern

PIECE, STEP = 48, 500
"""How long a sample is, and how far samples are apart."""
_SAMPLES = lazy_pattern(rf"(?s:.{{{STEP - PIECE - 1}}}).*+\n((?s:.{{0,{PIECE}}}))")

T = TypeVar("T")


class Probes(Generic[T]):
    """Finds out which things may have their text in a file."""

    def __init__(self) -> None:
        self._pieces: dict[str, tuple[T, ...]] = {}
        self._lines: dict[str, tuple[T, ...]] = {}

    def add(self, excerpt: str, thing: T) -> None:
        """Look for a text from now on."""
        pieces = _pieces(f"{excerpt}\n")
        known = self._pieces if pieces else self._lines
        things = dict.fromkeys(pieces or [max(excerpt.split("\n"), key=len)], (thing,))
        for key in known.keys() & things:
            things[key] = (*known[key], thing)
        known.update(things)

    def found(self, text: str) -> set[T]:
        """The things whose text may stand on whole lines of this one; no other has it there."""
        things: set[T] = set()
        if self._pieces:
            samples = _SAMPLES.findall(text)
            samples.append(text[:PIECE])
            known = self._pieces.keys()
            for piece in () if known.isdisjoint(samples) else known & samples:
                things.update(self._pieces[piece])
        if self._lines:
            for line in self._lines.keys() & text.split("\n"):
                things.update(self._lines[line])
        return things


def _pieces(text: str) -> list[str]:
    """What follows each line start up to the first that is a step away; nothing if the text ends before."""
    last = text.find("\n", STEP - 2) + 1
    if not 0 < last <= len(text) - PIECE:
        return []
    found, start = [], 0
    for line in text[:last].split("\n"):
        found.append(text[start : start + PIECE])
        start += len(line) + 1
    return found
