"""The outline of a document, and its sections by heading.

Headings come from `retrieval.headings`. A section runs from its heading to the line before the next heading
of the same or a higher level, or before any heading where subsections are left out.
"""

from __future__ import annotations

from attrs import frozen

from context_pack.retrieval.headings import headings

MOST_DEPTH = 6


@frozen
class DocumentSection:
    """One section: its heading, and its text verbatim at lines `start` to `end`."""

    heading: str
    level: int
    content: str
    start: int
    end: int


def wanted_heading(section: str) -> str:
    """The heading text a caller asks for: trimmed, without leading hashes."""
    return section.strip().lstrip("#").strip()


def find_section(document: str, text: str, section: str, subsections: bool) -> DocumentSection | None:
    """The section whose heading is the given text, or else the first whose heading holds it."""
    wanted = wanted_heading(section).casefold()
    found = headings(text, document)
    folded = [heading.text.casefold() for heading in found]
    number = next((at for at, name in enumerate(folded) if name == wanted), None)
    if number is None:
        number = next((at for at, name in enumerate(folded) if wanted in name), None)
    if number is None:
        return None
    heading = found[number]
    ends = (later.line for later in found[number + 1 :] if not subsections or later.level <= heading.level)
    after = next(ends, None)
    start = _line_start(text, heading.line)
    if after is None:
        content = text[start:]
        end = heading.line + content.count("\n") - content.endswith("\n")
    else:
        end = after - 1
        content = text[start : _line_start(text, after)]
    return DocumentSection(heading.text, heading.level, _without_end(content), heading.line, end)


def _line_start(text: str, line: int) -> int:
    """Where a line begins."""
    at = 0
    for _ in range(line - 1):
        at = text.find("\n", at) + 1
    return at


def _without_end(content: str) -> str:
    """Without the end of the last line."""
    return content.removesuffix("\n").removesuffix("\r")
