"""A pack as plain data: what answers say of it, and the front matter and body of its file.

Keys come in the contract's order, moments are RFC 3339 strings; what is absent is left out of a file, and
None in an answer. Reading is strict: a wrong type, a doubled key or a broken rule is a malformed pack, and
the reason says where. A field that we do not know was written by a newer version: it is carried along as it
is, and written back behind the others.
Only texts and anchors may be absent: a list that is missing was lost, and an empty one in its place would be
written back as the truth.
In a file the prose stands in the body, as Markdown read line by line: `## Title [key]` begins a section,
`#### Title [key]` with a Mermaid fence is a diagram, and nothing else in it is looked at.
No YAML and no file here; `sections.0.refs.2.path` is as near as this module comes to one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import starmap
from typing import Any, TypeVar

from context_pack.kernel.errors import Code, Failure, clip
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.text import LineRange, fence_for
from context_pack.kernel.times import format_instant, parse_instant
from context_pack.packs import values
from context_pack.packs.anchors import Anchor, Symbol
from context_pack.packs.model import CodeLocation, Diagram, Pack, Ref, Section, Status

T = TypeVar("T")
Record = dict[str, Any]

SCHEMA_VERSION = 2
IN_BODY = 3
"""The version of files that have the prose in their body; those of version 2 have all in the front matter."""
MOMENTS = ("created_at", "updated_at", "expires_at")
FIELDS: Mapping[Any, Sequence[str]] = {
    Pack: ("id", "name", "title", "brief", "status", "tags", "sections", "revision", *MOMENTS),
    Section: ("key", "title", "description", "refs", "diagrams"),
    Ref: ("key", "path", "lines", "title", "why", "group", "anchor", "spellings"),
    CodeLocation: ("path", "lines"),
    LineRange: ("start", "end"),
    Diagram: ("key", "title", "mermaid", "why"),
    Anchor: ("digest", "lines", "symbol"),
    Symbol: ("kind", "name", "signature", "part"),
}
"""The fields of a pack and of its parts, in the order in which they are written."""
LISTS: Mapping[str, type[Any]] = {"sections": Section, "refs": Ref, "diagrams": Diagram}
SINGLE: Mapping[str, type[Any]] = {"anchor": Anchor, "symbol": Symbol}
STORED = frozenset({"anchor", "spellings"})
"""Fields of a ref that only storage needs, and only where they are there."""
FORMER = frozenset({"before", "after", "first", "last", "rolling", "sketch", "beside"})
"""Fields of anchors of older packs: they say nothing any more, and are not written again."""


def to_record(
    part: Pack | Section | Ref | CodeLocation | Diagram | Anchor,
    fields: Iterable[str] = (),
    *,
    anchors: bool = True,
) -> Record:
    """A pack or a part of one in storage keys, or only these fields of it as plain data.

    `anchors=False` leaves out what only storage needs.
    """
    record: Record = {"schema_version": SCHEMA_VERSION} if isinstance(part, Pack) and not fields else {}
    for name in fields or FIELDS[type(part)]:
        value = getattr(part, name)
        if name in STORED and not (anchors and value):
            continue
        if value is not None or not anchors or fields:  # a file says what is there
            record[name] = _plain(value, anchors)
    return record | getattr(part, "extra", {}) if anchors else record


def _plain(value: Any, anchors: bool) -> Any:
    """The value of a field as plain data."""
    kind = type(value)
    if kind in FIELDS:
        return to_record(value, anchors=anchors)
    if kind is tuple:
        return [_plain(each, anchors) for each in value]
    if isinstance(value, datetime):
        return format_instant(value)
    return value.value if kind in (Status, RelativePath) else value


_KEY = values.KEY_PATTERN.strip("^$")
_SECTION, _DIAGRAM = (re.compile(rf"{marks} (.+) \[({_KEY})\]\s*") for marks in ("##", "####"))
_WHY = "- why: "
_OPENING = re.compile(r"(`{3,})mermaid\s*")
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
"""Characters that an editor or a database would not give back as they are."""


def prose_below(record: Record) -> tuple[Record, str]:
    """What the front matter of a file holds of a pack, and the body with its prose.

    A section whose text would not read back from a body stays in the front matter whole.
    """
    sections, chunks = [], []
    for section in record["sections"]:
        chunk = _chunk(section)
        rest = {name: value for name, value in section.items() if name not in ("title", "description")}
        rest["diagrams"] = [
            {name: value for name, value in diagram.items() if name not in ("title", "mermaid", "why")}
            for diagram in section["diagrams"]
        ]
        if _UNSEEN.search(chunk) is None and _reads_back(rest, chunk, section):
            sections.append(rest)
            chunks.append(chunk)
        else:
            sections.append(section)
    body = "".join(f"\n{chunk}\n" for chunk in chunks)
    return {**record, "schema_version": IN_BODY, "sections": sections}, body


def _chunk(section: Record) -> str:
    """The prose of a section: its heading, its text and its diagrams."""
    parts = [f"## {section['title']} [{section['key']}]"]
    parts += [section["description"]] if "description" in section else []
    for diagram in section["diagrams"]:
        why = f"\n{_WHY}{diagram['why']}" if "why" in diagram else ""
        parts.append(f"#### {diagram['title']} [{diagram['key']}]{why}")
        fence = fence_for(diagram["mermaid"])
        parts.append(f"{fence}mermaid\n{diagram['mermaid']}\n{fence}")
    return "\n\n".join(parts)


def _reads_back(rest: Record, chunk: str, section: Record) -> bool:
    try:
        return prose_joined({"sections": [rest]}, chunk) == {"sections": [section]}
    except Failure:
        return False


def prose_joined(front: Record, body: str) -> Record:
    """The record of a pack whose prose stands in the body of its file; moved sections are where they went.

    Raises:
        Failure: `malformed_pack` for a body that says less, or more, than the front matter names.
    """
    sections = _mappings(front, "sections")
    below = _by_key([each for each in sections if "title" not in each])
    opening, parts = _cut(body.split("\n"), _SECTION, below)
    if any(map(str.strip, opening)):
        raise malformed("the body has text above its first section; put it below '## Title [key]'")
    read = iter(list(starmap(_with_prose, parts)))
    return {**front, "sections": [each if "title" in each else next(read) for each in sections]}


def _by_key(parts: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    named = {str(part.get("key")): part for part in parts}
    if len(named) < len(parts):
        raise malformed("a key of the front matter stands there twice")
    return named


def _cut(
    lines: Sequence[str], heading: re.Pattern[str], parts: Mapping[str, T]
) -> tuple[Sequence[str], list[tuple[T, str, Sequence[str]]]]:
    """The lines above the first heading; then each part with its title and the lines below its heading.

    Raises:
        Failure: `malformed_pack` if these are not exactly the parts that the front matter names.
    """
    heads = [(at, head) for at, line in enumerate(lines) if (head := heading.fullmatch(line))]
    counts = Counter(head[2] for _, head in heads)
    if lost := [key for key in parts if key not in counts]:
        raise malformed(
            f"the body has no heading with [{clip(lost[0])}]; put it back, or remove the part above"
        )
    if strange := [key for key, count in counts.items() if count > 1 or key not in parts]:
        raise malformed(f"the body has a heading with [{strange[0]}] too many; 'write' adds parts to a pack")
    ends = [*(at for at, _ in heads), len(lines)]
    below = zip(heads, ends[1:], strict=True)
    return lines[: ends[0]], [(parts[head[2]], head[1], lines[at + 1 : end]) for (at, head), end in below]


def _with_prose(section: Mapping[str, Any], title: str, lines: Sequence[str]) -> Record:
    """A section with its title, and the text and diagrams that these lines say."""
    above, diagrams = _cut(lines, _DIAGRAM, _by_key(_mappings(section, "diagrams")))
    text = values.without_blank_ends("\n".join(above))
    if text and "description" in section:
        raise malformed(
            f"the section '{section.get('key')}' has its text twice, in the front matter and below"
        )
    description = {"description": text} if text else {}
    return {**section, "title": title, **description, "diagrams": list(starmap(_drawn, diagrams))}


def _drawn(diagram: Mapping[str, Any], title: str, lines: Sequence[str]) -> Record:
    """A diagram with what the lines below its heading say."""
    why = lines[0].removeprefix(_WHY) if lines and lines[0].startswith(_WHY) else None
    text = values.without_blank_ends("\n".join(lines[why is not None :])).split("\n")
    fence = _OPENING.fullmatch(text[0])
    if fence is None or [at for at, line in enumerate(text) if line.rstrip() == fence[1]] != [len(text) - 1]:
        raise malformed(f"the diagram '{diagram.get('key')}' must be one Mermaid fence below its heading")
    mermaid = values.without_blank_ends("\n".join(text[1:-1]))
    return {**diagram, "title": title, "mermaid": mermaid, **({} if why is None else {"why": why})}


def from_record(record: Mapping[str, Any]) -> Pack:
    """The pack that a record describes.

    Raises:
        Failure: `migration_required` for another schema version, `malformed_pack` for anything else wrong.
    """
    _check_version(record.get("schema_version"))
    return _part(Pack, {name: value for name, value in record.items() if name != "schema_version"}, "")


def _check_version(version: Any) -> None:
    if version in (SCHEMA_VERSION, IN_BODY) and type(version) is int:
        return
    if isinstance(version, bool) or not isinstance(version, int | str | float):
        raise malformed("'schema_version' is missing or no number")
    raise Failure(
        Code.MIGRATION_REQUIRED,
        f"the pack has another schema version; migrate its file to version {IN_BODY} or remove it",
        {"found": version, "supported": IN_BODY},
    )


def anchor_from(value: Any, at: str) -> Anchor:
    """The anchor that a record describes; `at` is where it stands, for the reason if it describes none."""
    return _part(Anchor, value, at)


def _part(kind: Callable[..., T], value: Any, at: str) -> T:
    """A pack or a part of one; fields that we do not know are carried along, former ones are dropped."""
    value = _mapping(value, at)
    try:
        fields = {
            name: _field(kind, name, value.get(name), f"{at}.{name}".strip(".")) for name in FIELDS[kind]
        }
        unknown = value.keys() - fields.keys() - (FORMER if kind is Anchor else frozenset())
        return kind(**fields, extra={name: each for name, each in value.items() if name in unknown})
    except Failure as failure:
        if failure.code is Code.MALFORMED_PACK:
            raise
        raise malformed(f"{at}: {failure.message}" if at else failure.message) from None


def _field(kind: Any, name: str, value: Any, at: str) -> Any:
    """The value of a field; None for one that is absent, unless that is a list."""
    if name in LISTS:
        parts = enumerate(_list(value, at))
        return tuple(_part(LISTS[name], part, f"{at}.{index}") for index, part in parts)
    if name == "tags" or (name == "spellings" and value is not None):
        return _list(value, at)
    if name in MOMENTS:
        return _moment(value, name)
    if name == "path":
        return RelativePath.parse(value)
    if name == "lines" and kind is not Anchor:
        lines = _mapping(value, at)
        return LineRange.stored(lines.get("start"), lines.get("end"))
    return _part(SINGLE[name], value, at) if name in SINGLE and value is not None else value


def _moment(text: Any, field: str) -> datetime:
    if not isinstance(text, str):
        raise malformed(f"'{field}' is missing or no string")
    try:
        return parse_instant(text)
    except ValueError:
        raise malformed(f"'{field}' is no RFC 3339 moment") from None


def _mapping(value: Any, at: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise malformed(f"{at} must be a mapping" if at else "the front matter must be a mapping")
    return value


def _mappings(item: Mapping[str, Any], field: str) -> list[Mapping[str, Any]]:
    return [_mapping(each, field) for each in _list(item.get(field), field)]


def _list(value: Any, at: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise malformed(f"{at} is missing or no list")
    return list(value)


def malformed(reason: str) -> Failure:
    """A stored pack that breaks a rule; the store adds which file it is."""
    message = f"a stored pack is malformed: {reason}; mend or remove its file"
    return Failure(Code.MALFORMED_PACK, message, {"reason": reason})
