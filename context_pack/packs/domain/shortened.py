"""A record in an answer that it does not fit: what can be left out, and how to read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from context_pack.packs.domain.budget import ELLIPSIS
from context_pack.packs.domain.record import Record
from context_pack.toolkit.rows import leading, weight

MOST_CHARS = 200
"""So much of a long text is shown."""
PARTS = ("refs", "diagrams")
READ_ALL = "'output' with mode compact reads all, page by page"
ENVELOPE_BYTES = 300
"""Room for the words on what is missing, and for what an answer holds beside the pack."""


def shortened(record: Record, room: int) -> Record:
    """The record in `room` bytes: long descriptions are cut, refs and diagrams are left out from the end.

    Where even that does not fit, the last sections are left out too.
    `more`, the first field, says how many are missing; a record that fits has none.
    """
    if weight(record) + ENVELOPE_BYTES <= room:
        return record
    room -= ENVELOPE_BYTES + weight({**record, "sections": []})
    sections: list[Record] = []
    for section in record["sections"]:
        bare = {**section, "description": _beginning(section["description"]), **{kind: [] for kind in PARTS}}
        room -= weight(bare) + 1
        if room < 0:
            break
        sections.append(bare)
    for section, whole in zip(sections, record["sections"], strict=False):
        for kind in PARTS:
            for part in whole[kind]:
                room -= weight(part) + 1
                if room >= 0:
                    section[kind].append(part)
    return {"more": _missing(sections, record), **record, "sections": sections}


def page_of_rows(record: Record, rows: str, start: int, room: int) -> Record:
    """The record in `room` bytes with its rows from `start` on, as many as fit; texts of a huge one are cut.

    `more`, the first field, says which rows are here and how to read on; the last page has none.
    """
    whole = record[rows]
    record = {**record, rows: whole[start:]}
    if weight(record) + ENVELOPE_BYTES <= room:
        return record
    shown = rows_within(record, rows, room) or [_cut(row) for row in whole[start : start + 1]]
    end = start + len(shown)
    more = f"only {rows} {start + 1}-{end} of {len(whole)} are here; continue with offset {end}"
    return {"more": more, **record, rows: shown}


def first_rows(record: Record, rows: str, room: int, rest: str) -> Record:
    """The record in `room` bytes: the long texts of its rows are cut, then rows are left out from the end.

    `more`, the first field, says how many are here and, by `rest`, how to read all; a record that fits has
    none. A single part in place of the rows is cut and stays.
    """
    if weight(record) + ENVELOPE_BYTES <= room:
        return record
    whole = record[rows]
    if not isinstance(whole, list):
        return {"more": f"the parts and long texts of {rows} are cut; {rest}", **record, rows: _cut(whole)}
    shown = rows_within({**record, rows: list(map(_cut, whole))}, rows, room)
    more = f"only {len(shown)} of {len(whole)} {rows} are here, long texts cut; {rest}"
    return {"more": more, **record, rows: shown}


def rows_within(record: Record, rows: str, room: int) -> list[Any]:
    """The first rows of a record that fit with what it holds beside them."""
    return leading(record[rows], room - ENVELOPE_BYTES - weight({**record, rows: []}))


def _cut(row: Any) -> Any:
    """A row with the beginnings of its texts, and without the parts of a section."""
    if isinstance(row, Mapping):
        return {key: [] if key in PARTS else _cut(value) for key, value in row.items()}
    return _beginning(row) if isinstance(row, str) else row


def _beginning(text: str | None) -> str | None:
    return text if text is None or len(text) <= MOST_CHARS else text[:MOST_CHARS] + ELLIPSIS


def _missing(shown: list[Record], record: Record) -> str:
    """How much of the record is shown, and how to read the rest."""
    whole = record["sections"]
    counts = [f"{_count(shown, kind)} of {_count(whole, kind)} {kind}" for kind in PARTS]
    words = ", ".join([f"{len(shown)} of {len(whole)} sections", *counts])
    return f"only {words} are here; {READ_ALL}"


def _count(sections: list[Record], kind: str) -> int:
    return sum(len(section[kind]) for section in sections)
