"""What is kept of files from call to call: nothing is read twice without need, and no edit goes unseen."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import pytest
from attrs import define, field
from hypothesis import given, settings
from hypothesis import strategies as st

from context_pack.kernel.lines import LineRange
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import FileNames, FolderNames, SourceFile, Stamp, Unreadable
from context_pack.packs.domain.model import Pack, Ref
from context_pack.packs.domain.states import Resolution, State
from context_pack.packs.usecases.commands import (
    Create,
    DeleteRef,
    NamedPack,
    PackAtRevision,
    RenderPack,
    UpsertRef,
    UpsertSection,
)
from context_pack.packs.usecases.read import PackReader
from context_pack.packs.usecases.resolving import RefMemory
from context_pack.packs.usecases.verify import PackVerifier
from context_pack.packs.usecases.write import PackWriter
from context_pack_adapters.inmemory import FixedClock, MemoryPackStore, MemorySourceTree, SeededIds


class WatchedTree(MemorySourceTree):
    """A source tree that remembers what was read, and can give files no stamp."""

    def __init__(self, files: Mapping[str, str | bytes]) -> None:
        super().__init__(files)
        self.reads: list[str] = []
        self.young: set[str] = set()

    def read(self, path: RelativePath, max_bytes: int) -> SourceFile | Unreadable:
        """One file, remembered."""
        self.reads.append(str(path))
        found = super().read(path, max_bytes)
        if isinstance(found, SourceFile) and str(path) in self.young:
            return SourceFile(path, found.text, found.size, found.modified_ns)
        return found

    def taken(self) -> list[str]:
        """What was read since the last question."""
        reads, self.reads = self.reads, []
        return reads

    def read_all(
        self, paths: Iterable[RelativePath], max_bytes: int, _: bool = False, /
    ) -> Iterator[SourceFile | Unreadable]:
        """Each as if it was asked for alone."""
        return (self.read(path, max_bytes) for path in paths)

    def unchanged(self, stamps: Mapping[RelativePath, Stamp]) -> Collection[RelativePath]:
        """As the twin says."""
        return super().unchanged(stamps)

    def names(self) -> FileNames:
        """As the twin says."""
        return super().names()

    def folder(self, path: RelativePath | None) -> FolderNames:
        """As the twin says."""
        return super().folder(path)


@define
class Bench:
    """What a shop needs of a desk, anew for every example."""

    clock: FixedClock = field(factory=FixedClock)
    max_source_bytes: int = 2 * 1024 * 1024
    store: MemoryPackStore = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.store = MemoryPackStore(self.clock, SeededIds())


class Shop:
    """The use cases over two files and a pack with a ref into each, sharing what they see."""

    def __init__(self, desk: Any) -> None:
        self.files: dict[str, str | bytes] = {
            f"src/{name}.py": "".join(f"{name} {number}\n" for number in range(1, 31)) for name in "ab"
        }
        self.tree = WatchedTree(self.files)
        parts = (desk.store, self.tree, desk.clock, desk.max_source_bytes, RefMemory())
        self.reader, self.writer, self.verifier = PackReader(*parts), PackWriter(*parts), PackVerifier(*parts)
        pack = self.writer.create(Create(ttl_minutes=600))
        pack = self.apply(pack, UpsertSection(section_key="main", section_title="Main"))
        for name in "ab":
            pack = self.apply(pack, self.ref(name))
        self.pack = pack

    def ref(self, name: str, start: int = 10, end: int = 12) -> UpsertRef:
        """A ref into one of the files."""
        return UpsertRef(
            section_key="main", ref_key=f"ref-{name}", path=f"src/{name}.py", line_start=start, line_end=end
        )

    def apply(self, pack: Pack, operation: Any) -> Pack:
        """The pack after an operation."""
        return self.writer.apply(PackAtRevision(id=pack.id, expected_revision=pack.revision), operation).pack

    def page(self) -> str:
        """The rendered pack."""
        return self.reader.render(RenderPack(id=self.pack.id)).text

    def states(self) -> list[State]:
        """The state of every ref."""
        return [one.resolution.state for one in self.verifier.verify(NamedPack(id=self.pack.id)).refs]


@pytest.fixture
def shop(desk: Any) -> Shop:
    """A pack over files that are watched."""
    return Shop(desk)


@pytest.mark.clause("PK-66")
def test_a_file_is_not_read_again_while_it_stays_as_it_is(shop: Shop) -> None:
    assert shop.tree.taken() == ["src/a.py", "src/b.py"]
    first = shop.page()
    assert "  10: a 10\n" in first
    assert (shop.page(), shop.states()) == (first, [State.EXACT, State.EXACT])
    assert shop.tree.taken() == []


@pytest.mark.clause("PK-66")
def test_an_edit_shows_in_the_next_answer_and_only_its_file_is_read(shop: Shop) -> None:
    shop.page()
    shop.tree.taken()
    shop.files["src/a.py"] = "new\n" + str(shop.files["src/a.py"])
    assert "- lines: 11-13 (moved from 10-12)\n" in shop.page()
    assert shop.tree.taken() == ["src/a.py"]
    assert shop.states() == [State.MOVED, State.EXACT]
    shop.files["src/a.py"] = str(shop.files["src/a.py"]).replace("a 11", "A 11")
    page = shop.page()
    assert "> changed since anchored" in page
    assert "A 11" in page
    assert shop.tree.taken() == ["src/a.py", "src/b.py"]
    assert shop.page() == page
    assert shop.tree.taken() == ["src/a.py"], "the other file is known not to have the code"
    shop.files["src/b.py"] = "\n".join(f"a {number}" for number in range(1, 30))
    assert "- path: src/b.py (moved from src/a.py)" in shop.page()


@pytest.mark.clause("PK-66")
def test_a_file_that_vanishes_or_moves_is_missed_at_once(shop: Shop) -> None:
    shop.page()
    text = shop.files.pop("src/b.py")
    assert "> stale ref: file not found" in shop.page()
    shop.files["lib/b.py"] = text
    assert "- path: lib/b.py (moved from src/b.py)" in shop.page()
    shop.files["lib/b.py"] = str(text).replace("b 11", "B 11")
    assert "> stale ref: file not found" in shop.page()
    shop.files["src/b.py"] = text
    assert "stale" not in shop.page()


@pytest.mark.clause("PK-66")
def test_a_file_too_young_to_be_trusted_is_read_in_every_call(shop: Shop) -> None:
    shop.tree.young.add("src/a.py")
    shop.files["src/a.py"] = "x\n" + str(shop.files["src/a.py"])
    for _ in range(3):
        shop.tree.taken()
        assert "(moved from 10-12)" in shop.page()
        assert shop.tree.taken() == ["src/a.py"]


@pytest.mark.clause("PK-66")
def test_a_cached_page_shows_the_current_time_and_revision(shop: Shop, desk: Any) -> None:
    assert "- ttl_remaining: 10h\n" in shop.page()
    desk.clock.advance(hours=1)
    assert "- ttl_remaining: 9h\n" in shop.page()
    shop.pack = shop.apply(shop.pack, shop.ref("a", 20, 21))
    assert f"- revision: {shop.pack.revision}\n" in shop.page()
    assert "- lines: 20-21\n" in shop.page()
    shop.pack = shop.apply(shop.pack, DeleteRef(section_key="main", ref_key="ref-a"))
    assert "ref-a" not in shop.page()


@pytest.mark.clause("PK-66")
def test_modes_and_budgets_have_pages_of_their_own(shop: Shop) -> None:
    full = shop.page()
    compact = shop.reader.render(RenderPack(id=shop.pack.id, mode="compact")).text
    assert "a 10" in full
    assert "a 10" not in compact
    assert shop.page() == full


@pytest.mark.clause("PK-66")
def test_the_ref_cache_is_bounded() -> None:
    memory = RefMemory(most_chars=100_000)
    refs = [Ref("ref", RelativePath("a.py"), LineRange(number, number)) for number in range(1, 200)]
    for ref in refs:
        memory.keep(ref, 1, Resolution(State.STALE, excerpt="x" * 1000))
        assert memory.of(ref) is not None
        assert len([other for other in refs if memory.of(other) is not None]) < 60


EDITS = st.lists(
    st.tuples(
        st.sampled_from(["insert", "change", "swap", "remove", "restore", "move", "young", "upsert"]),
        st.sampled_from("ab"),
        st.integers(0, 30),
    ),
    min_size=1,
    max_size=12,
)


@pytest.mark.clause("PK-66")
@settings(max_examples=60)
@given(EDITS)
def test_cached_pages_equal_fresh_ones_after_any_file_change(
    edits: list[tuple[str, str, int]],
) -> None:
    desk = Bench()
    shop = Shop(desk)
    first = dict(shop.files)
    for action, name, at in edits:
        edit(shop, first, action, name, at)
        alone = (desk.store, shop.tree, desk.clock, desk.max_source_bytes)
        fresh = PackReader(*alone).render(RenderPack(id=shop.pack.id)).text
        assert shop.page() == fresh
        assert shop.page() == fresh
        verified = PackVerifier(*alone).verify(NamedPack(id=shop.pack.id))
        assert shop.verifier.verify(NamedPack(id=shop.pack.id)) == verified


def edit(shop: Shop, first: Mapping[str, str | bytes], action: str, name: str, at: int) -> None:
    """Do one thing to a file, or to the pack."""
    path, other = f"src/{name}.py", f"lib/{name}.py"
    lines = str(shop.files.get(path, "")).split("\n")
    if action == "insert":
        shop.files[path] = "\n".join([*lines[:at], "new", *lines[at:]])
    elif action == "change":
        shop.files[path] = "\n".join(
            [*lines[:at], *("x" * len(line) for line in lines[at : at + 1]), *lines[at + 1 :]]
        )
    elif action == "swap":
        shop.files[path] = first[f"src/{'b' if name == 'a' else 'a'}.py"]
    elif action == "remove":
        shop.files.pop(path, None)
    elif action == "restore":
        shop.files[path] = first[path]
    elif action == "move" and path in shop.files:
        shop.files[other] = shop.files.pop(path)
    elif action == "young":
        shop.tree.young ^= {path}
    elif action == "upsert":
        shop.pack = shop.apply(shop.pack, shop.ref(name, at + 1, at + 2))
