"""From a question to a pack: what is chosen, how much of it, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inmemory import FixedClock, MemoryPackStore, MemorySourceTree, SeededIds

from context_pack.kernel.errors import Failure
from context_pack.packs.commands import Draft, RenderPack
from context_pack.packs.draft import PackDrafter
from context_pack.packs.model import Status
from context_pack.packs.ports import Excerpt, Excerpted
from context_pack.packs.read import PackReader
from context_pack.toolkit.budget import tokens_of as estimate_tokens
from context_pack.toolkit.call import Check, never_cancelled

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
