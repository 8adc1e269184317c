"""One order of two searches, scores that mean something, and neighbours that are shown once."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from context_pack.retrieval.fusion import calibrated, fused, relevances, shares
from context_pack.retrieval.model import FoundPiece
from context_pack.retrieval.neighbours import without_repeats

PIECES = st.integers(1, 30)
WORD_SCORES = st.dictionaries(PIECES, st.floats(0.01, 30))
COSINES = st.dictionaries(PIECES, st.floats(-1, 1))


@pytest.mark.clause("RT-20")
def test_the_embedder_weight_decides_between_keyword_and_vector_rank() -> None:
    keyword = {1: 10.0, 2: 4.0}
    cosines = {1: 0.1, 2: 0.9}
    assert fused(shares(keyword, cosines), 0.2) == [1, 2]
    assert fused(shares(keyword, cosines), 0.7) == [2, 1]
    assert fused(shares(keyword, {}), 0.7) == [1, 2]
    assert fused(shares({}, cosines), 0.2) == [2, 1]
    assert fused(shares({7: 1.0, 3: 1.0}, {}), 0.2) == [3, 7], "ties by piece"


@pytest.mark.clause("RT-20")
@given(WORD_SCORES, COSINES, st.floats(0.01, 0.99), st.floats(0, 0.8))
def test_fusion_ranks_a_hit_better_in_both_rankings_first(
    keyword: dict[int, float], cosines: dict[int, float], weight: float, floor: float
) -> None:
    order = fused(shares(keyword, cosines, floor), weight)
    assert sorted(order) == sorted(keyword.keys() | cosines.keys())
    for one in order:
        for other in order[order.index(one) + 1 :]:
            assert not (
                keyword.get(other, 0.0) > keyword.get(one, 0.0) * 1.001
                and cosines.get(other, -1.0) > max(cosines.get(one, -1.0), floor) + 0.001
            )


@pytest.mark.clause("RT-22")
@given(WORD_SCORES, COSINES, st.floats(0, 1), st.floats(0, 60), st.floats(0, 0.9))
def test_relevance_is_between_0_and_1_and_never_rises(
    keyword: dict[int, float], cosines: dict[int, float], weight: float, ideal: float, unrelated: float
) -> None:
    order = fused(shares(keyword, cosines, unrelated), weight)
    found = relevances(order, keyword, cosines, weight=weight, ideal=ideal, unrelated=unrelated)
    assert len(found) == len(order)
    assert all(0 <= one <= 1 for one in found)
    assert found == sorted(found, reverse=True)


@pytest.mark.clause("RT-22")
def test_relevance_is_absolute_so_that_a_weak_first_hit_stays_weak() -> None:
    strong = relevances([1], {1: 9.0}, {1: 0.8}, weight=0.2, ideal=10.0)
    weak = relevances([1], {1: 1.0}, {1: 0.1}, weight=0.2, ideal=10.0)
    assert strong[0] > 0.8 > 0.2 > weak[0]
    assert relevances([1], {}, {1: 0.5}, weight=1.0, ideal=0.0) == [0.5], "the vectors alone"
    assert relevances([1], {1: 5.0}, {}, weight=0.0, ideal=10.0) == [0.5], "the words alone"
    assert calibrated(0.4, 0.6) == 0.0
    assert calibrated(1.0, 0.6) == 1.0


def found(index: int, text: str, start: int, end: int, key: str = "a.md") -> FoundPiece:
    return FoundPiece(index, "docs", key, "A", index, 9, text, start, end)


@pytest.mark.clause("RT-26")
def test_overlapping_lines_are_cut_from_the_lower_ranked_passage() -> None:
    first, second = found(1, "one\ntwo\nthree", 1, 3), found(2, "two\nthree\nfour", 2, 4)
    kept = [one for one in without_repeats([first, second]) if one]
    assert [(one.text, one.start, one.end) for one in kept] == [("one\ntwo\nthree", 1, 3), ("four", 4, 4)]
    kept = [one for one in without_repeats([second, first]) if one]
    assert [(one.text, one.start, one.end) for one in kept] == [("two\nthree\nfour", 2, 4), ("one", 1, 1)]


@pytest.mark.clause("RT-26")
def test_a_passage_between_two_shown_ones_keeps_only_what_is_its_own() -> None:
    passages = [found(1, "a\nb", 1, 2), found(3, "c\nd", 3, 4), found(2, "b\nc", 2, 3)]
    assert [one and one.text for one in without_repeats(passages)] == ["a\nb", "c\nd", None]
    longer = [found(1, "a\nb", 1, 2), found(3, "d\ne", 4, 5), found(2, "b\nc\nd", 2, 4)]
    last = without_repeats(longer)[2]
    assert last is not None
    assert (last.text, last.start, last.end) == ("c", 3, 3)


@pytest.mark.clause("RT-26")
def test_equal_passages_of_one_entry_are_shown_once() -> None:
    apart = [found(1, "same", 1, 1), found(3, "same", 3, 3), found(2, "same", 2, 2)]
    assert without_repeats(apart) == [apart[0], None, None]
    others = [found(1, "same", 1, 1), found(1, "same", 1, 1, key="b.md"), found(2, "same too", 2, 2)]
    assert without_repeats(others) == others


@pytest.mark.clause("RT-26")
@given(
    st.lists(st.sampled_from(["a", "b", "a b"]), min_size=1, max_size=6),
    st.lists(st.sampled_from(["a", "b", "a b"]), max_size=4),
    st.lists(st.sampled_from(["a", "b", "a b"]), min_size=1, max_size=6),
)
def test_two_overlapping_passages_show_every_line_once(
    before: list[str], shared: list[str], after: list[str]
) -> None:
    lines = [*before, *shared, *after]
    begin, end = len(before), len(before) + len(shared)
    first = found(1, "\n".join(lines[:end]), 1, end)
    second = found(2, "\n".join(lines[begin:]), begin + 1, len(lines))
    assume(first.text != second.text)
    assert without_repeats([first, second]) == [
        first,
        found(2, "\n".join(after), end + 1, len(lines)),
    ]
    assert without_repeats([second, first]) == [second, found(1, "\n".join(before), 1, begin)]
