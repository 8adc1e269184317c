"""A pack as one Markdown text: read into sections, refs and diagrams, and written so that it reads back.

Headings open sections, Mermaid fences are diagrams, and the places that prose names become refs (`claims`).
What prose does not say stands as `output` shows it: a key behind a heading (`## Title [key]`), a ref that no
sentence names or that has words of its own (`#### key` with its `- path:` and `- lines:`), a diagram with a
title (`#### Title [key]`). Under a heading with a key, deeper headings without one are part of its text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from attrs import define, field

from context_pack.kernel.markdown import block_parser
from context_pack.kernel.text import fence_for
from context_pack.packs import values
from context_pack.packs.model import Pack, Section

OPENING = "Overview"
"""The title of prose that stands above all headings of a text without a title."""
KEY_CHARS = 56
_KEYED = re.compile(r"(?P<title>.*?) \[(?P<key>[a-z0-9][a-z0-9_-]{1,63})\](?: \(continued\))?")
_FIELD = re.compile(r"- (?P<name>path|lines|why): (?P<value>.*?)(?: \(moved from [^)]*\))?\s*")
_TITLE = re.compile(r"\*\*(?P<title>.+)\*\*\s*")
_RANGE = re.compile(r"(?P<start>\d{1,9})(?:-(?P<end>\d{1,9}))?")
_MAY_BE_HEADING = re.compile(r"^ {0,3}(?:#|=+\s*$|-+\s*$)", re.MULTILINE)
_GROUP = "group: "
_DIAGRAMS = "Diagrams"
_CLOSING = re.compile(r"(?:(?<= )|^)(#+)$")


class WrittenDiagram(NamedTuple):
    """A Mermaid fence of a text, with its key, title and reason where the text gives them."""

    source: str
    key: str | None = None
    title: str | None = None
    why: str | None = None


class WrittenRef(NamedTuple):
    """A ref that a text writes out."""

    key: str
    path: str
    start: int
    end: int
    title: str | None = None
    why: str | None = None
    group: str | None = None


@define
class Chapter:
    """A heading, the prose under it without what is written out, and its diagrams and refs."""

    title: str
    key: str | None = None
    prose: list[str] = field(factory=list)
    diagrams: list[WrittenDiagram] = field(factory=list)
    refs: list[WrittenRef] = field(factory=list)

    @property
    def text(self) -> str:
        """Its prose as Markdown."""
        return values.without_blank_ends("\n".join(self.prose))

    def take(self, piece: _Piece) -> None:
        """Add what stands under a heading."""
        self.prose.extend(piece.lines)
        self.diagrams.extend(map(WrittenDiagram, piece.fences))


class _Piece(NamedTuple):
    """A heading and the lines under it, up to the next heading; before the first it has no words."""

    level: int
    head: str
    raw: str
    lines: Sequence[str]
    fences: Sequence[str]

    @property
    def blank(self) -> bool:
        """Whether nothing stands under it."""
        return not any(map(str.strip, self.lines))


def read_hand_over(text: str) -> tuple[str | None, list[Chapter]]:
    """The title and the chapters of a Markdown text; a first heading of the first level is its title."""
    opening, *rest = _pieces(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    title = None
    if rest and rest[0].level == 1 and opening.blank:
        opening, *rest = rest
        title = opening.head or None
    chapters = [Chapter(title or OPENING)]
    chapters[0].take(opening)
    group: str | None = None
    for piece in rest:
        inside, keyed = chapters[-1], _KEYED.fullmatch(piece.head)
        below = piece.level > 2
        if below and piece.blank and (piece.head.startswith(_GROUP) or piece.head == _DIAGRAMS):
            group = piece.head.removeprefix(_GROUP) if piece.head.startswith(_GROUP) else None
        elif below and (ref := _ref_of(piece, group)) is not None:
            inside.refs.append(ref)
        elif below and keyed is not None and piece.fences:
            why = _fields(piece.lines).get("why")
            inside.diagrams.append(WrittenDiagram(piece.fences[0], keyed["key"], keyed["title"], why))
        elif below and keyed is None and inside.key is not None:
            inside.prose.append(piece.raw)
            inside.take(piece)
        else:
            head = piece.head or OPENING
            chapters.append(Chapter(head) if keyed is None else Chapter(keyed["title"], keyed["key"]))
            chapters[-1].take(piece)
            group = None
    first = chapters[0]
    return title, chapters if first.text or first.diagrams else chapters[1:]


def _pieces(lines: Sequence[str]) -> Iterator[_Piece]:
    """The headings of a text, each with what follows it; first what stands before all of them."""
    tokens = block_parser().parse("\n".join(lines))
    heads = [
        (int(token.tag[1]), token.map[0], token.map[1], tokens[index + 1].content)
        for index, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map
    ]
    fences = [
        (token.map[0], token.map[1], token.content.strip("\n"))
        for token in tokens
        if token.type == "fence" and token.level == 0 and token.map and token.info.strip() == "mermaid"
    ]
    starts = [(0, 0, 0, ""), *heads]
    opens = [fence[0] for fence in fences]
    for index, (level, first, begin, content) in enumerate(starts):
        end = starts[index + 1][1] if index + 1 < len(starts) else len(lines)
        inside = fences[bisect_left(opens, begin) : bisect_left(opens, end)]
        dropped = {line for low, high, _ in inside for line in range(low, high)}
        prose = [lines[line] for line in range(begin, end) if line not in dropped]
        drawn = [source for _, _, source in inside if source.strip()]
        yield _Piece(level, _heading_text(content), "\n".join(lines[first:begin]), prose, drawn)


def _heading_text(content: str) -> str:
    """A heading as a title: one line, without what may not stand in one."""
    line = " ".join("".join(char for char in content if char.isprintable()).split())
    return re.sub(r"\\(#+)$", r"\1", line)


def _fields(lines: Iterable[str]) -> dict[str, str]:
    return {match["name"]: match["value"] for line in lines if (match := _FIELD.fullmatch(line))}


def _ref_of(piece: _Piece, group: str | None) -> WrittenRef | None:
    """The ref that a heading opens, if a path and lines stand under it."""
    fields = _fields(piece.lines)
    place, key = _RANGE.fullmatch(fields.get("lines", "")), piece.head.partition(" [")[0]
    if place is None or "path" not in fields or re.fullmatch(values.KEY_PATTERN, key) is None:
        return None
    title = next((match["title"] for line in piece.lines if (match := _TITLE.fullmatch(line))), None)
    start = int(place["start"])
    return WrittenRef(key, fields["path"], start, int(place["end"] or start), title, fields.get("why"), group)


class Keys(set[str]):
    """The keys that are taken."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        super().__init__(taken)
        self._next: dict[str, int] = {}

    def free(self, name: str) -> str:
        """A key made from a heading or a name that is not taken: the name, or the name with a number."""
        words = re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-_")[:KEY_CHARS].rstrip("-_")
        words = words if len(words) > 1 else f"{words or 'part'}-1"
        number = self._next.get(words, 1)  # all below are taken
        while (key := words if number == 1 else f"{words}-{number}") in self:
            number += 1
        self._next[words] = number
        return key


