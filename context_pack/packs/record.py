"""A pack as plain data: the front-matter shape that storage writes and other implementations share.

Keys come in the contract's order, absent values are None, moments are RFC 3339 strings. Reading is strict: a
wrong type, a doubled key or a broken rule is a malformed pack, and the reason says where. A field that we do
not know was written by a newer version: it is carried along as it is, and written back behind the others.
Only texts and anchors may be absent: a list that is missing was lost, and an empty one in its place would be
written back as the truth.
No YAML and no file here; `sections.0.refs.2.path` is as near as this module comes to one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.text import LineRange
from context_pack.kernel.times import format_instant, parse_instant
from context_pack.packs.anchors import Anchor, Symbol
from context_pack.packs.model import CodeLocation, Diagram, Pack, Ref, Section, Status

T = TypeVar("T")
Record = dict[str, Any]

SCHEMA_VERSION = 2
MOMENTS = ("created_at", "updated_at", "expires_at")
FIELDS: Mapping[type, Sequence[str]] = {
    Pack: ("id", "name", "title", "brief", "status", "tags", "sections", "revision", *MOMENTS),
    Section: ("key", "title", "description", "refs", "diagrams", "scope"),
    Ref: ("key", "path", "lines", "title", "why", "group", "anchor", "spellings"),
    CodeLocation: ("path", "lines"),
    LineRange: ("start", "end"),
    Diagram: ("key", "title", "mermaid", "why"),
    Anchor: ("digest", "lines", "symbol"),
    Symbol: ("kind", "name", "signature", "part"),
}
"""The fields of a pack and of its parts, in the order in which they are written."""
LATER = frozenset({"scope", "symbol", "spellings"})
"""Fields that older readers do not know: they are written only where they are there."""
STORED = frozenset({"anchor", "spellings"})
"""Fields of a ref that only storage needs."""
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
        if (value not in (None, ()) or name not in LATER) and (anchors or name not in STORED):
            record[name] = value if type(value) in (str, int) else _plain(value, anchors)
    extra = getattr(part, "extra", None) if anchors else None
    if extra and isinstance(part, Ref):
        record["lines"] |= extra.get("lines", {})
        extra = {name: value for name, value in extra.items() if name != "lines"}
    return record | extra if extra else record


def _plain(value: Any, anchors: bool) -> Any:
    """The value of a field as plain data."""
    kind = type(value)
    if kind in FIELDS:
        return to_record(value, anchors=anchors)
    if kind is tuple:
        return [each if type(each) is str else _plain(each, anchors) for each in value]
    if isinstance(value, datetime):
        return format_instant(value)
    return value.value if kind in (Status, RelativePath) else value


def from_record(record: Mapping[str, Any]) -> Pack:
    """The pack that a record describes.

    Raises:
        Failure: `migration_required` for another schema version, `malformed_pack` for anything else wrong.
    """
    top = _object(record, ("schema_version", *FIELDS[Pack]), "the front matter")
    _check_version(top.pop("schema_version"))
    top["sections"] = _each(top, "sections", "", _section)
    top["tags"] = _list(top, "tags", "")
    for field in MOMENTS:
        top[field] = _moment(top[field], field)
    return _built("", lambda: Pack(**top))


def _check_version(found: Any) -> None:
    if found == SCHEMA_VERSION and isinstance(found, int):
        return
    if isinstance(found, bool) or not isinstance(found, int | str | float):
        raise malformed("'schema_version' is missing or no number")
    raise Failure(
        Code.MIGRATION_REQUIRED,
        f"the pack has another schema version; migrate its file to version {SCHEMA_VERSION} or remove it",
        {"found": found, "supported": SCHEMA_VERSION},
    )


def _section(value: Any, at: str) -> Section:
    item = _object(value, FIELDS[Section], at)
    item["refs"], item["diagrams"] = _each(item, "refs", at, _ref), _each(item, "diagrams", at, _diagram)
    return _built(at, lambda: Section(**item))


def _ref(value: Any, at: str) -> Ref:
    item = _object(value, FIELDS[Ref], at)
    lines = _object(item["lines"], FIELDS[LineRange], f"{at}.lines")
    if item["anchor"] is not None:
        item["anchor"] = anchor_from(item["anchor"], f"{at}.anchor")

    def build() -> Ref:
        more = lines.pop("extra")
        place = {"path": RelativePath.parse(item["path"]), "lines": LineRange.stored(**lines)}
        extra = {**item["extra"], "lines": more} if more else item["extra"]
        return Ref(**{**item, **place, "extra": extra})

    return _built(at, build)


def _diagram(value: Any, at: str) -> Diagram:
    item = _object(value, FIELDS[Diagram], at)
    return _built(at, lambda: Diagram(**item))


def anchor_from(value: Any, at: str) -> Anchor:
    """The anchor that a record describes; `at` is where it stands, for the reason if it describes none."""
    item = _object(value, FIELDS[Anchor], at)
    item["extra"] = {name: each for name, each in item["extra"].items() if name not in FORMER}
    if item["symbol"] is not None:
        symbol = _object(item["symbol"], FIELDS[Symbol], f"{at}.symbol")
        item["symbol"] = _built(f"{at}.symbol", lambda: Symbol(**symbol))
    return _built(at, lambda: Anchor(**item))


def _moment(text: Any, field: str) -> datetime:
    if not isinstance(text, str):
        raise malformed(f"'{field}' is missing or no string")
    try:
        return parse_instant(text)
    except ValueError:
        raise malformed(f"'{field}' is no RFC 3339 moment") from None


def _object(value: Any, fields: Sequence[str], at: str) -> Record:
    """A mapping with all its fields, None for the absent ones, and those that we do not know as `extra`."""
    if not isinstance(value, Mapping):
        raise malformed(f"{at} must be a mapping")
    known: Record = {name: value.get(name) for name in fields}
    return {**known, "extra": {name: each for name, each in value.items() if name not in fields}}


def _list(item: Mapping[str, Any], field: str, at: str) -> list[Any]:
    value = item[field]
    if not isinstance(value, list | tuple):
        raise malformed(f"{_join(at, field)} is missing or no list")
    return list(value)


def _each(item: Mapping[str, Any], field: str, at: str, build: Callable[[Any, str], T]) -> tuple[T, ...]:
    parts = enumerate(_list(item, field, at))
    return tuple(build(part, f"{_join(at, field)}.{index}") for index, part in parts)


def _join(at: str, field: str) -> str:
    return f"{at}.{field}" if at else field


def _built(at: str, build: Callable[[], T]) -> T:
    try:
        return build()
    except Failure as failure:
        if failure.code is Code.MALFORMED_PACK:
            raise
        raise malformed(f"{at}: {failure.message}" if at else failure.message) from None


def malformed(reason: str) -> Failure:
    """A stored pack that breaks a rule; the store adds which file it is."""
    message = f"a stored pack is malformed: {reason}; mend or remove its file"
    return Failure(Code.MALFORMED_PACK, message, {"reason": reason})
