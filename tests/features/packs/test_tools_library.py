"""What a pack's calls read, when they stop, and what is said of a deleted pack."""

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
