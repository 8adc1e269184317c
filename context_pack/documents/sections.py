"""What is found by its name: the section of a document by its heading, or else the nearest names.

Headings come from `retrieval.headings`. A section runs from its heading to the line before the next heading
of the same or a higher level, or before any heading where subsections are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from attrs import frozen

from context_pack.kernel.text import sha256_hex
from context_pack.retrieval.headings import Heading, headings


@frozen
class DocumentSection:
    """One section: its heading, and its text verbatim at lines `start` to `end`."""

    heading: str
    level: int
    content: str
    start: int
    end: int
    others: tuple[int, ...] = ()
    """The lines of further headings that say the same."""


def wanted_heading(section: str) -> str:
    """The heading text a caller asks for: trimmed, without leading hashes."""
    return section.strip().lstrip("#").strip()


def find_section(document: str, text: str, section: str, subsections: bool) -> DocumentSection | None:
    """The section whose heading is the given text, or else the first whose heading holds it.

    `Parent > Heading` is a heading below another, for those that a document has several times.
    """
    known = headings(text, document)
    numbers = _matching(known, wanted_heading(section))
    if not numbers:
        return None
    heading, later = known[numbers[0]], known[numbers[0] + 1 :]
    ends = (each.line for each in later if not subsections or each.level <= heading.level)
    after = next(ends, None)
    lines = text.split("\n")
    end = len(lines) - text.endswith("\n") if after is None else after - 1
    content = "\n".join(lines[heading.line - 1 : end]).removesuffix("\r")
    others = tuple(known[number].line for number in numbers[1:])
    return DocumentSection(heading.text, heading.level, content, heading.line, end, others)


def _matching(known: Sequence[Heading], wanted: str) -> list[int]:
    """The numbers of the headings that are a text; else of the first that holds it."""
    folded = [heading.text.casefold() for heading in known]
    for name, above in ((wanted.casefold(), ""), *_below_another(wanted.casefold())):
        at = [number for number in range(len(known)) if not above or above in _parents(known, number)]
        equal = [number for number in at if folded[number] == name]
        if number := equal or [number for number in at if name in folded[number]][:1]:
            return number
    return []


def _below_another(wanted: str) -> list[tuple[str, str]]:
    above, sign, name = wanted.rpartition(">")
    return [(name.strip(), above.rpartition(">")[2].strip())] if sign and name.strip() else []


def _parents(known: Sequence[Heading], number: int) -> list[str]:
    """The headings that one stands below."""
    level, parents = known[number].level, list[str]()
    for heading in reversed(known[:number]):
        if heading.level < level:
            level = heading.level
            parents.append(heading.text.casefold())
    return parents


ID_DIGITS = 12
NEAREST = 5
CUTOFF = 0.4
MOST_CHARS = 500


def collection_id(project: str, kind: str, source: str, name: str) -> str:
    """The id of a source in a project: a readable word and a digest."""
    word = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:32] or "documents"
    digest = sha256_hex("\n".join((project, kind, source)))
    return f"{word}-{digest[:ID_DIGITS]}"


def nearest(word: str, known: Iterable[str]) -> list[str]:
    """The names most like a word, the best first; case does not matter, and a path goes by its end too."""
    spelled: dict[str, str] = {}
    for name in known:
        folded = name.casefold()
        spelled.setdefault(folded, name)
        spelled.setdefault(folded.rpartition("/")[2], name)
    close = get_close_matches(word.casefold()[:MOST_CHARS], spelled, NEAREST * 2, CUTOFF)
    return list(dict.fromkeys(spelled[name] for name in close))[:NEAREST]


def not_found(sentence: str, word: str, known: Iterable[str], noun: str) -> str:
    """The sentence that something is not there, then the nearest names."""
    names = list(known)
    close = nearest(word, names)
    if close:
        return f"{sentence} Did you mean: {', '.join(close)}?"
    if not names:
        return f"{sentence} There are no {noun}."
    listed = names[:NEAREST]
    more = ", …" if len(names) > NEAREST else ""
    return f"{sentence} There are: {', '.join(listed)}{more}"
