"""Refs over a stored history: anchored at old commits, read at newer ones, judged by brute force."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path

import pytest
from pack_history import Tally, judge, replayed

from context_pack.packs.states import State

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
