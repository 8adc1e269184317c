"""Anchors through the tools: each state, what it renders, and what `verify` and `repair` make of it."""

from __future__ import annotations

from typing import Any

import pytest

from context_pack.kernel.text import sha256_hex
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
    assert ref["anchor"] == {"digest": sha256_hex("\n".join(FUNCTION)), "lines": 3}
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
        assert desk.state(pack)["state"] == "changed", changed


@pytest.mark.clause("AN-02", "AN-12")
def test_an_exact_ref_is_found_where_it_was(anchored: tuple[Any, str]) -> None:
    desk, pack = anchored
    answer = {"id": pack, "revision": 3, "count": 1, "exact": 1, "refs": []}
    assert desk.input(action="verify", id=pack) == answer


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


@pytest.mark.clause("AN-05")
def test_moved_code_is_followed_over_any_distance_and_past_the_old_end(anchored: tuple[Any, str]) -> None:
    desk, pack = anchored
    far = [f"filler_{number}()" for number in range(30_000)]
    for content in ((far, FUNCTION), (FUNCTION, far), (FUNCTION,), (far, AROUND, FUNCTION, far)):
        desk.files["src/app.py"] = text_of(*content)
        assert desk.state(pack)["state"] == "moved"
        assert "def load(path):\n" in desk.output(id=pack)


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


@pytest.mark.clause("AN-06", "AN-09")
def test_two_files_with_the_code_are_ambiguous(anchored: tuple[Any, str]) -> None:
    desk, pack = anchored
    desk.files["lib/app.py"] = desk.files.pop("src/app.py")
    desk.files["old/app.py"] = text_of(FUNCTION)
    state = desk.state(pack)
    assert (state["state"], state["found"]) == ("ambiguous", None)
    assert "> stale ref: ambiguous, lines 6-8 of lib/app.py, 1-3 of old/app.py" in desk.output(id=pack)


@pytest.mark.clause("AN-06")
def test_files_that_cannot_be_read_are_no_candidates(new_desk: Any) -> None:
    code = text_of(AROUND[:5], FUNCTION)
    desk = new_desk({"src/app.py": code}, max_source_bytes=1000)
    pack = desk.pack_with_ref(6, 8)
    del desk.files["src/app.py"]
    desk.files["node_modules/app.py"] = code
    desk.files["big/app.py"] = code + "#" * 2000
    desk.files["bad/app.py"] = code.encode() + b"\xff"
    assert desk.state(pack)["state"] == "stale"
    assert desk.state(pack)["reason"] == "file not found"
    desk.files["good/app.py"] = code
    assert desk.state(pack)["found"]["path"] == "good/app.py"


@pytest.mark.clause("AN-06")
def test_a_renamed_folder_of_files_with_one_name_is_followed_as_a_whole(new_desk: Any) -> None:
    desk = new_desk({f"app/{number}/data.py": f"row\nrow {number}\nend\n" for number in range(5)})
    pack = desk.create()
    desk.section(pack)
    for number in range(5):
        desk.ref(pack, f"ref{number}", 2, 3, path=f"app/{number}/data.py")
    for number in range(4):
        desk.files[f"web/{number}/data.py"] = desk.files.pop(f"app/{number}/data.py")
    desk.files["other/data.py"] = "row\nrow 3\nend\n"
    states = [desk.state(pack, number) for number in range(5)]
    assert [state["state"] for state in states] == ["moved", "moved", "moved", "ambiguous", "exact"]
    assert [state["found"]["path"] for state in states[:3]] == [
        f"web/{number}/data.py" for number in range(3)
    ]
    assert "> stale ref: ambiguous, lines 2-3 of other/data.py, 2-3 of web/3/data.py" in desk.output(id=pack)


@pytest.mark.clause("AN-06")
def test_an_unreadable_existing_file_is_not_searched_for_elsewhere(
    anchored: tuple[Any, str],
) -> None:
    desk, pack = anchored
    desk.files["lib/app.py"] = desk.files["src/app.py"]
    desk.files["src/app.py"] = b"\x00"
    assert desk.state(pack)["reason"] == "binary file"


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
    assert (state["state"], state["reason"]) == ("changed", "changed since anchored")
    assert state["found"]["lines"] == {"start": 8, "end": 11}


@pytest.mark.clause("AN-07")
@pytest.mark.parametrize(
    ("inside", "lines"),
    [
        (["async def load(path):", *FUNCTION[1:]], (8, 10)),
        ([*FUNCTION[:2], "        return file.readlines()"], (8, 10)),
        ([FUNCTION[0], FUNCTION[2]], (8, 9)),
        ([FUNCTION[0], *["    step()"] * 20, FUNCTION[2]], (8, 29)),
    ],
)
def test_changed_code_keeps_its_borders(
    anchored: tuple[Any, str], inside: list[str], lines: tuple[int, int]
) -> None:
    desk, pack = anchored
    desk.files["src/app.py"] = text_of(["import os", ""], AROUND[:5], inside, AROUND[5:])
    state = desk.state(pack)
    assert state["state"] == "changed"
    assert (state["found"]["lines"]["start"], state["found"]["lines"]["end"]) == lines


