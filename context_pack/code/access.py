"""Files that were read, as context items: how often, how recently, and their score.

score = 0.6 · recency + 0.4 · access; recency falls linearly from 1 to 0 in thirty days, access is the count
up to a hundred. Items are ranked by score; those below the budget's line are archived and never deleted, so
that one more read brings an old file back with all its history.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from attrs import evolve, frozen

from context_pack.kernel.paths import RelativePath

RECENCY_SHARE = 0.6
ACCESS_SHARE = 0.4
RECENT = timedelta(days=30)
FULL_COUNT = 100
ACTIVE_ITEMS = 500


@frozen
class ContextItem:
    """One file with its reads and their score."""

    path: RelativePath
    count: int
    last_access: datetime
    score: float = 0.0
    archived: bool = False


def score(count: int, last_access: datetime, now: datetime) -> float:
    """The score of a file's reads, from 0 to 1; a last access in the future counts as now."""
    age = max(now - last_access, timedelta(0))
    recency = max(0.0, 1.0 - age / RECENT)
    return RECENCY_SHARE * recency + ACCESS_SHARE * min(count / FULL_COUNT, 1.0)


def ranked(items: Iterable[ContextItem], now: datetime, budget: int = ACTIVE_ITEMS) -> list[ContextItem]:
    """Every item with its score, the best first (then by path); those past the budget are archived."""
    scored = [evolve(item, score=score(item.count, item.last_access, now)) for item in items]
    scored.sort(key=lambda item: (-item.score, item.path))
    return [evolve(item, archived=place >= budget) for place, item in enumerate(scored)]


class AccessLog(Protocol):
    """Remembers which files were read; recording never waits for a disk and never fails."""

    def record(self, path: RelativePath, at: datetime) -> None:
        """Count one more read of the file."""

    def items(self) -> Sequence[ContextItem]:
        """Every file that was ever read, the best score first."""
