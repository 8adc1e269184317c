"""What is found by its name: the section of a document by its heading, or else the nearest names.

Headings come from `retrieval.headings`. A section runs from its heading to the line before the next heading
of the same or a higher level, or before any heading where subsections are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from heapq import nlargest

from attrs import frozen

from context_pack.kernel.text import sha256_hex
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
