"""The feature as typed use cases: commands in, values out, `Failure` when refused; and what is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from inmemory import MemorySourceTree
from inmemory.ports import open_memory_workspace

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import FileNames, FolderNames, SourceFile, Unreadable
from context_pack.packs.commands import (
    Create,
    DeletePack,
    ListPacks,
    ListText,
    NamedPack,
    PackAtRevision,
    RenderPack,
    Repair,
    SetMeta,
    SetStatus,
    TouchTtl,
    UpsertDiagram,
    UpsertRef,
    UpsertSection,
)
from context_pack.packs.listing import PackLister
from context_pack.packs.model import Pack, Status
from context_pack.packs.read import PackReader
from context_pack.packs.states import State
from context_pack.packs.verify import PackVerifier
from context_pack.packs.write import PackWriter, WrittenPart
from context_pack.toolkit.call import Cancelled


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

    def folder(self, path: RelativePath | None) -> FolderNames:
        """As the tree says."""
        return self.tree.folder(path)


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


@pytest.mark.clause("PK-64")
@pytest.mark.parametrize(
    ("operation", "field"),
    [
        (lambda: UpsertSection(section_key="X", section_title="t"), "section_key"),
        (lambda: UpsertSection(section_key="main", section_title=" "), "section_title"),
        (lambda: UpsertSection(section_key="main", section_title="t" * 201), "section_title"),
        (
            lambda: UpsertSection(section_key="main", section_title="t", section_description="d" * 20_001),
            "section_description",
        ),
        (lambda: UpsertSection(section_key="main", section_title="t", section_order=True), "section_order"),
        (lambda: a_ref("X"), "ref_key"),
        (lambda: a_ref(path="/x"), "path"),
        (lambda: a_ref(path=" "), "path"),
        (lambda: a_ref(start=0), "line_start"),
        (lambda: a_ref(start=True), "line_start"),
        (lambda: UpsertDiagram(section_key="main", diagram_key="dia", title="t", mermaid=" "), "mermaid"),
        (
            lambda: UpsertDiagram(section_key="main", diagram_key="dia", title="t", mermaid="m" * 50_001),
            "mermaid",
        ),
        (lambda: SetMeta(), "title"),
        (lambda: SetMeta(tags=tuple(f"t{number}" for number in range(51))), "tags"),
        (lambda: SetMeta(tags=("x" * 65,)), "tags"),
        (lambda: SetMeta(brief="b\n"), None),
        (lambda: SetMeta(brief="b\nc"), "brief"),
        (lambda: TouchTtl(ttl_minutes=0), "ttl_minutes"),
        (lambda: TouchTtl(extend_minutes=2_628_001), "extend_minutes"),
        (lambda: TouchTtl(), "ttl_minutes"),
    ],
)
def test_commands_built_by_hand_meet_the_same_rules(
    writer: PackWriter, operation: Callable[[], Any], field: str | None
) -> None:
    pack = writer.apply(at(writer.create(Create(ttl_minutes=60))), MAIN).pack
    if field is None:
        assert writer.apply(at(pack), operation()).pack.revision == 3
        return
    with pytest.raises(Failure) as caught:
        writer.apply(at(pack), operation())
    assert caught.value.details["field"] == field


@pytest.mark.clause("PK-64")
def test_bounds_of_reading_hold_for_library_callers_too(
    writer: PackWriter, reader: PackReader, lister: PackLister
) -> None:
    pack = writer.create(Create(ttl_minutes=60))
    for wrong in (
        lambda: reader.render(RenderPack(id=pack.id, max_tokens=499)),
        lambda: reader.render(RenderPack(id=pack.id, mode="tiny")),
        lambda: reader.render(RenderPack(id=pack.id, status="open")),
        lambda: reader.render(RenderPack()),
        lambda: lister.list(ListPacks(limit=501)),
        lambda: lister.list(ListPacks(offset=-1)),
        lambda: lister.list_text(ListText(max_tokens=1)),
        lambda: writer.apply(at(pack), []),
        lambda: writer.apply(at(pack), "no operation"),  # type: ignore[arg-type]
        lambda: writer.set_status(SetStatus(id=pack.id, expected_revision=1, status="open")),
        lambda: writer.create(Create(ttl_minutes=None)),  # type: ignore[arg-type]
        lambda: reader.get(NamedPack(id=" ")),
    ):
        with pytest.raises(Failure) as caught:
            wrong()
        assert caught.value.kind == "validation"


@pytest.mark.clause("PK-65", "AN-01")
def test_each_file_is_read_once_per_call(writer: PackWriter, reader: PackReader, tree: CountedTree) -> None:
    pack = writer.apply(at(writer.create(Create(ttl_minutes=60))), MAIN).pack
    pack = writer.apply(at(pack), [a_ref(f"r{number}", number, number) for number in range(1, 40)]).pack
    assert tree.reads == ["src/app.py"]
    tree.reads.clear()
    reader.render(RenderPack(id=pack.id))
    assert tree.reads == ["src/app.py"]
    tree.reads.clear()
    done = writer.set_status(SetStatus(id=pack.id, expected_revision=pack.revision, status="finalized"))
    assert done.status is Status.FINALIZED
    assert tree.reads == ["src/app.py"]


@pytest.mark.clause("PK-65")
def test_pages_read_each_file_of_the_pack_once(
    desk: Any, writer: PackWriter, reader: PackReader, lister: PackLister, tree: CountedTree
) -> None:
    for number in range(20):
        desk.files[f"f{number}.py"] = "some line of code\n" * 60
    pack = writer.apply(at(writer.create(Create(ttl_minutes=60))), MAIN).pack
    pack = writer.apply(at(pack), [a_ref(f"r{number}", 1, 60, f"f{number}.py") for number in range(20)]).pack
    tree.reads.clear()
    page = reader.render(RenderPack(id=pack.id, max_tokens=500))
    assert page.cursor is not None
    assert sorted(tree.reads) == sorted(f"f{number}.py" for number in range(20))
    tree.reads.clear()
    assert reader.render(RenderPack(id=pack.id, cursor=page.cursor, max_tokens=500)).text
    assert len(tree.reads) == 20
    tree.reads.clear()
    reader.get(NamedPack(id=pack.id))
    lister.list(ListPacks())
    assert tree.reads == []


@pytest.mark.clause("PK-64")
def test_wrong_types_in_library_calls_are_refused_by_name() -> None:
    packs = open_memory_workspace().packs
    with pytest.raises(Failure, match="'tags' must be a list"):
        packs.create(ttl_minutes=60, tags="api")
    with pytest.raises(Failure, match="'mode' must be one of"):
        packs.document(packs.create(ttl_minutes=60), mode="whole")


@pytest.mark.clause("PK-65", "AN-06")
def test_a_missing_file_is_searched_for_once_per_call(
    desk: Any, writer: PackWriter, verifier: PackVerifier, tree: CountedTree
) -> None:
    pack = writer.apply(at(writer.create(Create(ttl_minutes=60))), MAIN).pack
    pack = writer.apply(at(pack), [a_ref(f"r{number}", number, number) for number in range(1, 9)]).pack
    desk.files["lib/app.py"] = desk.files.pop("src/app.py")
    tree.reads.clear()
    verified = verifier.verify(NamedPack(id=pack.id))
    assert {checked.resolution.state for checked in verified.refs} == {State.MOVED}
    assert tree.searches == 1
    assert tree.reads == ["src/app.py", "lib/app.py"]


@pytest.mark.clause("AN-06")
def test_code_found_in_a_partly_searched_tree_is_not_called_moved(
    desk: Any, writer: PackWriter, verifier: PackVerifier, tree: CountedTree
) -> None:
    pack = writer.apply(at(writer.create(Create(ttl_minutes=60))), MAIN).pack
    pack = writer.apply(at(pack), [a_ref("r1", 1, 3)]).pack
    desk.files["lib/app.py"] = desk.files.pop("src/app.py")
    tree.complete = False
    assert [checked.resolution.state for checked in verifier.verify(NamedPack(id=pack.id)).refs] == [
        State.UNKNOWN
    ]


@pytest.mark.clause("PK-27", "PK-65")
def test_a_batch_refused_for_its_arguments_reads_no_file(writer: PackWriter, tree: CountedTree) -> None:
    pack = writer.apply(at(writer.create(Create(ttl_minutes=60))), MAIN).pack
    with pytest.raises(Failure):
        writer.apply(at(pack), [a_ref(), a_ref("X")])
    assert tree.reads == []


@pytest.mark.clause("PK-65")
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


class FlickeringTree(CountedTree):
    """A source tree in which a file reads otherwise from its second reading on, and is never kept."""

    def __init__(self, tree: MemorySourceTree, later: str) -> None:
        super().__init__(tree)
        self.later = later

    def read(self, path: RelativePath, max_bytes: int) -> SourceFile | Unreadable:
        """One file; other text when it was read before."""
        if str(path) in self.reads:
            return SourceFile(path, self.later, len(self.later), 0)
        return super().read(path, max_bytes)


@pytest.mark.clause("AN-13")
def test_repair_anchors_the_code_that_it_found_and_no_other(desk: Any, writer: PackWriter) -> None:
    pack = writer.apply(at(writer.create(Create(ttl_minutes=60))), MAIN).pack
    pack = writer.apply(at(pack), a_ref()).pack
    desk.files["src/app.py"] = "new\n" + str(desk.files["src/app.py"])
    tree = FlickeringTree(desk.tree, "".join(f"other {number}\n" for number in range(200)))
    verifier = PackVerifier(desk.store, tree, desk.clock, desk.max_source_bytes)
    repaired = verifier.repair(Repair(id=pack.id, expected_revision=pack.revision))
    (ref,) = repaired.pack.sections[0].refs
    old = pack.sections[0].refs[0]
    assert len(repaired.refs) == 1
    assert (ref.lines.start, ref.lines.end) == (old.lines.start + 1, old.lines.end + 1)
    assert ref.anchor is not None
    assert old.anchor is not None
    assert ref.anchor.digest == old.anchor.digest


@pytest.mark.clause("PK-18")
def test_a_pack_that_changes_while_it_is_being_finalized_is_a_conflict(desk: Any, writer: PackWriter) -> None:
    pack = writer.apply(at(writer.create(Create(ttl_minutes=60))), MAIN).pack
    pack = writer.apply(at(pack), a_ref()).pack

    def meanwhile() -> None:
        if desk.store.get(pack.id).revision == pack.revision:
            writer.apply(at(pack), SetMeta(title="faster"))

    with pytest.raises(Failure) as caught:
        writer.set_status(SetStatus(id=pack.id, expected_revision=3, status="finalized"), meanwhile)
    assert caught.value.code is Code.REVISION_CONFLICT
    assert desk.store.get(pack.id).status is Status.DRAFT
