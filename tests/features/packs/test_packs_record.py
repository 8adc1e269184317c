"""The model refuses what breaks a rule, whoever builds it; a record carries a pack there and back."""

from __future__ import annotations

import copy
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from context_pack.kernel.paths import RelativePath
from context_pack.kernel.text import LineRange
from context_pack.packs.anchors import SourceText, anchor_of
from context_pack.packs.changes import put_ref
from context_pack.packs.model import Diagram, Pack, Ref, Section, Status
from context_pack.packs.record import from_record, to_record

NOW = datetime(2026, 1, 2, 3, 4, 5, 678_900, tzinfo=UTC)
SOURCE = SourceText("".join(f"line {number}\n" for number in range(1, 20)))


def a_ref(key: str = "ref", **more: Any) -> Ref:
    """A ref with an anchor."""
    lines = LineRange(5, 7)
    return Ref(key, RelativePath("src/app.py"), lines, anchor=anchor_of(SOURCE, lines), **more)


def a_pack(**more: Any) -> Pack:
    """A pack with everything in it."""
    section = Section("main", "Main", "text\nmore", [a_ref(), a_ref("two", title="T", why="W", group="G")])
    other = Section("other", "Other", None, [], [Diagram("dia", "D", "graph TD\n a-->b", "why")])
    fields: dict[str, Any] = {
        "id": "pk_abcdefgh",
        "name": "notes",
        "title": "Title",
        "brief": "Brief",
        "status": Status.DRAFT,
        "tags": ["x", "y"],
        "sections": [section, other],
        "revision": 3,
        "created_at": NOW,
        "updated_at": NOW + timedelta(seconds=1),
        "expires_at": NOW + timedelta(days=1),
    }
    return Pack(**{**fields, **more})


def at(record: dict[str, Any], *path: Any) -> Any:
    """A part of a record."""
    part: Any = record
    for step in path:
        part = part[step]
    return part


@pytest.mark.clause("ST-63")
def test_fields_of_a_newer_version_come_back_as_they_were() -> None:
    record = copy.deepcopy(to_record(a_pack()))
    places: list[tuple[Any, ...]] = [
        (),
        ("sections", 0),
        ("sections", 0, "refs", 0),
        ("sections", 0, "refs", 0, "anchor"),
        ("sections", 1, "diagrams", 0),
    ]
    for number, path in enumerate(places):
        at(record, *path)["newer"] = {"number": number, "list": [1, "two", None], "extra": True}
    pack = from_record(record)
    assert to_record(pack) == record
    assert pack == a_pack()
    assert "newer" not in str(to_record(pack, anchors=False))
    ((section, ref), *_) = pack.refs
    again = to_record(put_ref(pack, section.key, Ref(ref.key, ref.path, ref.lines)))
    assert at(again, "sections", 0, "refs", 0)["newer"]["number"] == 2
