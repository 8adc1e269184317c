"""Ids of collections, unique per source, and suggestions for unknown names.

An id is made of the project and the resolved source, so that it stays the same while neither moves, and two
projects that share one index never meet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from heapq import nlargest

from context_pack.kernel.text import sha256_hex

ID_DIGITS = 12
NEAREST = 5
CUTOFF = 0.4
COMPARED = 100
MOST_CHARS = 500


def collection_id(project: str, kind: str, source: str, name: str) -> str:
    """The id of a source in a project: a readable word and a digest."""
    word = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:32] or "documents"
    digest = sha256_hex("\n".join((project, kind, source)))
    return f"{word}-{digest[:ID_DIGITS]}"


def nearest(word: str, known: Iterable[str]) -> list[str]:
    """The names most like a word, the best first; case does not matter.

    Comparing letter by letter is slow, so only the names that share the most threes of letters are compared.
    """
    wanted = word.casefold()[:MOST_CHARS]
    threes = _threes(wanted)
    spelled: dict[str, str] = {}
    for name in known:
        folded = name.casefold()
        spelled.setdefault(folded, name)
        spelled.setdefault(folded.rpartition("/")[2], name)
    likely = list(spelled)
    if len(likely) > COMPARED:
        likely = nlargest(COMPARED, spelled, key=lambda name: len(threes & _threes(name)))
    close = get_close_matches(wanted, likely, NEAREST * 2, CUTOFF)
    return list(dict.fromkeys(spelled[name] for name in close))[:NEAREST]


def _threes(text: str) -> set[str]:
    padded = f" {text} "
    return {padded[at : at + 3] for at in range(len(padded) - 2)}


def not_found(sentence: str, word: str, known: Iterable[str], noun: str) -> str:
    """The sentence that something is not there, then the nearest names."""
    names = list(known)
    close = nearest(word, names)
    if close:
        return f"{sentence} Did you mean: {', '.join(close)}?"
    if not names:
        return f"{sentence} There are no {noun}."
    listed = sorted(names)[:NEAREST]
    more = ", …" if len(names) > NEAREST else ""
    return f"{sentence} There are: {', '.join(listed)}{more}"