@pytest.mark.clause("AN-07")
def test_changed_code_is_found_whatever_became_of_its_neighbours(anchored: tuple[Any, str]) -> None:
    desk, pack = anchored
    edited = ["def load(file):", *FUNCTION[1:2], "        return file.text()"]
    desk.files["src/app.py"] = text_of(["import os", ""], AROUND[:5], edited, ["other = 1"] * 7)
    assert desk.state(pack)["found"]["lines"] == {"start": 8, "end": 10}
    desk.files["src/app.py"] = text_of(["other = 1"] * 9, edited, AROUND[5:])
    assert desk.state(pack)["found"]["lines"] == {"start": 10, "end": 12}


@pytest.mark.clause("AN-07", "AN-10")
def test_unrelated_code_on_the_old_lines_is_not_shown(anchored: tuple[Any, str]) -> None:
    desk, pack = anchored
    desk.files["src/app.py"] = "".join(f"unrelated {number}\n" for number in range(1, 30))
    text = desk.output(id=pack)
    assert "- lines: 6-8\n\n> stale ref: neither its text nor its definition is found" in text
    assert "unrelated" not in text
    other = ["def save(path, data):", "    path.write(data)", "    return None"]
    desk.files["src/app.py"] = text_of(AROUND[:5], other, AROUND[5:])
    assert desk.state(pack)["state"] == "stale"


@pytest.mark.clause("AN-10")
def test_what_a_stale_ref_was_is_shown_on_request(anchored: tuple[Any, str]) -> None:
    desk, pack = anchored
    desk.files["src/app.py"] = "unrelated\n" * 20
    assert "def load" not in desk.output(id=pack)
    text = desk.output(id=pack, mode="diff")
    told = "> stale ref: neither its text nor its definition is found\n\n"
    told += "> what it was when it was anchored, and is nowhere now:\n\n```python\n   6: def load(path):\n"
    assert told in text
    assert "unrelated" not in text


@pytest.mark.clause("AN-07")
def test_removed_code_is_never_called_exact_or_moved(anchored: tuple[Any, str]) -> None:
    desk, pack = anchored
    desk.files["src/app.py"] = text_of(AROUND)
    state = desk.state(pack)
    assert (state["state"], state["found"]) == ("stale", None)
    desk.files["src/app.py"] = text_of(AROUND[:5])
    assert desk.state(pack)["state"] == "stale"
    desk.files["src/app.py"] = ""
    assert desk.state(pack)["state"] == "stale"


@pytest.mark.clause("AN-09")
def test_code_that_stands_twice_elsewhere_is_ambiguous(anchored: tuple[Any, str]) -> None:
    desk, pack = anchored
    desk.files["src/app.py"] = text_of(["import os"], FUNCTION, AROUND, FUNCTION)
    text = desk.output(id=pack)
    assert "> stale ref: ambiguous, lines 2-4, 15-17" in text
    assert "```" not in text
    state = desk.state(pack)
    assert (state["state"], state["found"], state["reason"]) == (
        "ambiguous",
        None,
        "ambiguous, lines 2-4, 15-17",
    )


@pytest.mark.clause("AN-02", "AN-09")
def test_code_that_stands_twice_is_exact_where_it_was(anchored: tuple[Any, str]) -> None:
    desk, pack = anchored
    desk.files["src/app.py"] = text_of(AROUND[:5], FUNCTION, FUNCTION)
    assert desk.state(pack)["state"] == "exact"


@pytest.mark.clause("AN-09")
@pytest.mark.parametrize("trivial", ["", "}", "    pass"])
def test_a_trivial_excerpt_is_ambiguous_when_it_is_all_over_the_file(new_desk: Any, trivial: str) -> None:
    lines = [trivial if number % 3 == 0 else f"step_{number}()" for number in range(1, 40)]
    desk = new_desk({"src/app.py": text_of(lines)})
    pack = desk.pack_with_ref(9, 9)
    desk.files["src/app.py"] = text_of(["new line"], lines)
    assert desk.state(pack)["state"] == "ambiguous"
    assert desk.state(pack)["reason"] == "ambiguous, lines 4-4, 7-7, 10-10, 13-13, 16-16 and more"


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


@pytest.mark.clause("AN-01")
@pytest.mark.parametrize("path", ["gone.py", ".env", "node_modules/x.js", "binary.bin", "src"])
def test_unreadable_files_can_be_pointed_at_in_a_draft(desk: Any, path: str) -> None:
    desk.files["binary.bin"] = b"\x00\x01"
    desk.files[".env"] = "KEY=1\n"
    desk.files["node_modules/x.js"] = "1\n"
    pack = desk.pack_with_ref(1, 1, path=path)
    assert desk.state(pack)["state"] == "stale"
    assert desk.store.get(pack).sections[0].refs[0].anchor is None


