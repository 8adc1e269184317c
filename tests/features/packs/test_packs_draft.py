"""From a question to a pack: what is chosen, how much of it, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from inmemory import FixedClock, MemoryPackStore, MemorySourceTree, SeededIds

from context_pack.kernel.errors import Failure
from context_pack.packs.commands import Draft, RenderPack
from context_pack.packs.draft import PackDrafter
from context_pack.packs.model import Pack, Status
from context_pack.packs.ports import Excerpt, Excerpted, Waiting, patiently
from context_pack.packs.read import PackReader
from context_pack.toolkit.budget import tokens_of as estimate_tokens

FILES = {f"src/f{n}.py": "".join(f"line_{n}_{line} = {line}\n" for line in range(1, 101)) for n in range(6)}


class Given:
    """Passages that were found before."""

    def __init__(self, items: Sequence[Excerpt], **notes: object) -> None:
        self._found = Excerpted(items, notes)
        self.limits: list[int] = []

    def best(self, _: str, limit: int, check: Waiting = patiently, /) -> Excerpted:
        check()
        self.limits.append(limit)
        return self._found

    def changed(self, _: str, __: Waiting = patiently, /) -> Excerpted:
        return self._found

    traced = changed


class Desk:
    """A drafter over files in memory, and what reads its packs."""

    def __init__(self, *items: Excerpt, **notes: object) -> None:
        self.clock = FixedClock()
        self.store = MemoryPackStore(self.clock, SeededIds())
        tree = MemorySourceTree(FILES)
        self.given = Given(items, **notes)
        self.drafter = PackDrafter(self.store, tree, self.clock, passages=self.given)
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


@pytest.mark.clause("ME-51")
def test_a_draft_prefers_whole_functions_and_code_over_documents() -> None:
    papers = [Excerpt("documents", f"Guide {n}", 0.9, "", f"src/f{n}.py", 30, 60) for n in range(3)]
    desk = Desk(*papers, code(3, 1, 100, 0.8), code(4, 1, 20, 0.7), code(5, 1, 20, 0.6))
    drafted = desk.drafter.draft(Draft(query="how does it work", ttl_minutes=60, max_tokens=1_500))
    lines = {ref.path.value: ref.lines.count for section, ref in drafted.pack.refs if section.key == "code"}
    assert lines["src/f4.py"] == lines["src/f5.py"] == 20


def lines_of(pack: Pack) -> dict[str, int]:
    return {ref.path.value: ref.lines.count for _, ref in pack.refs}


@pytest.mark.clause("ME-51")
def test_parts_of_a_long_definition_come_after_whole_ones() -> None:
    part = evolve(code(0, 1, 40, 0.9), partial=True)
    desk = Desk(part, *(code(n, 1, 20, 0.5) for n in (1, 2)))
    lines = lines_of(desk.drafter.draft(evolve(ASKED, max_tokens=900)).pack)
    assert lines["src/f1.py"] == lines["src/f2.py"] == 20
    assert lines.get("src/f0.py", 0) < 40


@pytest.mark.clause("ME-51")
def test_a_large_definition_takes_half_of_the_room_first_only_if_it_is_the_best() -> None:
    asked, large = evolve(ASKED, max_tokens=1_800), code(0, 1, 95, 0.6)
    others = [code(n, 1, 20, 0.5) for n in (1, 2)]
    assert lines_of(Desk(large, *others).drafter.draft(asked).pack)["src/f0.py"] == 95
    second = lines_of(Desk(code(5, 50, 60, 0.9), large, *others).drafter.draft(asked).pack)
    assert second["src/f1.py"] == second["src/f2.py"] == 20


@pytest.mark.clause("ME-50")
def test_lines_that_have_changed_since_they_were_found_are_left_out() -> None:
    gone = Excerpt("code", "gone", 0.9, "", "src/gone.py", 1, 5)
    past = Excerpt("code", "past", 0.8, "", "src/f0.py", 150, 160)
    desk = Desk(gone, past, code(1, 1, 3, 0.5))
    assert [ref.path.value for _, ref in desk.drafter.draft(ASKED).pack.refs] == ["src/f1.py"]


@pytest.mark.clause("ME-50")
def test_nothing_found_is_not_found_and_stores_nothing() -> None:
    desk = Desk()
    with pytest.raises(Failure) as caught:
        desk.drafter.draft(ASKED)
    assert caught.value.code == "not_found"
    assert list(desk.store.all()) == []


@pytest.mark.clause("ME-50")
def test_nothing_found_while_the_project_is_indexed_says_so() -> None:
    desk = Desk(indexing={"done": 3, "total": 1500})
    with pytest.raises(Failure) as caught:
        desk.drafter.draft(ASKED)
    assert caught.value.code == "not_found"
    assert "indexing" in caught.value.message
    assert "try again in a moment" in caught.value.message
    assert caught.value.details == {"indexing": {"done": 3, "total": 1500}}


@pytest.mark.clause("ME-51")
@pytest.mark.parametrize(("tokens", "limit"), [(500, 60), (8_000, 160), (15_000, 300), (200_000, 300)])
def test_a_larger_budget_looks_for_more_passages(tokens: int, limit: int) -> None:
    desk = Desk(code(0, 1, 3, 0.5))
    desk.drafter.draft(Draft(query="how does it work", ttl_minutes=60, max_tokens=tokens))
    assert desk.given.limits == [limit]


@pytest.mark.clause("ME-51")
def test_many_passages_fill_a_large_budget() -> None:
    notes = [Excerpt("memory", "rule", 0.3, f"```never\n# log {number}") for number in range(20)]
    desk = Desk(*(code(n, start, start + 1, 0.9) for n in range(6) for start in range(1, 100, 2)), *notes)
    drafted = desk.drafter.draft(Draft(query="how does it work", ttl_minutes=60, max_tokens=10_000))
    assert len(drafted.pack.refs) > 60
    assert 9_850 < drafted.tokens <= 10_000
    assert desk.tokens(drafted.pack.id) == drafted.tokens


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


@pytest.mark.clause("ME-50")
def test_a_name_that_is_taken_is_refused() -> None:
    desk = Desk(code(0, 1, 3, 0.5))
    named = Draft(query="how does it work", ttl_minutes=60, name="answers")
    assert desk.drafter.draft(named).pack.name == "answers"
    with pytest.raises(Failure) as caught:
        desk.drafter.draft(named)
    assert caught.value.code == "name_conflict"
