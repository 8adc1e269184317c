"""The history of a pack: its last revisions are kept and compared."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.clause("PK-70")
def test_a_diff_names_what_was_added_removed_re_anchored_and_reworded(desk: Any) -> None:
    pack = desk.create(title="T")
    desk.section(pack)
    desk.ref(pack, "one", 1, 2)
    desk.ref(pack, "two", 3, 4)
    last = desk.input(action="diff", id=pack)
    added = {"what": "added", "part": "ref", "name": "main/two", "details": ""}
    assert last == {"id": pack, "from": 3, "to": 4, "changes": [added]}
    desk.ref(pack, "one", 5, 6, ref_why="W")
    desk.change(pack, "delete_ref", section_key="main", ref_key="two")
    desk.change(pack, "set_meta", title="Other")
    found = desk.input(action="diff", id=pack, from_revision=4)
    assert [(one["what"], one["part"], one["name"], one["details"]) for one in found["changes"]] == [
        ("words", "pack", "", "title"),
        ("removed", "ref", "main/two", ""),
        ("re-anchored", "ref", "main/one", "src/app.py:1-2 to src/app.py:5-6"),
        ("words", "ref", "main/one", "why"),
    ]
    back = desk.input(action="diff", id=pack, from_revision=4, to_revision=2)["changes"]
    assert [one["what"] for one in back] == ["removed", "removed"]
    desk.files["src/app.py"] = f"import os\n{desk.files['src/app.py']}"
    desk.ref(pack, "one", 5, 6, ref_why="W")
    (place,) = desk.input(action="diff", id=pack)["changes"]
    assert (place["what"], place["details"]) == ("re-anchored", "src/app.py:5-6, as its code is now")
    error = desk.refused("input", action="diff", id=pack, from_revision=99)
    assert (error["code"], error["details"]["revisions"]) == ("not_found", [1, 2, 3, 4, 5, 6, 7, 8])
