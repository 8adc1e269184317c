"""Code whose first and last line stand all over its file is found all the same, in one pass over the file."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from pack_history import resolve

from context_pack.kernel.lines import LineRange
from context_pack.kernel.paths import RelativePath
from context_pack.packs.domain.anchors import anchor_of
from context_pack.packs.domain.model import Ref
from context_pack.packs.domain.places import identical
from context_pack.packs.domain.source import PRIME, SourceText, beginnings, checksum, runs
from context_pack.packs.domain.states import State

lines_of_few = st.lists(st.sampled_from(["", "a", "b", "é", "\ud800"]), min_size=1, max_size=40)


def text_of(lines: Sequence[str]) -> SourceText:
    """Lines as a file."""
    return SourceText("".join(line + "\n" for line in lines))


def ref_to(lines: Sequence[str], start: int, end: int, *, old: bool = False) -> Ref:
    """An anchored ref; an `old` anchor has no checksum."""
    anchor = anchor_of(text_of(lines), LineRange(start, end))
    assert anchor is not None
    anchor = evolve(anchor, rolling=None) if old else anchor
    return Ref("ref", RelativePath("a.py"), LineRange(start, end), anchor=anchor)


def places_of(excerpt: Sequence[str], lines: Sequence[str]) -> list[int]:
    """Every place of the excerpt, the slow way; lines counted from 0."""
    size = len(excerpt)
    return [
        at
        for at in range(len(lines) - size + 1)
        if lines[at] == excerpt[0] and list(lines[at : at + size]) == list(excerpt)
    ]


def blank_ended(body: Sequence[str], start: int, size: int) -> tuple[int, int]:
    """A range of about that size whose first and last line are blank."""
    while body[start - 1] != "":
        start += 1
    end = start + size - 1
    while body[end - 1] != "":
        end -= 1
    return start, end


@pytest.mark.clause("AN-14")
@settings(max_examples=300)
@given(lines_of_few, st.data())
def test_the_rolling_checksum_finds_every_place_of_a_run_and_no_other(
    lines: list[str], data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(lines) - 1))
    end = data.draw(st.integers(start + 1, len(lines)))
    run = lines[start:end]
    assert list(runs(beginnings(lines), len(run), checksum(run))) == places_of(run, lines)
    assert list(runs(beginnings(lines[:2]), 3, checksum(lines[:3]))) == []


@pytest.mark.clause("AN-01")
def test_a_checksum_is_the_same_in_every_process_and_depends_on_the_order() -> None:
    # Stored in files: these values may never change.
    assert checksum(["def load(path):", "", "    größe"]) == "2194292e"
    assert checksum([""]) == "00000000"
    assert checksum(["a", "b"]) != checksum(["b", "a"])
    assert int(checksum(["x" * 1000] * 2000), 16) < PRIME


@pytest.mark.clause("AN-05", "AN-14")
@pytest.mark.parametrize(
    ("count", "blank", "size"),
    [(5000, 0.5, 2000), (5000, 0.9, 1500), (20_000, 0.5, 2000), (20_000, 0.3, 300)],
)
def test_code_between_blank_lines_is_found_wherever_it_went(count: int, blank: float, size: int) -> None:
    rng = random.Random(3)
    body = ["" if rng.random() < blank else f"stmt {rng.randrange(10**6)};" for _ in range(count)]
    start, end = blank_ended(body, count // 2 - size // 2, size)
    ref, code = ref_to(body, start, end), body[start - 1 : end]
    shifted = ["new line"] * 3 + body
    sent_down = [*body[: start - 1], *body[end:], "sep", *code]
    bare = ["n", "n", *body[: start - 4], "q1", "q2", "q3", *code, "q4", "q5", "q6", *body[end + 3 :]]
    for after in (shifted, sent_down, bare):
        (place,) = places_of(code, after)
        found = resolve(ref, text_of(after))
        assert (found.state, found.excerpt) == (State.MOVED, "\n".join(code))
        assert found.found is not None
        assert found.found.lines.start == place + 1


@pytest.mark.clause("AN-05", "AN-14")
@pytest.mark.parametrize("period", [2, 4, 5])
@pytest.mark.parametrize("old", [False, True])
def test_the_same_code_one_line_further_down_is_never_called_changed(period: int, old: bool) -> None:
    body = [f"s{number}" if number % period == 0 else "" for number in range(5000)]
    start, end = blank_ended(body, 1250, 2000)
    ref = ref_to(body, start, end, old=old)
    found = resolve(ref, text_of(["one new line", *body]))
    assert found.state is State.MOVED
    assert found.found is not None
    assert found.found.lines == LineRange(start + 1, end + 1)


@pytest.mark.clause("AN-09", "AN-14")
@pytest.mark.parametrize(("count", "size"), [(6000, 2000), (60_000, 2000), (200_000, 2000), (200_000, 2)])
def test_repeated_code_of_any_size_is_ambiguous(count: int, size: int) -> None:
    body = ["ab"[number % 2] for number in range(count)]
    ref = ref_to(body, 1, size)
    body[size // 2] = "Q"
    found = resolve(ref, text_of(body))
    assert found.state is State.AMBIGUOUS
    first = size // 2 + 2 + (size // 2 + 1) % 2
    assert found.reason is not None
    assert found.reason.startswith(
        f"ambiguous, lines {first}-{first + size - 1}, {first + 2}-{first + size + 1}"
    )


@pytest.mark.clause("AN-08", "AN-14", "AN-15")
def test_a_large_file_of_equal_lines_is_searched_to_its_end() -> None:
    odd = [*[""] * 1000, "x", *[""] * 3000]
    ref = ref_to(odd, 100, 2099)
    assert ref.anchor is not None
    blank = text_of([""] * 400_000)
    assert identical(ref.anchor, blank).complete
    assert resolve(ref, blank).state is State.STALE
    hidden = text_of([*[""] * 300_000, "x", *[""] * 100_000])
    found = resolve(ref, hidden)
    assert found.state is State.MOVED
    assert found.found is not None
    assert found.found.lines == LineRange(300_001 - 901, 300_001 + 1098)


@pytest.mark.clause("AN-15")
def test_an_old_anchor_is_searched_for_with_bounded_work_and_nothing_is_claimed() -> None:
    odd = [*[""] * 1000, "x", *[""] * 3000]
    ref = ref_to(odd, 100, 2099, old=True)
    assert ref.anchor is not None
    hidden = text_of([*[""] * 300_000, "x", *[""] * 100_000])
    places = identical(ref.anchor, hidden)
    assert (places.ranges, places.complete) == ((), False)
    assert resolve(ref, hidden).state is State.STALE
