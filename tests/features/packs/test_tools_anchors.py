"""Anchors through the tools: each state, what it renders, and what `verify` and `repair` make of it."""

from __future__ import annotations

from typing import Any

import pytest

from context_pack.packs.anchors import digest_of
from context_pack.packs.record import to_record

FUNCTION = ["def load(path):", "    with open(path) as file:", "        return file.read()"]
AROUND = [f"constant_{number} = {number}" for number in range(10)]


def text_of(*parts: list[str]) -> str:
    """Lines as a file."""
    return "".join(line + "\n" for part in parts for line in part)


@pytest.fixture
def anchored(new_desk: Any) -> tuple[Any, str]:
    """A desk whose pack has one ref to a function in the middle of a file."""
    desk = new_desk({"src/app.py": text_of(AROUND[:5], FUNCTION, AROUND[5:])})
    return desk, desk.pack_with_ref(6, 8)


@pytest.mark.clause("AN-01")
def test_upsert_ref_stores_a_digest_and_keeps_the_text_beside(anchored: tuple[Any, str]) -> None:
    desk, pack = anchored
    (ref,) = to_record(desk.store.get(pack))["sections"][0]["refs"]
    symbol = {"kind": "function", "name": "load", "part": "all", "signature": "def load(path)"}
    assert ref["anchor"] == {"digest": digest_of("\n".join(FUNCTION)), "lines": 3, "symbol": symbol}
    assert "anchor" not in str(desk.input(action="get", id=pack))
    assert "anchor" not in desk.output(id=pack)


@pytest.mark.clause("AN-02")
def test_line_endings_do_not_matter_and_everything_else_does(anchored: tuple[Any, str]) -> None:
    desk, pack = anchored
    lines = desk.files["src/app.py"]
    desk.files["src/app.py"] = lines.replace("\n", "\r\n")
    assert desk.state(pack)["state"] == "exact"
    assert "- lines: 6-8\n" in desk.output(id=pack)
    for changed in ("def load(path): ", "def  load(path):", "def load(path):\t", "def load(path):\r\r"):
        desk.files["src/app.py"] = lines.replace("def load(path):", changed)
        assert desk.state(pack)["state"] == "cosmetic", changed


@pytest.mark.clause("AN-05", "AN-12")
def test_moved_code_is_followed(anchored: tuple[Any, str]) -> None:
    desk, pack = anchored
    desk.files["src/app.py"] = text_of(["import os", ""], AROUND[:5], FUNCTION, AROUND[5:])
    text = desk.output(id=pack)
    assert "- path: src/app.py\n- lines: 8-10 (moved from 6-8)\n" in text
    assert "   8: def load(path):\n" in text
    assert "changed since anchored" not in text
    state = desk.state(pack)
    assert (state["state"], state["reason"]) == ("moved", None)
    assert state["lines"] == {"start": 6, "end": 8}
    assert state["found"] == {"path": "src/app.py", "lines": {"start": 8, "end": 10}}


@pytest.mark.clause("AN-06")
def test_code_in_a_moved_file_is_followed(anchored: tuple[Any, str]) -> None:
    desk, pack = anchored
    desk.files["lib/deep/app.py"] = desk.files.pop("src/app.py")
    text = desk.output(id=pack)
    assert "- path: lib/deep/app.py (moved from src/app.py)\n- lines: 6-8\n" in text
    desk.files["lib/deep/app.py"] = text_of(FUNCTION)
    assert "- path: lib/deep/app.py (moved from src/app.py)\n- lines: 1-3 (moved from 6-8)\n" in desk.output(
        id=pack
    )
    assert desk.state(pack)["found"] == {"path": "lib/deep/app.py", "lines": {"start": 1, "end": 3}}


