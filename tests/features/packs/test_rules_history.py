"""Refs over a stored history: anchored at old commits, read at newer ones, judged by brute force.

A tree is a mapping from path to text. The oracle knows no hashes: it compares lines, everywhere. What stands
once must be `moved` there (or `exact` where it was), and what it does not find must never be either.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path

import pytest
from attrs import define, field, frozen
from inmemory import MemorySourceTree
from kept_texts import MOST_BYTES, KeptTexts

from context_pack.kernel.paths import RelativePath
from context_pack.kernel.text import LineRange, split_lines
from context_pack.packs.model import CodeLocation, Ref
from context_pack.packs.resolving import Resolver
from context_pack.packs.states import Resolution, State

Tree = Mapping[str, str]
SIZES = (1, 2, 3, 5, 8, 13, 21, 40, 80)


def replayed(fixture: Path) -> Iterator[dict[str, str]]:
    """Every tree of a stored history, from the first commit on.

    A commit is a list of steps: `[path, at, drop, lines]` replaces lines (a file that is not there is empty),
    `[path, other]` renames, `[path]` removes, and `[path, "\\r\\n"]` (or `"\\n"`) changes the line endings.
    """
    files: dict[str, list[str]] = {}
    ends: dict[str, str] = {}
    for commit in json.loads(fixture.read_text("utf-8")):
        for step in commit:
            match step:
                case [path]:
                    del files[path]
                case [path, ("\n" | "\r\n") as end]:
                    ends[path] = end
                case [path, other]:
                    files[other] = files.pop(path)
                case [path, at, drop, lines]:
                    files.setdefault(path, [])[at : at + drop] = lines
        yield {path: "".join(line + ends.get(path, "\n") for line in lines) for path, lines in files.items()}


@frozen
class Mistake:
    """A ref that was not resolved as the oracle says."""

    ref: Ref
    expected: str
    got: Resolution


@define
class Tally:
    """What was counted: states, the refs whose code stands once elsewhere, and how many were found there."""

    states: Counter[State] = field(factory=Counter)
    once: int = 0
    found_once: int = 0
    wrong: list[Mistake] = field(factory=list)
    """Code shown as right that is not, or `moved` where the code does not stand exactly once."""
    missed: list[Mistake] = field(factory=list)

    @property
    def recall(self) -> float:
        """The share of the refs whose code stands once elsewhere that were called `moved`, and to there."""
        return self.found_once / self.once if self.once else 1.0

    @property
    def precision(self) -> float:
        """The share of the refs called `moved` that were rightly called so."""
        moved = self.states[State.MOVED]
        return 1 - sum(one.got.state is State.MOVED for one in self.wrong) / moved if moved else 1.0


def judge(old: Tree, new: Tree, rng: random.Random, refs_per_file: int, tally: Tally) -> None:
    """Anchor some refs in every file of the old tree, resolve them in the new one, and count."""
    before = Resolver(MemorySourceTree(old), MOST_BYTES)
    after = Resolver(MemorySourceTree(new), MOST_BYTES, excerpts=KeptTexts(before.anchored_texts))
    lines_of = {path: split_lines(text) for path, text in new.items()}
    for path, text in old.items():
        lines = split_lines(text)
        for number in range(refs_per_file if lines else 0):
            size = min(rng.choice(SIZES), len(lines))
            start = rng.randrange(1, len(lines) - size + 2)
            bare = Ref(f"ref-{number}", RelativePath(path), LineRange(start, start + size - 1))
            ref = before.anchored(bare)
            _count(ref, lines[start - 1 : start + size - 1], after(ref), lines_of, tally)


def _count(
    ref: Ref,
    code: list[str],
    got: Resolution,
    lines_of: Mapping[str, list[str]],
    tally: Tally,
) -> None:
    tally.states[got.state] += 1
    places = _places(ref, code, lines_of)
    stays = CodeLocation(ref.path, ref.lines) in places
    once = len(places) == 1 and not stays
    tally.once += once
    right = got.found in places and got.excerpt == "\n".join(code)
    if once and got.state is State.MOVED and right:
        tally.found_once += 1
    elif once:
        tally.missed.append(Mistake(ref, f"moved to {places[0]}", got))
    if got.state is State.EXACT and not (stays and right):
        tally.wrong.append(Mistake(ref, "not exact", got))
    if got.state is State.MOVED and not (once and right):
        tally.wrong.append(Mistake(ref, f"not moved: {len(places)} places", got))
    if stays and got.state is not State.EXACT:
        tally.wrong.append(Mistake(ref, "exact", got))


def _places(ref: Ref, code: list[str], lines_of: Mapping[str, list[str]]) -> list[CodeLocation]:
    """Where the code stands: in its file, or, if that is gone, in others; what is short only if called so."""
    home = ref.path.value
    if home in lines_of:
        return list(_copies(home, code, lines_of[home]))
    telling = sum(map(str.isalnum, "\n".join(code))) >= 30
    others = [path for path in lines_of if telling or path.rpartition("/")[2] == ref.path.name]
    return [found for path in others for found in _copies(path, code, lines_of[path])]


def _copies(path: str, code: list[str], lines: list[str]) -> Iterator[CodeLocation]:
    for at in range(len(lines) - len(code) + 1):
        if lines[at] == code[0] and lines[at : at + len(code)] == code:
            yield CodeLocation(RelativePath(path), LineRange(at + 1, at + len(code)))


pytestmark = pytest.mark.slow

PAIRS, REFS_PER_FILE = 160, 5


@pytest.fixture(scope="module")
def trees(checkout: Path) -> list[dict[str, str]]:
    """The trees of the stored history, oldest first."""
    return list(replayed(checkout / "tests/fixtures/history/service.json"))


@pytest.mark.clause("AN-05", "AN-06", "AN-09", "AN-14")
def test_moved_refs_are_exact_and_unique_code_is_found(trees: list[dict[str, str]]) -> None:
    rng, tally = random.Random(5), Tally()
    for old, new in rng.sample(list(combinations(range(len(trees)), 2)), PAIRS):
        judge(trees[old], trees[new], rng, REFS_PER_FILE, tally)
    assert len(trees) > 30
    assert any("\r\n" in text for tree in trees for text in tree.values())
    assert tally.wrong == []
    assert tally.precision == 1.0
    assert tally.recall >= 0.95, tally.missed[:3]
    assert tally.once > 500
    # A history in which nothing is lost or doubled would prove little.
    assert min(tally.states[state] for state in (State.EXACT, State.MOVED, State.CHANGED)) > 100
    assert tally.states[State.AMBIGUOUS] > 20
    assert tally.states[State.STALE] > 20
