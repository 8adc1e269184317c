"""The code that a discovery is about: lines of a file, and what is remembered of them.

The anchor is plain data here: what it means is known to whoever implements `CodePlaces`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from context_pack.kernel.errors import Failure, invalid
from context_pack.kernel.lines import LineRange
from context_pack.kernel.paths import RelativePath

FIELDS = frozenset({"path", "start", "end", "symbol", "anchor"})
SYMBOL_CHARS = 500
_LINES = re.compile("([1-9][0-9]{0,9})(?:-([1-9][0-9]{0,9}))?")


@frozen
class CodePlace:
    """Lines of a file as they were when the discovery was recorded."""

    path: RelativePath
    lines: LineRange
    symbol: str | None = None
    anchor: Mapping[str, Any] = field(factory=dict, hash=False, repr=False)


@frozen
class CodeState:
    """What became of the code of a place: how it stands, in a word, where it is now, and why."""

    state: str
    path: str | None = None
    lines: str | None = None
    reason: str | None = None


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


def to_record(place: CodePlace) -> dict[str, Any]:
    """A place as plain data."""
    record: dict[str, Any] = {"path": str(place.path), "start": place.lines.start, "end": place.lines.end}
    if place.symbol is not None:
        record["symbol"] = place.symbol
    return {**record, "anchor": dict(place.anchor)}


def from_record(record: object) -> CodePlace:
    """The place that plain data spells.

    Raises:
        ValueError: it spells none; the words say why.
        Failure: `invalid_data`, for its path or lines.
    """
    if not isinstance(record, Mapping):
        raise ValueError("'code' must be a mapping")
    if unknown := sorted(set(record) - FIELDS):
        raise ValueError(f"the field 'code.{unknown[0]}' is not known")
    symbol, anchor = record.get("symbol"), record.get("anchor")
    if symbol is not None and not isinstance(symbol, str):
        raise ValueError("'code.symbol' must be text")
    if not isinstance(anchor, Mapping):
        raise ValueError("'code.anchor' must be a mapping")
    lines = LineRange.stored(record.get("start"), record.get("end"))
    return CodePlace(RelativePath.parse(record.get("path")), lines, symbol, dict(anchor))  # type: ignore[arg-type]


def shown(place: CodePlace, state: CodeState | None) -> dict[str, Any]:
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
