"""The pure engine: every file's text, from the shelf or the disk, searched by `regex`."""

from __future__ import annotations

from collections.abc import Sequence

from context_pack.code.domain.search import Found, Hit, hit_in
from context_pack.code.domain.search_pattern import Pattern
from context_pack_adapters.search.deadline import Deadline
from context_pack_adapters.search.matching import Matcher, Spot
from context_pack_adapters.search.shelf import Shelf


def search(shelf: Shelf, paths: Sequence[str], pattern: Pattern, limit: int, deadline: Deadline) -> Found:
    """The lines of these files that match, in the order of the paths.

    Raises:
        TimedOut: it takes too long.
    """
    matcher = Matcher(pattern, deadline)
    hits: list[Hit] = []
    total = files = 0
    roll = shelf.roll(paths)
    anew = set(roll.stale(deadline))
    with shelf.open() as folders:
        for index, path in enumerate(paths):
            known, text = roll.knowns[index], roll.texts[index]
            if known is None or index in anew or (text is None and known.is_text):
                deadline.left()
                known, text = shelf.read(path, folders, keep=True)
            elif not index & 63:
                deadline.left()
            if not known.is_text or text is None:
                continue
            files += 1
            found = matcher.in_text(text, limit - len(hits), known.has_long_lines)
            if found.total:
                total += found.total
                hits.extend(hits_in(path, text, found.spots))
    return Found(tuple(hits), total, files)


def hits_in(path: str, text: str, spots: Sequence[Spot]) -> Sequence[Hit]:
    """The found places of one text as hits."""
    if not spots:
        return ()
    lines = text.split("\n")
    lines.pop()
    return [hit_in(path, lines, line, start) for line, start in spots]
