"""Rows of an answer within its budget: trailing rows lose their content first, then rows go from the end.

The best row is what was asked for: bare rows behind it never leave it less than a third of the room. A row
keeps as many whole lines of its content as there is room for, of a very long line its beginning, and its
`endLine` says how far they go.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

R = TypeVar("R")
Row = dict[str, Any]

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
TRUNCATED = ',"truncated":true'


def as_json(value: Any) -> bytes:
    """A value as compact JSON."""
    return _encode(value).encode("utf-8", "surrogatepass")


def weight(value: Any) -> int:
    """The bytes of a value as JSON."""
    return len(_encode(value).encode("utf-8", "surrogatepass"))


def fitted(rows: Sequence[Row], most: int, heads: int = 1) -> tuple[list[Row], bool]:
    """The rows in at most `most` bytes, and whether rows had to go; the first rows matter most.

    `heads` of them are the best of their question.
    """
    if weight(rows) <= most + 1:  # each row and a comma, but for the last, in brackets
        return list(rows), False
    whole = [weight(row) + 1 for row in rows]
    bare = [weight({**row, "content": ""}) + 1 + len(TRUNCATED) for row in rows]
    shares = [max(0, min(full - empty, most // (3 * heads))) for full, empty in zip(whole, bare, strict=True)]
    kept = len(rows)
    while kept > 1 and sum(bare[:kept]) + sum(shares[: min(heads, kept)]) > most:
        kept -= 1
    kept -= kept == 1 and bare[0] > most
    room = most - sum(bare[:kept])
    found: list[Row] = []
    for row, full, empty in zip(rows[:kept], whole, bare, strict=False):
        if room >= 0 and full - empty <= room:
            room -= full - empty
            found.append(row)
        else:
            found.append(_cut(row, room))
            room = -1  # whoever comes after one that was cut has nothing
    return found, kept < len(rows)


def leading(rows: Iterable[R], room: int) -> list[R]:
    """As many of the first rows as there is room for."""
    shown: list[R] = []
    for row in rows:
        room -= weight(row) + 1
        if room < 0:
            break
        shown.append(row)
    return shown


def _cut(row: Row, room: int) -> Row:
    """The row with as many lines of its content as fit, and the beginning of one that is most of the room."""
    shown: list[str] = []
    left = room
    for line in row["content"].split("\n"):
        if weight(line) > left:
            start = beginning(line, left)
            if start and left > room // 2:
                shown.append(start)
            break
        left -= weight(line)
        shown.append(line)
    cut = {**row, "content": "\n".join(shown), "truncated": True}
    if shown and "startLine" in row:
        cut["endLine"] = row["startLine"] + len(shown) - 1
    return cut


def beginning(line: str, most: int) -> str:
    """As much of a line as fits, roughly."""
    start = line[: max(0, most)]
    while start and weight(start) > most:
        start = start[: len(start) * 3 // 4]
    return start
