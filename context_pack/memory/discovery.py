"""Discoveries, what somebody found out about the project, with the code that it is about; and sessions.

A discovery is named after its text: the same text, but for case, white space, marks of emphasis and the
punctuation at the end of words, gives the same id, so that two recorders of one thing meet in one file
without looking at any other. Operators inside a text count: `x >= 3` is not `x <= 3`.

The anchor of its code is plain data here: what it means is known to whoever implements `CodePlaces`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from attrs import evolve, field, frozen

from context_pack.kernel.errors import Failure, invalid
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.text import LineRange, sha256_hex
from context_pack.kernel.times import format_instant, parse_instant

PLACE_FIELDS = frozenset({"path", "start", "end", "symbol", "anchor", "text"})
MOST_TEXT = 8_000
"""A longer text is not kept with its discovery: then it is known that it changed, but not how."""
ID_CHARS = 8
"""So much of an id is shown, and enough to name a discovery."""
SYMBOL_CHARS = 500
_LINES = re.compile("([1-9][0-9]{0,9})(?:-([1-9][0-9]{0,9}))?")


@frozen
class CodePlace:
    """Lines of a file as they were when the discovery was recorded."""

    path: RelativePath
    lines: LineRange
    symbol: str | None = None
    anchor: Mapping[str, Any] = field(factory=dict, hash=False, repr=False)
    text: str | None = field(default=None, hash=False, repr=False)
    """What stood there, for the diff; not kept where it is long."""


@frozen
class CodeState:
    """What became of the code of a place: how it stands, in a word, where it is now, and why.

    Code that does what it did, with other comments, names or layout, is `cosmetic`.
    """

    state: str
    path: str | None = None
    lines: str | None = None
    reason: str | None = None
    diff: str | None = None
    """What has changed, where the text is known."""


def parse_lines(text: str) -> LineRange:
    """The range that `10-20` or `10` spells.

    Raises:
        Failure: `invalid_data`, field `lines`.
    """
    found = _LINES.fullmatch(text.strip())
    if found is None:
        raise invalid("'lines' must look like 10-20 or 10", "lines")
    try:
        return LineRange(int(found[1]), int(found[2] or found[1]))
    except Failure as failure:
        raise invalid(failure.message, "lines") from None


def place_record(place: CodePlace) -> dict[str, Any]:
    """A place as plain data."""
    record: dict[str, Any] = {"path": str(place.path), "start": place.lines.start, "end": place.lines.end}
    if place.symbol is not None:
        record["symbol"] = place.symbol
    record["anchor"] = dict(place.anchor)
    return record if place.text is None else {**record, "text": place.text}


def place_of_record(record: object) -> CodePlace:
    """The place that plain data spells.

    Raises:
        ValueError: it spells none; the words say why.
        Failure: `invalid_data`, for its path or lines.
    """
    if not isinstance(record, Mapping):
        raise ValueError("'code' must be a mapping")
    if unknown := sorted(set(record) - PLACE_FIELDS):
        raise ValueError(f"the field 'code.{unknown[0]}' is not known")
    symbol, anchor = record.get("symbol"), record.get("anchor")
    if symbol is not None and not isinstance(symbol, str):
        raise ValueError("'code.symbol' must be text")
    if not isinstance(anchor, Mapping):
        raise ValueError("'code.anchor' must be a mapping")
    text = record.get("text")
    if text is not None and not isinstance(text, str):
        raise ValueError("'code.text' must be text")
    lines = LineRange.stored(record.get("start"), record.get("end"))
    return CodePlace(RelativePath.parse(record.get("path")), lines, symbol, dict(anchor), text)  # type: ignore[arg-type]


def place_shown(place: CodePlace, state: CodeState | None) -> dict[str, Any]:
    """A place for people: where it was pointed at, and how its code stands, if that was asked."""
    record: dict[str, Any] = {"path": str(place.path), "lines": str(place.lines)}
    if place.symbol is not None:
        record["symbol"] = place.symbol
    if state is None:
        return record
    now = {"path": state.path, "lines": state.lines}
    moved = (
        {}
        if state.path is None or now == {"path": record["path"], "lines": record["lines"]}
        else {"now": now}
    )
    why = {} if state.reason is None else {"reason": state.reason}
    return {**record, "state": state.state, **moved, **why}


LEAST_CHARS, MOST_CHARS = 10, 1000
MODULE_CHARS = 200
VERSION = 1
FIELDS = frozenset(
    {"version", "id", "type", "module", "session", "date", "last_seen", "times", "superseded_by", "code"}
)

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_UNWANTED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_EMPHASIS = re.compile("[`*\"'“”‘’«»]")
# Full-width marks are plain ones once normalised; the stops and commas of other scripts are not.
_WORD_END = re.compile(r"[.,;:!?…。、।॥؟،؛۔።]+(?=\s|$)")


class DiscoveryType(StrEnum):
    """The type of a discovery."""

    PATTERN = "pattern"
    RULE = "rule"
    DECISION = "decision"
    ISSUE = "issue"


def uuid_of(token: bytes, version: int = 4) -> str:
    """Sixteen bytes in the shape of a UUID of that version."""
    if len(token) < 16:
        raise ValueError("a UUID is made of sixteen bytes")
    value = bytearray(token[:16])
    value[6] = value[6] & 0x0F | version << 4
    value[8] = value[8] & 0x3F | 0x80
    digits = value.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def is_id(text: str) -> bool:
    """Whether a text has the shape of an id of a discovery or a session."""
    return _ID.fullmatch(text) is not None


def clean(text: str) -> str:
    """A content as it is kept: trimmed, with plain line feeds, no control characters, 10 to 1000 characters.

    Raises:
        Failure: `invalid_data`, field `content`.
    """
    kept = text.replace("\r\n", "\n").strip()
    if _UNWANTED.search(kept):
        raise invalid("'content' must not hold control characters", "content")
    if not LEAST_CHARS <= len(kept) <= MOST_CHARS:
        raise invalid(f"'content' must have {LEAST_CHARS} to {MOST_CHARS} characters, trimmed", "content")
    return kept


def clean_module(text: str | None) -> str | None:
    """A module's name on one line, or None when nothing is left of it.

    Raises:
        Failure: `invalid_data`, field `module`.
    """
    kept = (text or "").strip()
    if _UNWANTED.search(kept) or "\n" in kept or len(kept) > MODULE_CHARS:
        raise invalid(f"'module' must be one line of at most {MODULE_CHARS} characters", "module")
    return kept or None


def normalised(content: str) -> str:
    """The text in normal form: equal for texts with the same words.

    A text of nothing but marks has no words to compare: there the marks themselves count.
    """
    folded = unicodedata.normalize("NFKC", content).casefold()
    words = _WORD_END.sub(" ", _EMPHASIS.sub("", folded)).split()
    return " ".join(words or folded.split())


def id_of(content: str, attempt: int = 0) -> str:
    """The id of a text; later attempts are for when a file of that name says something else by now."""
    digest = sha256_hex(f"{attempt}\n{normalised(content)}")
    return uuid_of(bytes.fromhex(digest), version=8)


@frozen(kw_only=True)
class Discovery:
    """One thing that was found out, when and in which session, and how often it was said again."""

    id: str
    type: DiscoveryType = field(converter=DiscoveryType)
    content: str = field(converter=clean)
    module: str | None = field(default=None, converter=clean_module)
    session: str
    date: datetime
    last_seen: datetime
    times: int = 1
    superseded_by: str | None = None
    author: str | None = field(default=None, eq=False)
    """Who recorded or changed it last, where a team's store knows it; not part of the discovery."""
    worktree: str | None = field(default=None, eq=False)
    """The other worktree of the repository that it was read from; not part of the discovery."""
    code: CodePlace | None = None

    def corrected(self, said: Discovery) -> Discovery:
        """This discovery with the words and labels of another: its id, origin and count stay."""
        return evolve(
            self,
            type=said.type,
            content=said.content,
            module=said.module or self.module,
            code=said.code or self.code,
            last_seen=said.date,
        )

    def again(self, later: Discovery) -> Discovery:
        """This discovery after it was recorded again: its text and origin stay, the newer labels win."""
        return evolve(
            self,
            type=later.type,
            module=later.module or self.module,
            code=later.code or self.code,
            last_seen=max(self.last_seen, later.date),
            times=self.times + 1,
        )


