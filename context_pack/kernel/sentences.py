"""Prose in short: a text on one line, its first sentence, and counts."""

from __future__ import annotations

import re

MOST_CHARS = 200
MOST_LOOKED_AT = 2000
_SENTENCE = re.compile(r"(.+?[.!?])(?:\s|$)")
_NO_END = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|St|Dr|No|approx)\.$")


def one_line(text: str, most: int = MOST_CHARS) -> str:
    """The text on one line, cut where it is longer than `most`."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 1].rstrip() + "…"


def first_sentence(text: str) -> str:
    """The first sentence of the first paragraph, on one line."""
    paragraph = " ".join(re.split(r"\n\s*\n", text[:MOST_LOOKED_AT].strip(), maxsplit=1)[0].split())
    at = end = 0
    # Where no sentence that begins here ends, none that begins later does: it need not be looked for there.
    while (found := _SENTENCE.match(paragraph, at)) is not None:
        at, end = found.end(), found.end(1)
        if not _NO_END.search(paragraph[:end]):
            break
    return one_line(paragraph[:end] or paragraph)


def counted(number: int, noun: str) -> str:
    """A count with its noun: 1 ref, 2 refs."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
