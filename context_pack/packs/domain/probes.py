"""Which of many known texts may stand in a file, without splitting the file into lines.

A text is known by what follows each line start of its beginning. A file is sampled: what follows its first
line start, then the next at least a step further on. Wherever the text stands, one sample falls on its
beginning. The steps of long texts are wider. A text that is too short for any is known by its longest line,
and files are split for it.
"""

from __future__ import annotations

import re
from typing import Generic, TypeVar

PIECE, STEPS = 48, (500, 100)
"""How long a sample is, and how many characters samples are apart."""
_SAMPLES = {step: re.compile(rf"(?s:.{{{step - PIECE - 1}}}).*+\n((?s:.{{0,{PIECE}}}))") for step in STEPS}

T = TypeVar("T")


class Probes(Generic[T]):
    """Finds out which things may have their text in a file."""

    def __init__(self) -> None:
        self._known: dict[int, dict[str, tuple[T, ...]]] = {}
        """What texts are known by, by the step of the samples; 0 is for whole lines."""

    def add(self, excerpt: str, thing: T) -> None:
        """Look for a text from now on."""
        text = f"{excerpt}\n"
        step, pieces = next(
            ((step, pieces) for step in STEPS if (pieces := _pieces(text, step))),
            (0, [max(excerpt.split("\n"), key=len)]),
        )
        known = self._known.setdefault(step, {})
        things: dict[str, tuple[T, ...]] = dict.fromkeys(pieces, (thing,))
        for key in known.keys() & things:
            things[key] = (*known[key], thing)
        known.update(things)

    def found(self, text: str) -> set[T]:
        """The things whose text may stand on whole lines of this one; no other has it there."""
        things: set[T] = set()
        for step, known in self._known.items():
            samples = _SAMPLES[step].findall(text) if step else text.split("\n")
            samples.append(text[:PIECE])
            if not known.keys().isdisjoint(samples):
                for key in known.keys() & samples:
                    things.update(known[key])
        return things


def _pieces(text: str, step: int) -> list[str]:
    """What follows each line start up to the first that is a step away; nothing if the text ends before."""
    last = text.find("\n", step - 2) + 1
    if not 0 < last <= len(text) - PIECE:
        return []
    found, start = [], 0
    for line in text[:last].split("\n"):
        found.append(text[start : start + PIECE])
        start += len(line) + 1
    return found