@pytest.mark.clause("AN-01")
def test_upserting_again_takes_a_new_anchor(anchored: tuple[Any, str]) -> None:
    desk, pack = anchored
    desk.files["src/app.py"] = text_of(AROUND[:5], ["def other():", "    pass", "    return 1"], AROUND[5:])
    assert desk.state(pack)["state"] == "stale"
    assert desk.ref(pack, "ref", 6, 8)["revision"] == 4
    assert desk.state(pack)["state"] == "exact"
    assert desk.ref(pack, "ref", 6, 8)["revision"] == 4


@pytest.mark.clause("AN-01", "PK-18")
def test_upserting_the_same_code_keeps_the_anchor_despite_new_neighbours(
    anchored: tuple[Any, str],
) -> None:
    desk, pack = anchored
    before = desk.store.get(pack)
    desk.files["src/app.py"] = text_of(["other = 1"] * 5, FUNCTION, ["more = 2"])
    assert desk.ref(pack, "ref", 6, 8)["revision"] == 3
    assert desk.store.get(pack) == before
    assert desk.ref(pack, "ref", 6, 8, ref_why="because")["revision"] == 4
    (ref,) = desk.store.get(pack).sections[0].refs
    assert (ref.why, ref.anchor) == ("because", before.sections[0].refs[0].anchor)


@pytest.mark.clause("AN-01", "PK-18")
@pytest.mark.parametrize("now", [None, b"\x00", "too\nshort\n"])
def test_upserting_a_temporarily_unreadable_ref_keeps_the_anchor(
    anchored: tuple[Any, str], now: str | bytes | None
) -> None:
    desk, pack = anchored
    before, code = desk.store.get(pack), desk.files.pop("src/app.py")
    if now is not None:
        desk.files["src/app.py"] = now
    assert desk.ref(pack, "ref", 6, 8)["revision"] == 3
    assert desk.store.get(pack) == before
    assert desk.state(pack)["state"] == "stale"
    desk.files["src/app.py"] = "import os\n" + code
    assert desk.state(pack)["state"] == "moved"


@pytest.mark.clause("AN-01")
def test_upserting_other_lines_or_another_file_makes_another_anchor(anchored: tuple[Any, str]) -> None:
    desk, pack = anchored
    desk.ref(pack, "ref", 6, 8, path="src/gone.py")
    assert desk.store.get(pack).sections[0].refs[0].anchor is None
    desk.ref(pack, "ref", 6, 8)
    desk.ref(pack, "ref", 600, 602)
    assert desk.store.get(pack).sections[0].refs[0].anchor is None
    desk.ref(pack, "ref", 6, 8)
    place = {"section_key": "main", "ref_key": "ref"}
    again = {"action": "upsert_ref", **place, "path": "src/app.py", "line_start": 6, "line_end": 8}
    desk.files["src/app.py"] = text_of(["other = 1"] * 5, FUNCTION)
    desk.change(pack, "batch", operations=[{"action": "delete_ref", **place}, again])
    assert desk.store.get(pack).sections[0].refs[0].anchor.digest == sha256_hex("\n".join(FUNCTION))


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
    states = {one["ref"]: one["state"] for one in desk.input(action="verify", id=pack)["refs"]}
    assert states == {"ref": "moved", "edge": "moved", "edited": "changed", "gone": "stale"}
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
    states = {one["ref"]: one["state"] for one in desk.input(action="verify", id=pack)["refs"]}
    assert states == {"edited": "changed", "gone": "stale"}


@pytest.mark.clause("AN-13")
def test_repair_follows_a_moved_file_and_keeps_the_refs_words(anchored: tuple[Any, str]) -> None:
    desk, pack = anchored
    desk.ref(pack, "ref", 6, 8, ref_title="T", ref_why="W", group="G")
    desk.files["lib/app.py"] = desk.files.pop("src/app.py")
    desk.change(pack, "repair")
    (ref,) = desk.input(action="get", id=pack)["sections"][0]["refs"]
    assert (ref["path"], ref["title"], ref["why"], ref["group"]) == ("lib/app.py", "T", "W", "G")


@pytest.mark.clause("AN-13")
def test_repair_with_nothing_to_do_keeps_the_revision(anchored: tuple[Any, str]) -> None:
    desk, pack = anchored
    answer = desk.change(pack, "repair")
    assert (answer["revision"], answer["repaired"], answer["changed"]) == (3, [], None)
    error = desk.refused("input", action="repair", id=pack, expected_revision=2)
    assert error["code"] == "revision_conflict"
    assert desk.refused("input", action="repair", id=pack)["code"] == "invalid_data"


@pytest.mark.clause("AN-12")
def test_verify_changes_nothing(anchored: tuple[Any, str]) -> None:
    desk, pack = anchored
    before = desk.store.get(pack)
    desk.files["src/app.py"] = text_of(["import os"], FUNCTION)
    desk.input(action="verify", id=pack)
    assert desk.store.get(pack) is before
    assert desk.input(action="verify", id=desk.create())["refs"] == []