def to_record(discovery: Discovery) -> dict[str, Any]:
    """The front matter of a discovery; the content is the body of its file."""
    record: dict[str, Any] = {"version": VERSION, "id": discovery.id, "type": discovery.type.value}
    if discovery.module is not None:
        record["module"] = discovery.module
    record["session"] = discovery.session
    record["date"] = format_instant(discovery.date)
    record["last_seen"] = format_instant(discovery.last_seen)
    record["times"] = discovery.times
    if discovery.superseded_by is not None:
        record["superseded_by"] = discovery.superseded_by
    if discovery.code is not None:
        record["code"] = place_record(discovery.code)
    return record


def from_record(record: Mapping[str, Any], content: str) -> Discovery:
    """The discovery that a file spells.

    Raises:
        ValueError: it spells none; the words say why.
        Failure: `invalid_data`, for its content or module.
    """
    if unknown := sorted(set(record) - FIELDS):
        raise ValueError(f"the field '{unknown[0]}' is not known")
    if record.get("version") != VERSION:
        raise ValueError(f"'version' is not {VERSION}")
    texts = {name: record.get(name) for name in ("id", "type", "session", "date", "last_seen")}
    for name, value in texts.items():
        if not isinstance(value, str):
            raise ValueError(f"'{name}' must be text")
    module, times = record.get("module"), record.get("times")
    if module is not None and not isinstance(module, str):
        raise ValueError("'module' must be text")
    if type(times) is not int or times < 1:
        raise ValueError("'times' must be a whole number of at least 1")
    superseded = record.get("superseded_by")
    for name, value in (("id", texts["id"]), ("superseded_by", superseded)):
        if value is not None and not is_id(str(value)):
            raise ValueError(f"'{name}' is not an id")
    if texts["type"] not in tuple(DiscoveryType):
        raise ValueError(f"'type' must be one of: {', '.join(DiscoveryType)}")
    return Discovery(
        id=str(texts["id"]),
        type=DiscoveryType(texts["type"]),
        content=content,
        module=module,
        session=str(texts["session"]),
        date=parse_instant(str(texts["date"])),
        last_seen=parse_instant(str(texts["last_seen"])),
        times=times,
        superseded_by=superseded,
        code=None if record.get("code") is None else place_of_record(record["code"]),
    )


