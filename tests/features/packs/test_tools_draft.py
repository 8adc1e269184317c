"""Packs drafted from a question, a diff or stack traces: what is chosen, how much of it, what is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from file_trees import committed, lay
from hypothesis import given, settings
from hypothesis import strategies as st
from inmemory import FixedClock, MemoryPackStore, MemorySourceTree, SeededIds

from context_pack import open_workspace
from context_pack.kernel.errors import Failure
from context_pack.packs.commands import Draft, RenderPack
from context_pack.packs.draft import PackDrafter
from context_pack.packs.model import Status
from context_pack.packs.ports import Excerpt, Excerpted
from context_pack.packs.read import PackReader
from context_pack.toolkit.budget import tokens_of as estimate_tokens
from context_pack.toolkit.call import Check, never_cancelled
from context_pack_adapters.library import Workspace

FILES = {f"src/f{n}.py": "".join(f"line_{n}_{line} = {line}\n" for line in range(1, 101)) for n in range(6)}


class Given:
    """Passages that were found before."""

    def __init__(self, items: Sequence[Excerpt], **notes: object) -> None:
        self._found = Excerpted(items, notes)
        self.limits: list[int] = []

    def best(self, _: str, limit: int, check: Check = never_cancelled, /) -> Excerpted:
        check()
        self.limits.append(limit)
        return self._found

    def changed(self, _: str, __: Check = never_cancelled, /) -> Excerpted:
        return self._found

    traced = changed


class Desk:
    """A drafter over files in memory, and what reads its packs."""

    def __init__(self, *items: Excerpt, **notes: object) -> None:
        self.clock = FixedClock()
        self.store = MemoryPackStore(self.clock, SeededIds())
        tree = MemorySourceTree(FILES)
        self.given = Given(items, **notes)
        self.drafter = PackDrafter(self.store, tree, self.clock, passages=lambda: self.given)
        self.reader = PackReader(self.store, tree, self.clock)

    def tokens(self, pack_id: str) -> int:
        return estimate_tokens(self.reader.render(RenderPack(id=pack_id, max_tokens=200_000)).text)


def code(n: int, start: int, end: int, score: float) -> Excerpt:
    return Excerpt("code", f"f{n}.work", score, "", f"src/f{n}.py", start, end, "defines work; has work")


ASKED = Draft(query="how does it work", ttl_minutes=60)


@pytest.mark.clause("ME-50", "ME-51")
def test_the_best_passages_become_anchored_refs_with_a_reason() -> None:
    note = Excerpt("memory", "rule", 0.4, "Never log\n tokens")
    paper = Excerpt("documents", "Guide", 0.3, "", "src/f1.py", 5, 6)
    desk = Desk(
        code(0, 1, 10, 0.9), note, paper, code(0, 8, 12, 0.2), code(0, 20, 22, 0.1), indexing={"done": 1}
    )
    drafted = desk.drafter.draft(ASKED)
    pack = desk.store.get(drafted.pack.id)
    assert pack == drafted.pack
    assert (pack.status, pack.revision, pack.title) == (Status.DRAFT, 1, "how does it work")
    assert [section.key for section in pack.sections] == ["code", "documents", "memory"]
    refs = [(ref.key, ref.path.value, str(ref.lines)) for _, ref in pack.refs]
    assert refs == [
        ("f0-work", "src/f0.py", "1-10"),
        ("f0-work-2", "src/f0.py", "20-22"),
        ("guide", "src/f1.py", "5-6"),
    ]
    assert all(ref.anchor is not None for _, ref in pack.refs)
    assert pack.refs[0][1].why == 'found for "how does it work": defines work; has work'
    assert pack.sections[2].description == ('- rule: Never log tokens (found for "how does it work")')
    assert drafted.notes == {"indexing": {"done": 1}}
    assert drafted.tokens == desk.tokens(pack.id)


@pytest.mark.clause("ME-51")
@settings(max_examples=40)
@given(
    st.integers(500, 3000),
    st.lists(st.tuples(st.integers(0, 5), st.integers(1, 90), st.integers(0, 60)), min_size=1, max_size=8),
)
def test_the_rendered_pack_never_passes_its_budget(tokens: int, places: list[tuple[int, int, int]]) -> None:
    items = [code(n, start, min(100, start + more), 0.9) for n, start, more in places]
    desk = Desk(*items)
    drafted = desk.drafter.draft(Draft(query="how does it work", ttl_minutes=60, max_tokens=tokens))
    assert desk.tokens(drafted.pack.id) <= tokens
    desk.clock.advance(minutes=59)
    assert desk.tokens(drafted.pack.id) <= tokens


@pytest.mark.clause("ME-51")
def test_a_passage_that_does_not_fit_is_cut_and_a_smaller_one_still_comes() -> None:
    desk = Desk(code(0, 1, 100, 0.9), code(1, 1, 3, 0.5))
    drafted = desk.drafter.draft(Draft(query="how does it work", ttl_minutes=60, max_tokens=600))
    lines = {ref.path.value: ref.lines.count for _, ref in drafted.pack.refs}
    assert 5 <= lines["src/f0.py"] < 100
    assert lines["src/f1.py"] == 3
    assert drafted.tokens > 300


@pytest.mark.clause("ME-50")
@pytest.mark.parametrize(
    ("notes", "words"),
    [({}, "ask in other words"), ({"indexing": {"done": 3, "total": 1500}}, "try again in a moment")],
)
def test_nothing_found_is_not_found_and_stores_nothing(notes: dict[str, object], words: str) -> None:
    desk = Desk(**notes)
    with pytest.raises(Failure) as caught:
        desk.drafter.draft(ASKED)
    assert (caught.value.code, caught.value.details) == ("not_found", notes)
    assert words in caught.value.message
    assert list(desk.store.all()) == []


@pytest.mark.clause("ME-50")
@pytest.mark.parametrize(
    "change",
    [{"query": "ab"}, {"query": " " * 9}, {"query": "x" * 501}, {"max_tokens": 499}, {"max_tokens": 200_001}],
)
def test_questions_and_budgets_out_of_bounds_are_refused(change: dict[str, object]) -> None:
    desk = Desk(code(0, 1, 3, 0.5))
    given: dict[str, object] = {"query": "how does it work", "ttl_minutes": 60, **change}
    with pytest.raises(Failure) as caught:
        desk.drafter.draft(Draft(**given))  # type: ignore[arg-type]
    assert caught.value.code == "invalid_data"


SHOP = """\
RATE = 2