def diagram_name(section_key: str) -> str:
    """What a diagram that a text does not name is called, before that is made a key."""
    return f"{section_key[:40]} diagram"


def markdown_of(pack: Pack) -> str:
    """The pack as a text that reads back as its sections, refs and diagrams."""
    parts = [f"# {ended(pack.title)}"] if pack.title is not None else []
    keys = Keys()
    for index, section in enumerate(pack.sections):
        plain = section.key == keys.free(section.title) and not _needs_key(section)
        keys.add(section.key)
        if index or not (plain and section.title == pack.title and section.description):
            parts.append(f"## {ended(section.title) if plain else f'{section.title} [{section.key}]'}")
        parts += [] if section.description is None else [section.description]
        fences, titled = _diagrams_of(section)
        parts += [*fences, *_refs_of(section)]
        parts += [f"### {_DIAGRAMS}", *titled] if titled else []
    return "\n\n".join(parts) + "\n"


def _needs_key(section: Section) -> bool:
    """Whether a plain heading would be read as another one, or the text would be read as more sections."""
    text = section.description or ""
    tokens = block_parser().parse(text) if _MAY_BE_HEADING.search(text) else []
    return _KEYED.fullmatch(section.title) is not None or any(each.type == "heading_open" for each in tokens)


def _refs_of(section: Section) -> Iterator[str]:
    """The refs that prose does not name, or that have words of their own, by groups."""
    own = [ref for ref in section.refs if not ref.spellings or ref.title or ref.why or ref.group]
    for group in sorted({ref.group or "" for ref in own}):
        if group:
            yield f"### {_GROUP}{ended(group)}"
        for ref in own:
            if (ref.group or "") == group:
                title = [f"**{ref.title}**"] if ref.title else []
                why = [f"- why: {ref.why}"] if ref.why else []
                place = [f"- path: {ref.path}", f"- lines: {ref.lines}"]
                yield "\n".join([f"#### {ref.key}", *title, *place, *why])


def _diagrams_of(section: Section) -> tuple[list[str], list[str]]:
    """The diagrams that a plain fence says, and those that have their key and title beside it."""
    keys, plain, titled = Keys(), list[str](), list[str]()
    for diagram in section.diagrams:
        fence = fence_for(diagram.mermaid)
        drawn = f"{fence}mermaid\n{diagram.mermaid}\n{fence}"
        given = (keys.free(diagram_name(section.key)), section.title, None)
        keys.add(diagram.key)
        if (diagram.key, diagram.title, diagram.why) == given and not titled:
            plain.append(drawn)
        else:
            why = f"\n- why: {diagram.why}" if diagram.why else ""
            titled.append(f"#### {diagram.title} [{diagram.key}]{why}\n\n{drawn}")
    return plain, titled


def ended(text: str) -> str:
    """A heading text with its final hashes escaped, since Markdown would drop them."""
    return _CLOSING.sub(r"\\\1", text)
