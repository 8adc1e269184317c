"""The feature as typed use cases: commands in, values out, `Failure` when refused; and what is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from inmemory import MemorySourceTree

from context_pack import open_workspace
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import FileNames, SourceFile, Unreadable
from context_pack.kernel.times import format_instant
from context_pack.packs.commands import (
    Create,
    DeletePack,
    ListPacks,
    ListText,
    NamedPack,
    PackAtRevision,
    RenderPack,
    Repair,
    SetStatus,
)
from context_pack.packs.listing import PackLister
from context_pack.packs.model import Pack, Status
from context_pack.packs.operations import SetMeta, UpsertRef, UpsertSection
from context_pack.packs.read import PackReader, PackVerifier
from context_pack.packs.states import State
from context_pack.packs.write import PackWriter, WrittenPart
from context_pack.toolkit.call import Cancelled
from context_pack_adapters.files.locking import PathLock


class CountedTree:
    """A source tree that remembers what was asked of it."""

    def __init__(self, tree: MemorySourceTree) -> None:
        self.tree = tree
        self.reads: list[str] = []
        self.searches = 0
        self.complete = True

    def read(self, path: RelativePath, max_bytes: int) -> SourceFile | Unreadable:
        """One file, remembered."""
        self.reads.append(str(path))
        return self.tree.read(path, max_bytes)

    def names(self, _: Callable[[], bool] | None = None, /) -> FileNames:
        """Files by name, counted; a test may say that some were not seen."""
        self.searches += 1
        return FileNames(self.tree.names().paths, self.complete)

    def is_file(self, path: RelativePath) -> bool:
        """As the tree says."""
        return self.tree.is_file(path)

    def is_folder(self, path: RelativePath) -> bool:
        """As the tree says."""
        return self.tree.is_folder(path)


@pytest.fixture
def tree(desk: Any) -> CountedTree:
    """The desk's files, counted."""
    return CountedTree(desk.tree)


@pytest.fixture
def writer(desk: Any, tree: CountedTree) -> PackWriter:
    """A writer at the desk."""
    return PackWriter(desk.store, tree, desk.clock)


@pytest.fixture
def reader(desk: Any, tree: CountedTree) -> PackReader:
    """A reader at the desk."""
    return PackReader(desk.store, tree, desk.clock)


@pytest.fixture
def lister(desk: Any) -> PackLister:
    """A lister at the desk."""
    return PackLister(desk.store, desk.clock)


@pytest.fixture
def verifier(desk: Any, tree: CountedTree) -> PackVerifier:
    """A verifier at the desk."""
    return PackVerifier(desk.store, tree, desk.clock)


def at(pack: Pack) -> PackAtRevision:
    """The pack as it was last seen."""
    return PackAtRevision(id=pack.id, expected_revision=pack.revision)


def a_ref(key: str = "ref", start: int = 5, end: int = 7, path: str = "src/app.py") -> UpsertRef:
    """A ref to add."""
    return UpsertRef(section_key="main", ref_key=key, path=path, line_start=start, line_end=end)


MAIN = UpsertSection(section_key="main", section_title="Main")


@pytest.mark.clause("PK-64")
def test_the_library_builds_reads_and_verifies_packs_without_json(
    desk: Any, writer: PackWriter, reader: PackReader, lister: PackLister, verifier: PackVerifier
) -> None:
    pack = writer.create(Create(ttl_minutes=60, name="notes", tags=("x",)))
    written = writer.apply(at(pack), MAIN)
    assert written.parts == (WrittenPart(written.pack.sections[0]),)
    pack = writer.apply(at(written.pack), [a_ref(), SetMeta(title="T")]).pack
    assert (pack.title, pack.revision) == ("T", 3)
    assert reader.get(NamedPack(name="notes")) == pack
    assert lister.list(ListPacks()).items == (pack,)
    assert lister.list_text(ListText()).startswith("# Context packs\n")
    page = reader.render(RenderPack(id=pack.id))
    assert page.cursor is None
    verified = verifier.verify(NamedPack(id=pack.id))
    assert verified.trusted
    assert [checked.resolution.state for checked in verified.refs] == [State.EXACT]
    desk.files["src/app.py"] = "new\n" + desk.files["src/app.py"]
    repaired = verifier.repair(Repair(id=pack.id, expected_revision=3))
    assert [checked.ref.key for checked in repaired.refs] == ["ref"]
    done = writer.set_status(SetStatus(id=pack.id, expected_revision=4, status="finalized"))
    assert done.status is Status.FINALIZED
    assert writer.delete(DeletePack(id=pack.id, expected_revision=5)) == pack.id


def test_a_cancelled_call_stops_between_files(
    desk: Any, writer: PackWriter, reader: PackReader, verifier: PackVerifier, tree: CountedTree
) -> None:
    for number in range(10):
        desk.files[f"f{number}.py"] = "x\n"
    pack = writer.apply(at(writer.create(Create(ttl_minutes=60))), MAIN).pack
    refs = [a_ref(f"r{number}", 1, 1, f"f{number}.py") for number in range(10)]
    pack = writer.apply(at(pack), refs).pack

    def check() -> None:
        if len(tree.reads) >= 3:
            raise Cancelled

    seen = PackAtRevision(id=pack.id, expected_revision=pack.revision)
    for call in (
        lambda: reader.render(RenderPack(id=pack.id), check),
        lambda: verifier.verify(NamedPack(id=pack.id), check),
        lambda: verifier.repair(Repair(id=pack.id, expected_revision=3), check),
        lambda: writer.apply(seen, refs, check),
        lambda: writer.set_status(SetStatus(id=pack.id, expected_revision=3, status="finalized"), check),
    ):
        tree.reads.clear()
        with pytest.raises(Cancelled):
            call()
        assert len(tree.reads) == 3
    assert desk.store.get(pack.id) == pack


@pytest.mark.clause("PK-17", "ST-64")
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
