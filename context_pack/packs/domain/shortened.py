"""A pack's record in an answer that it does not fit: what can be left out, and how to read it."""

from __future__ import annotations

from context_pack.packs.domain.budget import ELLIPSIS
from context_pack.packs.domain.record import Record
from context_pack.toolkit.rows import weight

MOST_CHARS = 200
"""So much of a description is shown."""
PARTS = ("refs", "diagrams")
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


def _beginning(text: str | None) -> str | None:
    return text if text is None or len(text) <= MOST_CHARS else text[:MOST_CHARS] + ELLIPSIS


def _missing(shown: list[Record], record: Record) -> str:
    """How much of the record is shown, and how to read the rest."""
    whole = record["sections"]
    counts = [f"{_count(shown, kind)} of {_count(whole, kind)} {kind}" for kind in PARTS]
    words = ", ".join([f"{len(shown)} of {len(whole)} sections", *counts])
    return f"only {words} are here; 'output' with mode compact reads all, page by page"


def _count(sections: list[Record], kind: str) -> int:
    return sum(len(section[kind]) for section in sections)
