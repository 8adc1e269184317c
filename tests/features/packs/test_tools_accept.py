"""`accept`: changed refs are anchored anew where they are found, and keep their words."""

from __future__ import annotations

from typing import Any

import pytest

NAMES = ("one", "two", "six")
CODE = "\n\n".join(f"def {name}(value):\n    first_{name}(value)\n    return value" for name in NAMES) + "\n"


@pytest.fixture
def shop(new_desk: Any) -> tuple[Any, str]:
    """A desk with a ref to each of three functions, two of which have changed and moved."""
    desk = new_desk({"src/app.py": CODE})
    pack = desk.create()
    desk.section(pack)
    desk.section(pack, "more")
    for number, name in enumerate(NAMES):
        start = 1 + 4 * number
        desk.ref(pack, name, start, start + 2, ref_title=f"T {name}", ref_why="W", group="G")
    desk.files["src/app.py"] = "import os\n\n" + CODE.replace("return value", "return value + 1", 2)
    return desk, pack


def states(desk: Any, pack: str) -> dict[str, str]:
    refs = desk.store.get(pack).refs
    return {ref.key: desk.state(pack, index)["state"] for index, (_, ref) in enumerate(refs)}


@pytest.mark.clause("AN-13")
def test_accept_anchors_every_changed_ref_where_it_is_found(shop: tuple[Any, str]) -> None:
    desk, pack = shop
    assert states(desk, pack) == {"one": "changed", "two": "changed", "six": "moved"}
    answer = desk.change(pack, "accept")
    assert [one["ref"] for one in answer["accepted"]] == ["one", "two"]
    assert answer["accepted"][0]["from"] == {"path": "src/app.py", "lines": {"start": 1, "end": 3}}
    assert answer["accepted"][0]["lines"] == {"start": 3, "end": 5}
    assert states(desk, pack) == {"one": "exact", "two": "exact", "six": "moved"}
    ref = desk.input(action="get", id=pack)["sections"][0]["refs"][0]
    assert (ref["title"], ref["why"], ref["group"]) == ("T one", "W", "G")
    again = desk.change(pack, "accept")
    assert (again["accepted"], again["revision"]) == ([], answer["revision"])


@pytest.mark.clause("AN-13")
@pytest.mark.parametrize("names", [["main/two"], ["two", "six"]])
def test_accept_takes_only_the_refs_that_are_named(shop: tuple[Any, str], names: list[str]) -> None:
    desk, pack = shop
    desk.change(pack, "accept", refs=names)
    after = states(desk, pack)
    assert (after["one"], after["two"]) == ("changed", "exact")
    assert after["six"] == ("exact" if "six" in names else "moved")


@pytest.mark.clause("AN-13")
def test_a_ref_that_is_not_there_or_not_found_is_refused_and_nothing_changes(shop: tuple[Any, str]) -> None:
    desk, pack = shop
    call = {"action": "accept", "id": pack, "expected_revision": desk.store.get(pack).revision}
    assert desk.refused("input", **call, refs=["one", "none"])["code"] == "not_found"
    one, _, six = desk.files["src/app.py"].rpartition("import os\n\n")[2].split("\n\n")
    desk.files["src/app.py"] = f"{one}\n\nNAMES = (1, 2, 3)\n\n{six}"
    error = desk.refused("input", **call, refs=["one", "two"])
    assert (error["code"], [one["ref"] for one in error["details"]["refs"]]) == ("stale_ref", ["two"])
    assert error["message"] == "1 ref cannot be relied on; upsert or delete each"
    desk.ref(pack, "one", 1, 1, section_key="more")
    call["expected_revision"] += 1
    assert desk.refused("input", **call, refs=["one"])["details"]["field"] == "refs"
    assert "one" in states(desk, pack)
