"""A pack as one Markdown text: read into sections, refs and diagrams, and written so that it reads back.

Headings open sections, Mermaid fences are diagrams, and the places that prose names become refs (`claims`).
What prose does not say stands as `output` shows it: a key behind a heading (`## Title [key]`), a ref that no
sentence names or that has words of its own (`#### key` with its `- path:` and `- lines:`), a diagram with a
title (`#### Title [key]`). Under a heading with a key, deeper headings without one are part of its text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import count

from attrs import field, frozen

from context_pack.kernel.markdown import block_parser
from context_pack.kernel.text import fence_for
from context_pack.packs import values
from context_pack.packs.model import Diagram, Pack, Section

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


@frozen
class WrittenDiagram:
    """A Mermaid fence of a text, with its key, title and reason where the text gives them."""

    source: str
    key: str | None = None
    title: str | None = None
    why: str | None = None


@frozen
class WrittenRef:
    """A ref that a text writes out."""

    key: str
    path: str
    start: int
    end: int
    title: str | None = None
    why: str | None = None
    group: str | None = None


@frozen
class HandOverPart:
    """A heading with what stands under it: its Markdown without what is written out, and these parts."""

    title: str
    text: str
    diagrams: tuple[WrittenDiagram, ...] = ()
    key: str | None = None
    refs: tuple[WrittenRef, ...] = ()


@frozen
class HandOver:
    """A whole text: its title, if it begins with one, and its chapters."""

    title: str | None
    chapters: tuple[HandOverPart, ...]


@frozen
class _Piece:
    """A heading and the lines under it, up to the next heading; `head` is None before the first."""

    level: int
    head: str | None
    raw: str
    lines: tuple[str, ...]
    fences: tuple[str, ...]


@frozen
class _SectionInProgress:
    """A section while its pieces are read."""

    title: str
    key: str | None = None
    prose: list[str] = field(factory=list)
    diagrams: list[WrittenDiagram] = field(factory=list)
    refs: list[WrittenRef] = field(factory=list)

    def part(self) -> HandOverPart:
        """What was read."""
        text = values.without_blank_ends("\n".join(self.prose))
        return HandOverPart(self.title, text, tuple(self.diagrams), self.key, tuple(self.refs))


def read_hand_over(text: str) -> HandOver:
    """The chapters of a Markdown text; a first heading of the first level is its title."""
    pieces = list(_pieces(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")))
    opening, *rest = pieces
    title = None
    if rest and rest[0].level == 1 and not any(map(str.strip, opening.lines)):
        opening, *rest = rest
        title = opening.head
    sections = [_SectionInProgress(title or OPENING)]
    _fill(sections[0], opening)
    group: str | None = None
    for piece in rest:
        inside = sections[-1]
        keyed = _KEYED.fullmatch(piece.head or "")
        if piece.level > 2 and (piece.head or "").startswith(_GROUP) and not any(map(str.strip, piece.lines)):
            group = (piece.head or "").removeprefix(_GROUP)
        elif piece.level > 2 and piece.head == _DIAGRAMS and not any(map(str.strip, piece.lines)):
            group = None
        elif piece.level > 2 and (ref := _ref_of(piece, group)) is not None:
            inside.refs.append(ref)
        elif piece.level > 2 and keyed is not None and piece.fences:
            why = dict(_fields(piece.lines)).get("why")
            inside.diagrams.append(WrittenDiagram(piece.fences[0], keyed["key"], keyed["title"], why))
        elif piece.level > 2 and keyed is None and inside.key is not None:
            inside.prose.append(piece.raw)
            _fill(inside, piece)
        else:
            name = piece.head or OPENING
            sections.append(
                _SectionInProgress(name if keyed is None else keyed["title"], keyed and keyed["key"])
            )
            _fill(sections[-1], piece)
            group = None
    parts = [section.part() for section in sections]
    first = parts[0]
    return HandOver(title, tuple(parts if first.text or first.diagrams else parts[1:]))


def _fill(section: _SectionInProgress, piece: _Piece) -> None:
    section.prose.extend(piece.lines)
    section.diagrams.extend(map(WrittenDiagram, piece.fences))


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
    starts: list[tuple[int, int, int, str | None]] = [(0, 0, 0, None), *heads]
    opens = [fence[0] for fence in fences]
    for index, (level, first, begin, content) in enumerate(starts):
        end = starts[index + 1][1] if index + 1 < len(starts) else len(lines)
        inside = fences[bisect_left(opens, begin) : bisect_left(opens, end)]
        dropped = {line for low, high, _ in inside for line in range(low, high)}
        prose = tuple(lines[line] for line in range(begin, end) if line not in dropped)
        drawn = tuple(source for _, _, source in inside if source.strip())
        yield _Piece(level, content and _one_line(content), "\n".join(lines[first:begin]), prose, drawn)


def _one_line(content: str) -> str | None:
    """A heading as a title: one line, without what may not stand in one."""
    line = " ".join("".join(char for char in content if char.isprintable()).split())
    return re.sub(r"\\(#+)$", r"\1", line) or None


def _fields(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    yield from ((found["name"], found["value"]) for line in lines if (found := _FIELD.fullmatch(line)))


def _ref_of(piece: _Piece, group: str | None) -> WrittenRef | None:
    """The ref that a heading opens, if a path and lines stand under it."""
    fields = dict(_fields(piece.lines))
    place, key = _RANGE.fullmatch(fields.get("lines", "")), (piece.head or "").partition(" [")[0]
    if place is None or "path" not in fields or re.fullmatch(values.KEY_PATTERN, key) is None:
        return None
    titles = [found["title"] for line in piece.lines if (found := _TITLE.fullmatch(line))]
    start = int(place["start"])
    title = titles[0] if titles else None
    return WrittenRef(key, fields["path"], start, int(place["end"] or start), title, fields.get("why"), group)


def key_of(name: str, taken: Collection[str] = (), numbers: dict[str, int] | None = None) -> str:
    """A key made from a heading or a name, none of those that are taken.

    Whoever makes many keys hands on `numbers`: below them, all keys of a name are taken.
    """
    words = re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-_")[:KEY_CHARS].rstrip("-_")
    words = words if len(words) > 1 else f"{words or 'part'}-1"
    first = 1 if numbers is None else numbers.get(words, 1)
    keys = ((words if number == 1 else f"{words}-{number}", number) for number in count(first))
    key, number = next(each for each in keys if each[0] not in taken)
    if numbers is not None:
        numbers[words] = number
    return key


def diagram_key(section_key: str, taken: Collection[str], numbers: dict[str, int] | None = None) -> str:
    """The key of a diagram that a text does not name."""
    return key_of(f"{section_key[:40]} diagram", taken, numbers)


def markdown_of(pack: Pack) -> str:
    """The pack as a text that reads back as its sections, refs and diagrams."""
    parts = [f"# {ended(pack.title)}"] if pack.title is not None else []
    keys: set[str] = set()
    numbers: dict[str, int] = {}
    for index, section in enumerate(pack.sections):
        plain = section.key == key_of(section.title, keys, numbers) and not _needs_key(section)
        keys.add(section.key)
        if index or not (plain and section.title == pack.title and section.description):
            mark = "" if plain else f" [{section.key}]"
            parts.append(f"## {ended(section.title) if plain else section.title}{mark}")
        parts += [] if section.description is None else [section.description]
        parts += _diagrams_of(section, written=False)
        parts += _refs_of(section)
        titled = list(_diagrams_of(section, written=True))
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


def _diagrams_of(section: Section, *, written: bool) -> Iterator[str]:
    """The diagrams that a plain fence says, or those that need their key and title beside it."""
    taken: set[str] = set()
    numbers: dict[str, int] = {}
    for diagram in section.diagrams:
        plain = (diagram.key, diagram.title) == (diagram_key(section.key, taken, numbers), section.title)
        taken.add(diagram.key)
        if (plain and diagram.why is None) != written:
            yield from _diagram_lines(diagram, written)


def _diagram_lines(diagram: Diagram, written: bool) -> Iterator[str]:
    if written:
        yield f"#### {diagram.title} [{diagram.key}]" + (f"\n- why: {diagram.why}" if diagram.why else "")
    fence = fence_for(diagram.mermaid)
    yield f"{fence}mermaid\n{diagram.mermaid}\n{fence}"


def ended(text: str) -> str:
    """A heading text with its final hashes escaped, since Markdown would drop them."""
    return _CLOSING.sub(r"\\\1", text)
