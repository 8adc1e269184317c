"""A source file as snippets: its functions, the heads of its classes, and what stands around them.

Every language of `read_file` has at least its file head; those that are scanned have their declarations, and
runs of other lines between them (tables, constants, scripts). Whatever a file holds, this ends, raises
nothing and gives ranges that do not overlap, each within the bounds of a snippet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from context_pack.kernel.languages import language_of
from context_pack.kernel.lines import split_lines
from context_pack.memory.domain.snippets import braces, indents, python
from context_pack.memory.domain.snippets.masks import MASKS
from context_pack.memory.domain.snippets.model import Part, Snippet

__all__ = ["Part", "Snippet", "snippets_of"]

MOST_LINES = 60
MOST_CHARS = 6_000
MOST_SNIPPETS = 400
LEAST_BETWEEN = 3
"""How many lines with something on them make a run between declarations worth finding."""
SCANNED = frozenset({"python", *MASKS, *indents.LANGUAGES})


def snippets_of(path: str, text: str) -> list[Snippet]:
    """The snippets of one file, in order; a file without a line has none."""
    language = language_of(path)
    lines = split_lines(text)
    if not lines:
        return []
    found = list(_around(_apart(_declared(text, lines, language)), lines, language in SCANNED))
    return [piece for snippet in found for piece in _cut(snippet, lines)][:MOST_SNIPPETS]


def _declared(text: str, lines: Sequence[str], language: str) -> list[Snippet]:
    if language == "python":
        parsed = python.declared(text)
        if parsed is not None:
            return parsed
    if language in indents.LANGUAGES:
        return indents.declared(lines, language)
    return braces.declared(text, language) if language in MASKS else []


def _apart(found: Sequence[Snippet]) -> Iterator[Snippet]:
    """The snippets without overlaps: where two claim a line, the one that begins later has it."""
    ordered = sorted(found, key=lambda snippet: (snippet.start, -snippet.end))
    for place, snippet in enumerate(ordered):
        after = ordered[place + 1].start if place + 1 < len(ordered) else snippet.end + 1
        end = min(snippet.end, after - 1)
        if end >= snippet.start:
            yield Snippet(snippet.part, snippet.name, snippet.start, end)


def _around(found: Iterator[Snippet], lines: Sequence[str], scanned: bool) -> Iterator[Snippet]:
    """The declarations, with the file's head before them and longer runs of other lines between them."""
    after = 1
    for snippet in found:
        if after < snippet.start:
            yield from _run(lines, after, snippet.start - 1)
        yield snippet
        after = max(after, snippet.end + 1)
    if after == 1 and not scanned:
        yield from _run(lines, 1, min(len(lines), MOST_LINES))
    elif after <= len(lines):
        yield from _run(lines, after, len(lines))


def _run(lines: Sequence[str], start: int, end: int) -> Iterator[Snippet]:
    """The lines of a run, if they are the file's head or say enough."""
    filled = sum(1 for line in lines[start - 1 : end] if line.strip())
    if filled and (start == 1 or filled >= LEAST_BETWEEN):
        yield Snippet(Part.FILE, "", start, end)


def _cut(snippet: Snippet, lines: Sequence[str]) -> Iterator[Snippet]:
    """A snippet in pieces of bounded size, each without blank lines at its ends."""
    start = snippet.start
    while start <= snippet.end:
        end, chars = start - 1, 0
        while end < min(snippet.end, start + MOST_LINES - 1):
            chars += len(lines[end]) + 1
            if chars > MOST_CHARS and end >= start:
                break
            end += 1
        trimmed = _trimmed(lines, start, end)
        if trimmed is not None and chars <= 2 * MOST_CHARS:
            yield Snippet(snippet.part, snippet.name, *trimmed)
        start = end + 1


def _trimmed(lines: Sequence[str], start: int, end: int) -> tuple[int, int] | None:
    while start <= end and not lines[start - 1].strip():
        start += 1
    while end >= start and not lines[end - 1].strip():
        end -= 1
    return (start, end) if start <= end else None
