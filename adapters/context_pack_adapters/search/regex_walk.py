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
    with shelf.open() as folders:
        for path, known in zip(paths, shelf.survey(paths, deadline), strict=True):
            deadline.left()
            if known is not None and not known.is_text:
                continue
            # Asked once: another thread may be putting a newer text in its place.
            text = None if known is None else shelf.text(path, known)
            if known is None or text is None:
                known, text = shelf.read(path, folders, keep=True)
                if not known.is_text:
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
