"""Changed code: shown where telling lines say that it stands, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from pack_history import resolve

from context_pack.kernel.lines import LineRange
from context_pack.kernel.paths import RelativePath
from context_pack.packs.domain.anchors import anchor_of
from context_pack.packs.domain.model import Ref
from context_pack.packs.domain.source import SourceText
from context_pack.packs.domain.states import Resolution, State

FORTY = [f"statement_{number}()" for number in range(40)]


def resolved(before: list[str], start: int, end: int, after: list[str]) -> Resolution:
    """What became of a ref when its file became another, by an old anchor: the surroundings alone say it."""
    lines = LineRange(start, end)
    anchor = anchor_of(SourceText("".join(line + "\n" for line in before)), lines)
    assert anchor is not None
    ref = Ref("ref", RelativePath("a.py"), lines, anchor=evolve(anchor, sketch=None))
    return resolve(ref, SourceText("".join(line + "\n" for line in after)))


@pytest.mark.clause("AN-07", "AN-10")
@pytest.mark.parametrize(
    ("before", "start", "end", "after"),
    [
        (["a", "b", "c"], 2, 3, ["a"]),
        (["alpha", "beta", "gamma"], 2, 3, ["alpha"]),
        (["alpha", "beta"], 2, 2, ["other"]),
        (FORTY, 30, 40, ["quite", "other"]),
        (FORTY, 1, 40, ["quite", "other"]),
        (FORTY, 1, 5, ["quite", "other"]),
        (FORTY, 1, 5, ["other"]),
        (["alpha", "", "}", "beta", "gamma"], 4, 5, ["other", "", "}", "more"]),
        (["def f():", "    x", "", "", "def g():", "    y", "}"], 5, 7, ["zzz", "", "", "import os", "}"]),
        (FORTY, 38, 40, FORTY[:37]),
        (FORTY, 38, 40, FORTY[35:37]),
        ([*FORTY[:3], "beta"], 4, 4, FORTY[:3]),
    ],
)
def test_a_ref_past_the_end_is_not_placed_by_a_trivial_line(
    before: list[str], start: int, end: int, after: list[str]
) -> None:
    found = resolved(before, start, end, after)
    assert (found.state, found.found) == (State.STALE, None)
    assert found.reason is not None
    assert found.reason.startswith(f"lines {start}-{end} are past the end of the file")


@pytest.mark.clause("AN-07")
def test_a_ref_at_an_end_of_the_file_is_followed_by_its_neighbours() -> None:
    head = resolved(FORTY, 1, 3, ["import os", "changed()", *FORTY[3:]])
    assert (head.state, head.excerpt) == (State.CHANGED, "import os\nchanged()")
    tail = resolved(FORTY, 38, 40, [*FORTY[20:37], "changed()"])
    assert (tail.state, tail.excerpt) == (State.CHANGED, "changed()")


@pytest.mark.clause("AN-08")
def test_lines_that_only_have_the_old_numbers_are_never_shown() -> None:
    found = resolved(FORTY, 1, 2, ["quite", "other", "lines"])
    assert (found.state, found.found, found.excerpt) == (State.STALE, None, None)


@pytest.mark.clause("AN-07")
def test_code_that_was_removed_is_not_replaced_by_what_stood_around_it() -> None:
    # The last line has slipped below what followed it: it must not stretch the code over its surroundings.
    before = [*FORTY[:9], "first_line()", "last_line()", *FORTY[9:]]
    after = [*FORTY[:12], "last_line()", *FORTY[12:]]
    found = resolved(before, 10, 11, [*["new()"] * 5, *after])
    assert (found.state, found.found) == (State.STALE, None)


@st.composite
def edits(draw: st.DrawFn) -> tuple[int, int, list[str]]:
    """A range of the forty lines, and the lines after some were moved, dropped, doubled and put in."""
    start = draw(st.integers(1, 40))
    end = draw(st.integers(start, min(40, start + 6)))
    after = list(FORTY)
    for _ in range(draw(st.integers(1, 4))):
        low = draw(st.integers(0, len(after)))
        high = draw(st.integers(low, min(len(after), low + 12)))
        taken, after = after[low:high], [*after[:low], *after[high:]]
        to = draw(st.integers(0, len(after)))
        what = draw(st.sampled_from(["drop", "move", "double", "new"]))
        put = {"drop": [], "move": taken, "double": [*taken, *taken], "new": ["new()"] * len(taken)}[what]
        after[to:to] = put
    return start, end, after


@pytest.mark.clause("AN-07", "AN-08")
@settings(max_examples=500)
@given(edits())
def test_a_line_that_stood_beside_the_code_is_never_shown_as_the_code(
    edit: tuple[int, int, list[str]],
) -> None:
    start, end, after = edit
    found = resolved(FORTY, start, end, after)
    beside = {*FORTY[max(0, start - 4) : start - 1], *FORTY[end : end + 3]}
    telling = {*beside, FORTY[start - 1], FORTY[end - 1]}
    if found.state is State.CHANGED:
        assert found.found is not None
        shown = after[found.found.lines.start - 1 : found.found.lines.end]
        assert telling & set(after)
        # A doubled line may stand beside the code and in it.
        assert all(after.count(line) > 1 for line in beside & set(shown))


@pytest.mark.clause("AN-07", "AN-10")
def test_a_rendered_pack_says_that_the_lines_are_gone(new_desk: Any) -> None:
    desk = new_desk({"src/app.py": "alpha\nbeta\ngamma\n"})
    pack = desk.pack_with_ref(2, 3)
    desk.files["src/app.py"] = "alpha\n"
    assert "> stale ref: lines 2-3 are past the end of the file (1 line)" in desk.output(id=pack)
    assert "alpha" not in desk.output(id=pack)