# -- sessions: what one connection did, in numbers and names; never what was said in it

MOST_NAMES = 1000
"""How many different files, packs or tools one session remembers."""
SHOWN_NAMES = 40


@frozen(kw_only=True)
class Session:
    """One connection: when it was, which tools it called how often, which files and packs it looked at."""

    id: str
    started: datetime
    ended: datetime | None = None
    tools: Mapping[str, int] = field(factory=dict)
    files: tuple[str, ...] = ()
    packs: tuple[str, ...] = ()

    def called(self, tool: str, times: int = 1) -> Session:
        """After more calls of a tool."""
        if tool not in self.tools and len(self.tools) >= MOST_NAMES:
            return self
        return evolve(self, tools={**self.tools, tool: self.tools.get(tool, 0) + times})

    def read(self, path: str) -> Session:
        """After a file was read."""
        files = _with(self.files, path)
        return self if files is self.files else evolve(self, files=files)

    def touched(self, pack: str) -> Session:
        """After a pack was read or changed."""
        packs = _with(self.packs, pack)
        return self if packs is self.packs else evolve(self, packs=packs)


def _with(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return names if name in names or len(names) >= MOST_NAMES else (*names, name)


def summary(session: Session) -> str:
    """A session in a few sentences: what is shown and searched."""
    began = format_instant(session.started, whole_seconds=True)
    end = "not ended" if session.ended is None else format_instant(session.ended, whole_seconds=True)
    lines = [f"Session from {began} to {end}."]
    if session.tools:
        calls = (f"{tool} {count}" for tool, count in sorted(session.tools.items()))
        lines.append(f"Tools called: {', '.join(calls)}.")
    for what, names in (("Files read", session.files), ("Packs touched", session.packs)):
        if names:
            more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
            lines.append(f"{what}: {', '.join(names[:SHOWN_NAMES])}{more}.")
    return "\n".join(lines)
