"""The life of a pack: time to live, expiry, finalizing, history, how it is listed, its end."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from inmemory import MemorySourceTree

from context_pack import open_workspace
from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import SourceFile, Unreadable
from context_pack.kernel.times import MAX_MINUTES, format_instant
from context_pack.ports import Ports
from context_pack.toolkit.call import Cancelled, QuietCall
from context_pack_adapters.files.locking import PathLock

MOST = 2_628_000


@pytest.mark.clause("PK-25")
def test_a_missing_time_to_live_has_its_own_code(desk: Any) -> None:
    pack = desk.create()
    for call in (
        {"action": "create", "title": "t"},
        {"action": "touch_ttl", "id": pack, "expected_revision": 1},
        {"action": "touch_ttl", "id": pack},
        {"action": "touch_ttl"},
    ):
        error = desk.refused("input", **call)
        assert (error["kind"], error["code"]) == ("validation", "ttl_required")
        assert "'ttl_minutes' is required" in error["message"]


@pytest.mark.clause("PK-25")
@pytest.mark.parametrize("minutes", [0, -1, MOST + 1])
def test_minutes_out_of_bounds_are_refused(desk: Any, minutes: int) -> None:
    pack = desk.create()
    error = desk.refused("input", action="create", ttl_minutes=minutes)
    assert (error["code"], error["details"]["field"]) == ("invalid_data", "ttl_minutes")
    for field in ("ttl_minutes", "extend_minutes"):
        error = desk.refused("input", action="touch_ttl", id=pack, expected_revision=1, **{field: minutes})
        assert (error["code"], error["details"]["field"]) == ("invalid_data", field)


@pytest.mark.clause("PK-25")
def test_setting_counts_from_now_and_extending_from_the_expiry(desk: Any) -> None:
    pack = desk.create(ttl_minutes=60)
    desk.clock.advance(minutes=30)
    assert desk.change(pack, "touch_ttl", extend_minutes=15)["expires_at"] == "2026-01-02T04:19:05Z"
    assert desk.change(pack, "touch_ttl", ttl_minutes=5)["expires_at"] == "2026-01-02T03:39:05Z"


@pytest.mark.clause("PK-33")
def test_an_expired_pack_is_not_there_from_the_instant_of_its_expiry(desk: Any) -> None:
    pack = desk.create(ttl_minutes=1, name="short")
    desk.clock.advance(seconds=59.999999)
    assert desk.input(action="get", id=pack)["revision"] == 1
    desk.clock.advance(microseconds=1)
    for call in (
        {"action": "get", "id": pack},
        {"action": "get", "name": "short"},
        {"action": "verify", "id": pack},
        {"action": "set_meta", "id": pack, "expected_revision": 1, "title": "t"},
        {"action": "touch_ttl", "id": pack, "expected_revision": 1, "ttl_minutes": 5},
        {"action": "delete_pack", "id": pack, "expected_revision": 1},
    ):
        assert desk.refused("input", **call)["code"] == "not_found"
    assert desk.refused("output", id=pack)["code"] == "not_found"
    assert desk.output() == "No context packs found."
    assert desk.input()["total"] == 0
    assert desk.registry.read(f"context://pack/{pack}") is None


@pytest.mark.clause("PK-29")
def test_an_empty_draft_cannot_be_finalized(desk: Any) -> None:
    pack = desk.create()
    desk.section(pack, section_description="only words")
    error = desk.refused("input", action="set_status", id=pack, expected_revision=2, status="finalized")
    assert (error["kind"], error["code"]) == ("invalid_state", "invalid_state")
    desk.change(pack, "upsert_diagram", section_key="main", diagram_key="dia", title="D", mermaid="graph")
    assert desk.change(pack, "set_status", status="finalized")["status"] == "finalized"


@pytest.mark.clause("PK-29")
def test_finalizing_lists_every_ref_that_cannot_be_relied_on(desk: Any) -> None:
    pack = desk.pack_with_ref()
    desk.ref(pack, "gone", path="gone.py")
    desk.ref(pack, "past", 99, 101)
    desk.ref(pack, "secret", path=".env")
    desk.files["b.py"] = "one\ntwo\n"
    desk.ref(pack, "edited", 1, 2, path="b.py")
    desk.files["b.py"] = "one\nTWO\n"
    error = desk.refused("input", action="set_status", id=pack, expected_revision=7, status="finalized")
    assert (error["kind"], error["code"]) == ("stale_ref", "stale_ref")
    refs = error["details"]["refs"]
    assert [ref["ref"] for ref in refs] == ["gone", "past", "secret", "edited"]
    assert [ref["state"] for ref in refs] == ["stale", "stale", "stale", "changed"]
    assert refs[1] == {
        "section": "main",
        "ref": "past",
        "path": "src/app.py",
        "lines": {"start": 99, "end": 101},
        "state": "stale",
        "found": None,
        "reason": "lines 99-101 are past the end of the file (100 lines)",
    }
    assert all(ref["reason"] for ref in refs)
    assert desk.input(action="get", id=pack)["status"] == "draft"


@pytest.mark.clause("PK-29")
def test_moved_and_unanchored_refs_can_be_finalized(desk: Any) -> None:
    pack = desk.pack_with_ref()
    desk.ref(pack, "later", 1, 1, path="later.py")
    desk.files["later.py"] = "now it is there\n"
    desk.files["src/app.py"] = "new first line\n" + desk.files["src/app.py"]
    assert [desk.state(pack, number)["state"] for number in (0, 1)] == ["moved", "unanchored"]
    desk.change(pack, "set_status", status="finalized")
    assert [desk.state(pack, number)["state"] for number in (0, 1)] == ["moved", "exact"]


@pytest.mark.clause("PK-30")
def test_a_finalized_pack_keeps_its_content(desk: Any) -> None:
    pack = desk.pack_with_ref()
    desk.change(pack, "set_status", status="finalized")
    place = {"section_key": "main", "ref_key": "ref"}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("upsert_section", {"section_key": "main", "section_title": "Main"}),
        ("delete_section", {"section_key": "main"}),
        ("upsert_ref", {**place, "path": "src/app.py", "line_start": 5, "line_end": 7}),
        ("delete_ref", place),
        ("upsert_diagram", {"section_key": "main", "diagram_key": "dia", "title": "D", "mermaid": "graph"}),
        ("delete_diagram", {"section_key": "main", "diagram_key": "dia"}),
        ("set_meta", {"title": "t"}),
        ("repair", {}),
        ("batch", {"operations": [{"action": "set_meta", "title": "t"}]}),
    ]
    for action, fields in calls:
        error = desk.refused("input", action=action, id=pack, expected_revision=4, **fields)
        assert (error["kind"], error["code"]) == ("invalid_state", "invalid_state"), action
        assert "draft" in error["message"]
    assert desk.input(action="get", id=pack)["revision"] == 4
    assert desk.output(id=pack)
    assert desk.input(action="verify", id=pack)["revision"] == 4
    desk.change(pack, "touch_ttl", extend_minutes=5)
    desk.files.clear()
    assert desk.change(pack, "set_status", status="draft")["status"] == "draft"
    desk.change(pack, "set_meta", title="t")


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


SUMMARY = ["id", "name", "title", "brief", "tags", "status", "revision", "created_at", "updated_at"]
SUMMARY += ["expires_at", "ttl_remaining_seconds", "ttl_remaining_human"]


def listed(desk: Any, **filters: Any) -> list[str]:
    """The ids in a list."""
    return [one["id"] for one in desk.input(action="list", **filters)["packs"]]


@pytest.mark.clause("PK-31")
def test_a_summary_says_all_but_the_sections(desk: Any) -> None:
    pack = desk.create(name="notes", title="T", brief="B", tags=["x"], ttl_minutes=125)
    desk.clock.advance(seconds=1)
    (one,) = desk.input(action="list")["packs"]
    assert list(one) == SUMMARY
    assert one == {
        "id": pack,
        "name": "notes",
        "title": "T",
        "brief": "B",
        "tags": ["x"],
        "status": "draft",
        "revision": 1,
        "created_at": "2026-01-02T03:04:05Z",
        "updated_at": "2026-01-02T03:04:05Z",
        "expires_at": "2026-01-02T05:09:05Z",
        "ttl_remaining_seconds": 7499,
        "ttl_remaining_human": "2h",
    }


@pytest.mark.clause("PK-31")
def test_the_query_looks_into_id_title_name_brief_and_tags_whatever_the_case(desk: Any) -> None:
    packs = {
        "title": desk.create(title="Token FLOW"),
        "name": desk.create(name="token-flow"),
        "brief": desk.create(brief="about Token flows"),
        "tags": desk.create(tags=["x", "TOKEN flow"]),
        "none": desk.create(title="else"),
    }
    desk.section(packs["none"], section_title="token flow")
    assert set(listed(desk, query="tOKen")) == {packs[name] for name in ("title", "name", "brief", "tags")}
    assert set(listed(desk, query="token flow")) == {packs[name] for name in ("title", "brief", "tags")}
    assert listed(desk, query=packs["none"][3:9].upper()) == [packs["none"]]
    assert len(listed(desk, query="  ")) == 5
    assert listed(desk, query="STRASSE") == []


@pytest.mark.clause("PK-31")
def test_an_answer_that_would_be_too_large_shows_fewer_and_says_so(desk: Any) -> None:
    for _ in range(220):
        desk.create(title="é" * 200, brief="é" * 2000)
    seen = 0
    while True:
        answer = desk.input(limit=500, offset=seen)
        assert len(json.dumps(answer, ensure_ascii=False).encode()) <= 810_000
        assert answer["count"] == len(answer["packs"]) > 0
        seen += answer["count"]
        if not answer["has_more"]:
            break
    assert seen == answer["total"] == 220


class CountedTree(MemorySourceTree):
    """A source tree that counts what is read of it."""

    reads = 0

    def read(self, path: RelativePath, max_bytes: int) -> SourceFile | Unreadable:
        self.reads += 1
        return super().read(path, max_bytes)


def test_a_cancelled_call_stops_between_files(desk: Any) -> None:
    desk.files.update({f"f{number}.py": "x\n" for number in range(10)})
    pack = desk.create()
    desk.section(pack)
    place = {"action": "upsert_ref", "section_key": "main", "line_start": 1, "line_end": 1}
    refs = [{**place, "ref_key": f"r{number}", "path": f"f{number}.py"} for number in range(10)]
    desk.change(pack, "batch", operations=refs)
    before = desk.store.get(pack)
    tree = CountedTree(desk.files)
    desk.open(Ports(desk.clock, tree, desk.store))

    def wanted() -> None:
        if tree.reads >= 3:
            raise Cancelled

    for tool, arguments in (
        ("output", {}),
        ("input", {"action": "verify"}),
        ("input", {"action": "repair", "expected_revision": 3}),
        ("input", {"action": "batch", "expected_revision": 3, "operations": refs}),
        ("input", {"action": "set_status", "expected_revision": 3, "status": "finalized"}),
    ):
        tree.reads = 0
        with pytest.raises(Cancelled):
            desk.registry.call(tool, {"id": pack, **arguments}, QuietCall(7, wanted=wanted))
        assert tree.reads == 3
    assert desk.store.get(pack) == before


@pytest.mark.clause("KN-13", "PK-17", "ST-64")
def test_a_deleted_pack_is_said_to_be_deleted_and_how_long_it_can_be_restored(tmp_path: Path) -> None:
    with open_workspace(tmp_path) as workspace:
        pack = workspace.packs.create(ttl_minutes=60, name="gone")
        workspace.packs.delete(pack)
        (deleted,) = workspace.packs.expired()
        until = format_instant(deleted.expires_at + timedelta(days=30), whole_seconds=True)
        for named in ({"id": pack.id}, {"id": "gone"}, {"name": "gone"}):
            for more in ({"action": "get"}, {"action": "set_meta", "expected_revision": 1, "title": "t"}):
                error = json.loads(workspace.call("input", {**named, **more}).text)
                assert error["message"] == f"that pack was deleted; it can be restored until {until}"
                assert f"packs restore {pack.id}" in error["details"]["hint"]
        for minutes in (0, MAX_MINUTES + 1):
            with pytest.raises(Failure) as refused:
                workspace.packs.restore("gone", ttl_minutes=minutes)
            assert refused.value.details["field"] == "ttl_minutes"
        assert workspace.packs.restore("gone", ttl_minutes=5).revision == 2


@pytest.mark.clause("PK-37")
def test_reading_changes_no_pack_and_does_not_wait_for_a_writer(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    with open_workspace(tmp_path, storage=tmp_path / "s") as workspace:
        pack = workspace.packs.create(ttl_minutes=60, name="held")
        file = tmp_path / f"s/packs/{pack.id}.md"
        before = file.read_bytes()
        lock = PathLock(str(file.with_suffix(".lock")), 5.0)
        lock.acquire()  # whoever waits for it is told `lock_timeout` in the end
        try:
            reads = [("input", {"action": action, "id": pack.id}) for action in ("get", "verify", "diff")]
            for tool, arguments in (*reads, ("input", {"action": "list"}), ("output", {"id": pack.id})):
                assert "lock_timeout" not in workspace.call(tool, arguments).text
        finally:
            lock.release()
    assert file.read_bytes() == before
