"""Discoveries in Markdown that people wrote: notes under telling headings, and decision records.

A note is a list item or a paragraph. Its type is told by a word before it (`Rule: …`), by the nearest heading
that names one (`## Decisions`), or by whoever imports; what nothing tells a type of, or what is too short, is
none. A decision record is a file with the headings of one; it is one decision: its title, and what stands
under its decision. Code is no note.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping

from attrs import frozen

from context_pack.memory.discovery import LEAST_CHARS, MOST_CHARS, DiscoveryType
from context_pack.retrieval.headings import (
    Block,
    Structure,
    document,
    heading_list,
    title_of,
)

_WORDS: Mapping[str, DiscoveryType] = {
    "pattern": DiscoveryType.PATTERN,
    "practice": DiscoveryType.PATTERN,
    "approach": DiscoveryType.PATTERN,
    "learning": DiscoveryType.PATTERN,
    "rule": DiscoveryType.RULE,
    "convention": DiscoveryType.RULE,
    "guideline": DiscoveryType.RULE,
    "constraint": DiscoveryType.RULE,
    "principle": DiscoveryType.RULE,
    "decision": DiscoveryType.DECISION,
    "issue": DiscoveryType.ISSUE,
    "problem": DiscoveryType.ISSUE,
    "bug": DiscoveryType.ISSUE,
    "gotcha": DiscoveryType.ISSUE,
    "pitfall": DiscoveryType.ISSUE,
    "caveat": DiscoveryType.ISSUE,
}
_LABEL = re.compile(r"[*_`]*(?P<word>[A-Za-z]+)[*_`]*\s*:[*_`]*\s+(?P<text>\S.*)", re.DOTALL)
_MARKER = re.compile(r"[\s>]*+(?:[-+*]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_NUMBER = re.compile(r"(?:ADR[-\s]?)?(?<!\d)\d++\s*+[.:–—-]\s*", re.IGNORECASE)
_RECORD = re.compile(r"decision(?: outcome)?s?|what we decided", re.IGNORECASE)
_BESIDE = re.compile(
    r"status|context.*|consequences|considered options|decision drivers|background", re.IGNORECASE
)
_OVER = re.compile(r"\b(?:superseded|rejected|deprecated|withdrawn)\b", re.IGNORECASE)
_CODE_PLACE = re.compile(
    r"(?<![\w/.])(?P<path>(?:[\w.-]+/)*[\w-]+(?:\.[\w-]+)*\.[A-Za-z]\w*)"
    r"(?::(?P<lines>[1-9]\d*(?:-[1-9]\d*)?)|(?:#|::)(?P<symbol>[A-Za-z_$][\w$.]*\w))?"
)
_CODE_NAME = re.compile(r"`([A-Za-z_$][\w$.]*)(?:\(\))?`")
_RULES = re.compile(r"(?:AGENTS|CLAUDE|GEMINI)\.md")
"""Instructions for agents: what nothing else tells a type of is a rule there."""
_SENTENCE = re.compile(r"[.!?](?=\s|$)")


@frozen
class Note:
    """One discovery that a file holds, at its line."""

    line: int
    type: DiscoveryType
    content: str

    @property
    def places(self) -> Iterator[tuple[str, str | None, str | None]]:
        """The code that the note may be about: files with lines or a definition that its text names.

        A definition stands behind the file (`src/ttl.py#expiry`) or is marked as code beside it. A file alone
        is no place to watch: every change of it would question the note.
        """
        names = [name[1] for name in _CODE_NAME.finditer(self.content)]
        for place in _CODE_PLACE.finditer(self.content):
            if place["lines"]:
                yield place["path"], place["lines"], None
            for name in [place["symbol"]] if place["symbol"] else [] if place["lines"] else names:
                yield place["path"], None, name


def notes_in(text: str, name: str, kind: DiscoveryType | None = None) -> list[Note]:
    """The notes of a Markdown file, in order; `kind` is the type of those that nothing else tells one of."""
    found = document(text)
    if kind is None and _RULES.fullmatch(name):
        kind = DiscoveryType.RULE
    record = _decision(found, text, name)
    notes = _notes(found, kind) if record is None else iter(record)
    return [
        Note(note.line, note.type, _shortened(note.content))
        for note in notes
        if len(note.content) >= LEAST_CHARS
    ]


def _type_in(words: str) -> DiscoveryType | None:
    """The type that a heading or a label names."""
    for word in re.findall(r"[a-z]+", words.lower()):
        found = _WORDS.get(word) or _WORDS.get(word.removesuffix("s")) or _WORDS.get(word.removesuffix("es"))
        if found is not None:
            return found
    return None


def _decision(found: Structure, text: str, name: str) -> list[Note] | None:
    """The one decision of a decision record, if it still holds; None for any other file."""
    said = _headings(found)
    headings = [block for block in found.blocks if block.start in said]
    under = [block for block in headings if block.level > 1 and _RECORD.fullmatch(said[block.start])]
    beside = [block for block in headings if _BESIDE.fullmatch(said[block.start])]
    if not under or not beside:
        return None
    line = headings[0].start + 1
    for block in beside:
        if said[block.start].lower() == "status" and _OVER.search(_text_under(found, block)):
            return []
    title = _NUMBER.sub("", title_of(text, name, heading_list(found), ".md"), count=1).strip().rstrip(".")
    decided = _text_under(found, under[0])
    return [Note(line, DiscoveryType.DECISION, f"{title}: {decided}" if decided else title)]


def _headings(found: Structure) -> dict[int, str]:
    """The headings of a document by their first lines, from 0."""
    return {heading.line - 1: heading.text.strip() for heading in heading_list(found)}


def _text_under(found: Structure, heading: Block) -> str:
    """The prose below a heading, up to the next heading of its rank, on one line."""
    parts: list[str] = []
    # Headings are many where blocks are: those before it are not passed again by each.
    for at in range(
        bisect_right(found.blocks, heading.start, key=lambda block: block.start), len(found.blocks)
    ):
        block = found.blocks[at]
        if block.kind == "heading" and block.level <= heading.level:
            break
        if block.kind == "paragraph":
            parts.append(_text(found, block))
    return " ".join(parts)


def _notes(found: Structure, kind: DiscoveryType | None) -> Iterator[Note]:
    said = _headings(found)
    levels: list[tuple[int, DiscoveryType | None]] = []
    for block in found.blocks:
        if block.start in said and block.kind == "heading":
            while levels and levels[-1][0] >= block.level:
                levels.pop()
            levels.append((block.level, _type_in(said[block.start])))
        elif block.kind == "paragraph":
            heading = next((type_ for _, type_ in reversed(levels) if type_ is not None), None)
            text = _text(found, block)
            label = _LABEL.fullmatch(text)
            labelled = None if label is None else _type_in(label["word"])
            if label is not None and labelled is not None:
                yield Note(block.start + 1, labelled, label["text"])
            elif (type_ := heading or kind) is not None:
                yield Note(block.start + 1, type_, text)


def _text(found: Structure, block: Block) -> str:
    """A paragraph on one line, without the mark of a list item or a quote."""
    lines = [line.strip() for line in found.lines[block.start : block.end + 1]]
    if block.depth:
        marker = _MARKER.match(lines[0])
        lines[0] = lines[0][marker.end() :] if marker is not None else lines[0]
        lines = [line.lstrip("> ") for line in lines]
    return " ".join(" ".join(lines).split())


def _shortened(text: str) -> str:
    """A text of at most the length of a discovery, cut after a sentence where one ends."""
    if len(text) <= MOST_CHARS:
        return text
    ends = [match.end() for match in _SENTENCE.finditer(text[:MOST_CHARS])]
    return text[: ends[-1]] if ends else text[: MOST_CHARS - 1] + "…"
