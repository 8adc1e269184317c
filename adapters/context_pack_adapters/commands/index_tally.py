"""What indexing did or would do, counted by what became of each file.

A file that turns out to hold no text to index is kept in the index without pieces, so that it is not read
again before it changes. To people it is a skipped one, today and in every later run; here the two meet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from context_pack.memory.ports import CodeTree
    from context_pack.memory.usecases.refresh import CodePlan
    from context_pack.retrieval.model import Known

SKIPPED = "skipped: "
"""How the digest of an entry without pieces begins; the reason follows."""
MOST_NAMED = 100
"""How many paths are named for one reason; the counts are always whole."""


@frozen
class Tally:
    """Files by what became of them, or would; `files` counts those that are in the index afterwards."""

    files: int
    index: tuple[str, ...]
    remove: tuple[str, ...]
    skipped: Mapping[str, str]
    bytes: int = 0

    @property
    def reasons(self) -> dict[str, int]:
        """How many are skipped, by reason, the most frequent first."""
        return dict(Counter(self.skipped.values()).most_common())

    @property
    def named(self) -> list[tuple[str, str]]:
        """Skipped paths with their reasons, a bounded number of each."""
        seen: Counter[str] = Counter()
        named = []
        for path, reason in self.skipped.items():
            seen[reason] += 1
            if seen[reason] <= MOST_NAMED:
                named.append((path, reason))
        return named

    @property
    def told(self) -> str:
        """The skipped ones in words."""
        reasons = ", ".join(f"{count} {reason}" for reason, count in self.reasons.items())
        return f"{len(self.skipped)} skipped{f' ({reasons})' if reasons else ''}"


def expected(plan: CodePlan, known: Mapping[str, Known], tree: CodeTree) -> Tally:
    """What carrying out a plan would do; looks into the files that it would read."""
    changed = set(plan.changed)
    held = {path: why for path, why in _held(known).items() if path not in changed and path not in plan.gone}
    reasons = {path: tree.read(path).skipped for path in plan.changed}
    found = {path: why for path, why in reasons.items() if why is not None}
    index = tuple(path for path in plan.changed if path not in found)
    sizes = tree.survey() or {}
    return Tally(
        plan.total - len(held) - len(found),
        index,
        tuple(path for path in plan.gone if path not in _held(known)),
        _all_skipped(plan, {**held, **found}, tree),
        sum(sizes[path].size for path in index if path in sizes),
    )


def achieved(
    plan: CodePlan, before: Mapping[str, Known], after: Mapping[str, Known], tree: CodeTree
) -> Tally:
    """What carrying out a plan did; a file that was read and found unchanged was not indexed."""
    held, held_before = _held(after), _held(before)
    index = tuple(
        path
        for path in plan.changed
        if path in after
        and path not in held
        and (path not in before or before[path].digest != after[path].digest)
    )
    return Tally(
        len(after) - len(held),
        index,
        tuple(path for path in plan.gone if path not in held_before),
        _all_skipped(plan, held, tree),
    )


def _held(known: Mapping[str, Known]) -> dict[str, str]:
    """The files that the index only remembers not to read again, and why."""
    return {
        path: each.digest.removeprefix(SKIPPED)
        for path, each in known.items()
        if each.digest.startswith(SKIPPED)
    }


def _all_skipped(plan: CodePlan, more: Mapping[str, str], tree: CodeTree) -> dict[str, str]:
    return dict(sorted({**plan.skipped, **more, **tree.left_out()}.items()))