def price(item):
    return item.net * RATE


class Shop:
    def total(self, items):
        return sum(price(item) for item in items)

    def empty(self):
        return not self.total([])
"""
TEST = """\
from shop import Shop


def test_total():
    assert Shop().total([]) == 0
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with one commit."""
    return committed(tmp_path / "project", {"shop.py": SHOP, "tests/test_shop.py": TEST})


@pytest.fixture
def workspace(root: Path) -> Iterator[Workspace]:
    with open_workspace(root) as opened:
        yield opened


def places(workspace: Workspace, pack: str, section: str) -> list[str]:
    """Where the refs of a section are."""
    found = workspace.packs.get(pack).section(section)
    return [] if found is None else [f"{ref.title} {ref.path}:{ref.lines}" for ref in found.refs]


@pytest.mark.clause("PK-84")
def test_a_diff_brings_what_changed_whole_who_uses_it_and_what_is_known(
    root: Path, workspace: Workspace
) -> None:
    known = workspace.packs.create(name="notes", ttl_minutes=60)
    known = workspace.packs.upsert_section(known, section_key="main", section_title="Main")
    workspace.packs.upsert_ref(
        known, section_key="main", ref_key="total", symbol="Shop.total", ref_why="Sums are never cached."
    )
    (root / "shop.py").write_text(SHOP.replace("sum(price", "3 + sum(price").replace("RATE = 2", "RATE = 3"))
    drafted = workspace.packs.draft(diff="HEAD", name="review", ttl_minutes=60)
    assert drafted.notes == {}
    assert drafted.pack.title == "Changes since HEAD"
    assert places(workspace, "review", "changed") == ["RATE shop.py:1-1", "Shop.total shop.py:9-10"]
    assert places(workspace, "review", "callers") == ["price shop.py:4-5", "Shop.empty shop.py:12-13"]
    assert places(workspace, "review", "tests") == ["test_total tests/test_shop.py:4-5"]
    text = workspace.packs.document("review")
    assert "- shop.py: +2 -2\n" in text
    assert "- Sums are never cached. (pack notes, ref total)" in text
    (root / "shop.py").write_text(
        "import os\n\n" + (root / "shop.py").read_text().replace("3 + sum", "4 + sum")
    )
    states = {one.ref.title: str(one.resolution.state) for one in workspace.packs.verify("review").refs}
    assert states["Shop.total"] == "changed"
    assert states["Shop.empty"] == "moved"


@pytest.mark.clause("PK-84")
def test_what_does_not_fit_is_named_and_the_text_of_a_diff_does_as_well(
    root: Path, workspace: Workspace
) -> None:
    body = "".join(f"    value_{n} = {n}\n" for n in range(300))
    (root / "long.py").write_text(f"def long():\n{body}\n\ndef short():\n    return 1\n")
    diff = "--- /dev/null\n+++ b/long.py\n@@ -0,0 +1,305 @@\n" + "+x\n" * 305
    drafted = workspace.packs.draft(diff=diff, name="big", ttl_minutes=60, max_tokens=900)
    assert drafted.notes["left_out"] == ["long long.py:1-301"]
    assert "short long.py:304-305" in places(workspace, "big", "changed")
    with pytest.raises(Failure, match="nothing has changed"):
        workspace.packs.draft(diff="HEAD", ttl_minutes=60)
    with pytest.raises(Failure, match="one of 'query', 'diff' and 'trace'"):
        workspace.packs.draft(query="what is it", diff="HEAD", ttl_minutes=60)


@pytest.mark.clause("PK-84")
@pytest.mark.parametrize(
    ("name", "code", "frame", "place"),
    [
        ("a/b.py", "def f():\n    return 1 / 0\n", '  File "/x/y/a/b.py", line 2, in f', "f a/b.py:1-2"),
        (
            "src/p/B.java",
            "package p;\nclass B {\n  void f() {\n    g();\n  }\n}\n",
            "\tat p.B.f(B.java:4)",
            "B.f src/p/B.java:3-5",
        ),
    ],
)
def test_each_frame_of_a_trace_is_shown_at_its_function(
    root: Path, workspace: Workspace, name: str, code: str, frame: str, place: str
) -> None:
    lay(root, {name: code})
    workspace.packs.draft(trace=f"SomeError: it broke\n{frame}\n", name="trace", ttl_minutes=60)
    assert workspace.packs.get("trace").title == "Trace: SomeError: it broke"
    assert places(workspace, "trace", "trace") == [place]
    with pytest.raises(Failure, match="no file of this project"):
        workspace.packs.draft(trace="nothing here", ttl_minutes=60)
