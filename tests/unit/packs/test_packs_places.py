"""Finding code again, against a brute-force oracle: precision, recall, and bounded work."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pack_history import resolve

from context_pack.kernel.lines import LineRange
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.text import sha256_hex, split_lines
from context_pack.packs.domain.anchors import Anchor, anchor_of
from context_pack.packs.domain.model import Ref
from context_pack.packs.domain.places import MOST_PLACES, identical
from context_pack.packs.domain.source import SourceText, checksum, fingerprint
from context_pack.packs.domain.states import State

few_lines = st.lists(st.sampled_from(["", "}", "x", "alpha beta", "gamma()", "return", "x "]), max_size=40)
any_text = st.text(alphabet="ab\n\r\u2028\x85", max_size=60)


def ref_to(source: SourceText, start: int, end: int) -> Ref:
    """An anchored ref."""
    lines = LineRange(start, end)
    return Ref("ref", RelativePath("a.py"), lines, anchor=anchor_of(source, lines))


def places_of(excerpt: Sequence[str], lines: Sequence[str]) -> list[int]:
    """Every place of the excerpt, the slow way; lines counted from 1."""
    size = len(excerpt)
    return [at + 1 for at in range(len(lines) - size + 1) if list(lines[at : at + size]) == list(excerpt)]


@pytest.mark.clause("PK-46")
@given(any_text)
def test_source_text_lines_agree_with_split_lines(text: str) -> None:
    source, lines = SourceText(text), split_lines(text)
    assert source.count == len(lines)
    assert source.lines == lines
    for start in range(1, len(lines) + 1):
        for end in range(start, len(lines) + 1):
            assert source.cut(start, end) == "\n".join(lines[start - 1 : end])
        assert source.cut(start, len(lines) + 1) is None


@pytest.mark.clause("AN-15")
@given(few_lines)
def test_lines_are_found_by_their_fingerprints_as_often_as_one_asks(lines: list[str]) -> None:
    source = SourceText("\n".join(lines))
    for _ in range(2):
        for line in ("", "}", "x", "x ", "return", "never"):
            wanted = [at for at, other in enumerate(source.lines) if other == line]
            assert list(source.like(fingerprint(line))) == wanted


@pytest.mark.clause("PK-46")
@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 300), st.integers(1, 120)), min_size=1, max_size=6), st.randoms())
def test_lines_are_found_however_wide_they_are(widths: list[tuple[int, int]], rng: random.Random) -> None:
    lines = [f"{number}{'y' * width}" for width, count in widths for number in range(count)]
    source = SourceText("\n".join(lines) + "\n")
    for _ in range(20):
        start = rng.randrange(1, len(lines) + 1)
        end = rng.randrange(start, len(lines) + 1)
        assert source.cut(start, end) == "\n".join(lines[start - 1 : end])
        assert source.cut(start, len(lines) + rng.randrange(1, 100)) is None
        assert list(source.occurrences(lines[start - 1])) == [
            at for at, line in enumerate(lines, 1) if line == lines[start - 1]
        ]
    assert source.cut(len(lines) + 2, len(lines) + 2) is None


@pytest.mark.clause("AN-05", "AN-09", "AN-14")
@settings(max_examples=300)
@given(few_lines.filter(bool), few_lines, few_lines, st.data())
def test_states_agree_with_a_brute_force_search(
    before: list[str], above: list[str], below: list[str], data: st.DataObject
) -> None:
    start = data.draw(st.integers(1, len(before)))
    end = data.draw(st.integers(start, len(before)))
    ref = ref_to(SourceText("\n".join(before) + "\n"), start, end)
    excerpt = before[start - 1 : end]
    after = data.draw(
        st.sampled_from([above + before + below, above + excerpt + below, above + below, before])
    )
    resolution = resolve(ref, SourceText("\n".join(after) + "\n" if after else ""))
    places = places_of(excerpt, after)
    if start in places:
        assert resolution.state is State.EXACT
    elif len(places) == 1:
        assert resolution.state is State.MOVED
        assert resolution.found is not None
        assert resolution.found.lines == LineRange(places[0], places[0] + len(excerpt) - 1)
    elif len(places) > 1:
        assert resolution.state is State.AMBIGUOUS
    else:
        assert resolution.state in (State.CHANGED, State.STALE)
    if resolution.state in (State.EXACT, State.MOVED):
        assert resolution.excerpt == "\n".join(excerpt)
    if resolution.state is State.CHANGED:
        assert resolution.found is not None
        assert resolution.found.lines.end <= len(after)
        assert resolution.excerpt == "\n".join(
            after[resolution.found.lines.start - 1 : resolution.found.lines.end]
        )


@pytest.mark.clause("AN-14")
def test_unique_code_is_found_after_any_edit_around_it() -> None:
    rng = random.Random(11)
    original = [
        f"{'    ' * rng.randrange(3)}call_{rng.randrange(400)}({rng.randrange(9)})" for _ in range(1500)
    ]
    source = SourceText("\n".join(original) + "\n")
    asked = found = 0
    for _ in range(300):
        size = rng.choice([1, 2, 5, 20, 200])
        start = rng.randrange(1, len(original) - size)
        ref = ref_to(source, start, start + size - 1)
        edited = list(original)
        for _ in range(rng.randrange(1, 12)):
            at = rng.randrange(len(edited))
            edited[at : at + rng.randrange(3)] = [f"edit_{rng.random()}" for _ in range(rng.randrange(4))]
        places = places_of(original[start - 1 : start + size - 1], edited)
        if len(places) == 1:
            asked += 1
            resolution = resolve(ref, SourceText("\n".join(edited) + "\n"))
            assert resolution.found is not None
            right = resolution.found.lines.start == places[0]
            found += right and resolution.state in (State.EXACT, State.MOVED)
    assert asked > 50
    assert found == asked


@pytest.mark.clause("AN-09", "AN-15")
def test_of_many_equal_places_only_a_few_are_named() -> None:
    ref = ref_to(SourceText("a\n" + "b\n" * 10), 3, 4)
    assert ref.anchor is not None
    places = identical(ref.anchor, SourceText("b\n" * 100_000))
    assert (len(places.ranges), places.complete) == (MOST_PLACES, False)


@pytest.mark.clause("AN-08", "AN-14")
@pytest.mark.parametrize("left", range(12))
def test_a_file_that_became_shorter_than_the_code_is_searched_too(left: int) -> None:
    lines = ["same"] * 12
    ref = ref_to(SourceText("\n".join(lines)), 1, 12)
    found = resolve(ref, SourceText("\n".join(lines[:left])))
    assert found.state in (State.CHANGED, State.STALE)


@pytest.mark.clause("AN-14")
def test_equal_fingerprints_alone_prove_nothing() -> None:
    lines = SourceText("first\nmiddle\nlast\n")
    anchor = anchor_of(lines, LineRange(1, 3))
    assert anchor is not None
    assert identical(anchor, SourceText("first\nother!\nlast\n")).ranges == ()
    prints = fingerprint("first"), fingerprint("last")
    sum_ = checksum(["first", "middle", "last"])
    assert anchor == Anchor(sha256_hex("first\nmiddle\nlast"), 3, (), (), *prints, sum_, anchor.sketch)


@pytest.mark.clause("AN-02")
def test_a_lone_carriage_return_before_the_line_end_counts_once() -> None:
    source = SourceText("a\r\r\nb\r\nc\r")
    assert source.lines == ["a\r", "b", "c"]
    ref = ref_to(source, 1, 2)
    assert resolve(ref, SourceText("new\na\r\r\nb\nc")).state is State.MOVED
    assert resolve(ref, SourceText("new\na\r\nb\nc")).state is not State.MOVED
