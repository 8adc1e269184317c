"""The model refuses what breaks a rule, whoever builds it; a record carries a pack there and back."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from sample_packs import full_pack

from context_pack.packs.changes import put_ref
from context_pack.packs.model import Ref
from context_pack.packs.record import from_record, to_record


def at(record: dict[str, Any], *path: Any) -> Any:
    part: Any = record
    for step in path:
        part = part[step]
    return part


@pytest.mark.clause("ST-63")
def test_fields_of_a_newer_version_come_back_as_they_were() -> None:
    record = copy.deepcopy(to_record(full_pack()))
    places: list[tuple[Any, ...]] = [
        (),
        ("sections", 0),
        ("sections", 0, "refs", 0),
        ("sections", 0, "refs", 0, "anchor"),
        ("sections", 0, "diagrams", 0),
    ]
    for number, path in enumerate(places):
        at(record, *path)["newer"] = {"number": number, "list": [1, "two", None], "extra": True}
    pack = from_record(record)
    assert to_record(pack) == record
    assert pack == full_pack()
    assert "newer" not in str(to_record(pack, anchors=False))
    ((section, ref), *_) = pack.refs
    again = to_record(put_ref(pack, section.key, Ref(ref.key, ref.path, ref.lines)))
    assert at(again, "sections", 0, "refs", 0)["newer"]["number"] == 2
