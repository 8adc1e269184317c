"""What a file's reads are worth, and which items are below the line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from context_pack.code.access import ContextItem, ranked, score
from context_pack.kernel.paths import RelativePath

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def item(name: str, count: int, days: float) -> ContextItem:
    return ContextItem(RelativePath(name), count, NOW - timedelta(days=days))


@pytest.mark.clause("CD-41")
@pytest.mark.parametrize(
    ("count", "days", "worth"),
    [
        (0, 0, 0.6),
        (1, 0, 0.604),
        (100, 0, 1.0),
        (1000, 0, 1.0),
        (50, 15, 0.5),
        (100, 30, 0.4),
        (100, 31, 0.4),
        (0, 30, 0.0),
        (0, 29.99, 0.0002),
        (10, -5, 0.64),
    ],
)
def test_recency_counts_for_six_tenths_and_access_for_four(count: int, days: float, worth: float) -> None:
    assert score(count, NOW - timedelta(days=days), NOW) == pytest.approx(worth)


@pytest.mark.clause("CD-41")
def test_items_are_ranked_by_score_then_path_and_archived_past_the_budget() -> None:
    items = [item("old", 1, 40), item("b", 1, 0), item("a", 1, 0), item("busy", 90, 0)]
    found = ranked(items, NOW, budget=2)
    assert [(str(each.path), each.archived) for each in found] == [
        ("busy", False),
        ("a", False),
        ("b", True),
        ("old", True),
    ]
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    assert not any(each.archived for each in ranked(found, NOW, budget=4))