@pytest.mark.clause("AN-07")
def test_changed_code_is_shown_where_it_is_most_alike(anchored: tuple[Any, str]) -> None:
    desk, pack = anchored
    edited = [FUNCTION[0], "    # now with a comment", *FUNCTION[1:]]
    desk.files["src/app.py"] = text_of(["import os", ""], AROUND[:5], edited, AROUND[5:])
    text = desk.output(id=pack)
    assert (
        "- lines: 8-11 (moved from 6-8)\n\n> changed since anchored: 1 of 4 lines, only comments\n\n"
        "```python\n   8: def load(path):\n" in text
    )
    state = desk.state(pack)
    assert (state["state"], state["reason"]) == ("cosmetic", "changed since anchored")
    assert state["found"]["lines"] == {"start": 8, "end": 11}


@pytest.mark.clause("AN-07", "AN-10")
def test_unrelated_code_is_not_shown_and_on_request_what_was_there(
    anchored: tuple[Any, str],
) -> None:
    desk, pack = anchored
    desk.files["src/app.py"] = "".join(f"unrelated {number}\n" for number in range(1, 30))
    text = desk.output(id=pack)
    assert "- lines: 6-8\n\n> stale ref: neither its text nor its definition is found" in text
    assert "unrelated" not in text
    assert "def load" not in text
    text = desk.output(id=pack, mode="diff")
    told = "> stale ref: neither its text nor its definition is found\n\n"
    told += "> what it was when it was anchored, and is nowhere now:\n\n```python\n   6: def load(path):\n"
    assert told in text
    other = ["def save(path, data):", "    path.write(data)", "    return None"]
    desk.files["src/app.py"] = text_of(AROUND[:5], other, AROUND[5:])
    assert desk.state(pack)["state"] == "stale"


@pytest.mark.clause("AN-10", "AN-01", "AN-02")
def test_a_ref_to_code_that_is_not_written_yet_waits_for_it(desk: Any) -> None:
    pack = desk.create()
    desk.section(pack)
    desk.ref(pack, "soon", 2, 3, path="src/soon.py")
    assert desk.state(pack)["state"] == "stale"
    assert "> stale ref: file not found" in desk.output(id=pack)
    desk.files["src/soon.py"] = "one\n"
    assert desk.state(pack)["reason"] == "lines 2-3 are past the end of the file (1 line)"
    desk.files["src/soon.py"] = "one\ntwo\nthree\n"
    assert desk.state(pack)["state"] == "unanchored"
    assert "- lines: 2-3\n\n```python\n   2: two\n   3: three\n```" in desk.output(id=pack)
    desk.change(pack, "set_status", status="finalized")
    assert desk.state(pack)["state"] == "exact"
    desk.files["src/soon.py"] = "zero\none\ntwo\nthree\n"
    assert desk.state(pack)["state"] == "moved"


@pytest.mark.clause("AN-13")
def test_repair_follows_what_moved_and_touches_nothing_else(anchored: tuple[Any, str]) -> None:
    desk, pack = anchored
    desk.ref(pack, "edge", 1, 1)
    desk.ref(pack, "edited", 11, 12, ref_title="E")
    desk.ref(pack, "gone", 1, 1, path="gone.py")
    desk.files["src/app.py"] = text_of(
        ["import os", ""], AROUND[:5], FUNCTION, AROUND[5:7], ["x = 1"], AROUND[8:]
    )
    before = {ref.key: ref for ref in desk.store.get(pack).sections[0].refs}
    states = [desk.state(pack, number)["state"] for number in range(4)]
    assert states == ["moved", "moved", "changed", "stale"]
    answer = desk.change(pack, "repair")
    assert answer["revision"] == 7
    assert answer["repaired"][0] == {
        "section": "main",
        "ref": "ref",
        "path": "src/app.py",
        "lines": {"start": 8, "end": 10},
        "from": {"path": "src/app.py", "lines": {"start": 6, "end": 8}},
    }
    assert [one["ref"] for one in answer["repaired"]] == ["ref", "edge"]
    after = {ref.key: ref for ref in desk.store.get(pack).sections[0].refs}
    assert (after["edited"], after["gone"]) == (before["edited"], before["gone"])
    assert after["ref"].anchor.digest == before["ref"].anchor.digest
    states = [desk.state(pack, number)["state"] for number in range(4)]
    assert states == ["exact", "exact", "changed", "stale"]
