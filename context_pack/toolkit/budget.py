"""How large an answer may be, and the one way to make it smaller: the rows that fit, and how to go on.

Budgets are given in tokens and kept in bytes. Every model counts tokens by a vocabulary of its own, so a
token is taken to be 2.5 bytes: measured over code and prose, real tokenizers have more bytes in a token than
that (docs/architecture.md), and clients limit answers by characters anyway.

An answer is made once. Where its rows are too large together, `fit` keeps the first that fit; of a row that
alone is too large, or of the last one of a search, long texts lose their ends and lists their last items, and
the row says `truncated`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

R = TypeVar("R")

BYTES_PER_TOKEN = 2.5
ELLIPSIS = "…"
"""Ends a line that was cut."""
MORE = "more"
"""The first field of an answer that lacks rows: some clients cut off the end of a long answer."""
_MORE_BYTES = 240
_NAME_BYTES = 100
"""Members of a row that are this small say what it is (its id, path, kind) and are never cut."""
_LEAST_CUT = 400
"""In less room than this a row is left out rather than cut."""

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def room_of(tokens: int) -> int:
    """The bytes that an answer of so many tokens may have."""
    return int(tokens * BYTES_PER_TOKEN)


def tokens_of(text: str) -> int:
    """About as many tokens as a text has, rather too many than too few."""
    return -int(-size(text) // BYTES_PER_TOKEN)


def size(text: str) -> int:
    """The bytes of a text in UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def json_size(value: Any) -> int:
    """The bytes of a value as JSON."""
    return size(_encode(value))


def fit(
    body: Mapping[str, Any],
    name: str,
    room: int,
    rest: Callable[[int], str],
    *,
    start: int = 0,
    cut_last: bool = False,
) -> dict[str, Any]:
    """The body of an answer with as many of its rows, from `start` on, as fit into `room` bytes.

    Where some are missing, `more` says how many are here and, by `rest` of the number of the next one, how
    to see the others. `cut_last` shows the beginning of the first row that does not fit; without it rows come
    whole, so that nothing is lost between two pages.
    """
    rows = body[name]
    waiting = rows[start:]
    beside = json_size({**body, name: []})
    if beside + json_size(waiting) + len(waiting) + len(body) <= room:
        return {**body, name: waiting}
    taken = take_rows(waiting, room - beside - _MORE_BYTES, cut_last=cut_last)
    end = start + len(taken)
    which = f"{len(taken)}" if not start else f"{start + 1}-{end}"
    return {MORE: f"{which} of {len(rows)} {name} are here; {rest(end)}", **body, name: taken}


def take_rows(rows: Sequence[R], room: int, *, cut_last: bool = False) -> list[R]:
    """The first rows that fit, at least the beginning of one."""
    taken: list[R] = []
    for row in rows:
        used = json_size(row) + 2  # a comma and a line break
        if used > room:
            if not taken or (cut_last and room >= _LEAST_CUT):
                taken.append(shrunk(row, room - 2))
            break
        room -= used
        taken.append(row)
    return taken


def shrunk(value: Any, room: int) -> Any:
    """A JSON value in about `room` bytes: small members stay whole, the large ones share what is left."""
    if json_size(value) <= room:
        return value
    if isinstance(value, str):
        return cut_text(value, room, json_size)
    if isinstance(value, list | tuple):
        return take_rows(value, room, cut_last=True) if room > 2 else []
    if not isinstance(value, Mapping):
        return value
    result: dict[str, Any] = {**value, "truncated": True}
    sizes = {name: json_size(inner) for name, inner in value.items()}
    room -= json_size(dict.fromkeys(result, 0))
    for left, name in zip(range(len(sizes), 0, -1), sorted(sizes, key=lambda name: sizes[name]), strict=True):
        small = sizes[name] <= _NAME_BYTES and not isinstance(value[name], list | tuple | Mapping)
        result[name] = value[name] if small else shrunk(value[name], max(0, room) // left)
        room -= json_size(result[name])
    content = result.get("content")
    if isinstance(content, str) and isinstance(result.get("startLine"), int):
        result["endLine"] = result["startLine"] + content.count("\n")
    return result


def cut_text(text: str, most: int, measure: Callable[[str], int] = size) -> str:
    """The text in at most `most` bytes: its first lines, or `…` behind the beginning of a long one."""
    if measure(text) <= most:
        return text
    least = measure("")  # of JSON, two quotes
    start = text[: max(0, most)]
    while start and measure(start) + size(ELLIPSIS) > most:
        used = measure(start) + size(ELLIPSIS) - least
        start = start[: max(0, min(len(start) - 1, len(start) * max(0, most - least) // used))]
    lines, newline, _ = start.rpartition("\n")
    return lines if newline and 2 * len(lines) >= len(start) else start + ELLIPSIS
