"""What indexing did or would do, counted by what became of each file.

A file that turns out to hold no text to index is kept in the index without pieces, so that it is not read
again before it changes. To people it is a skipped one, today and in every later run; here the two meet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from context_pack.memory.domain.entries import CODE, FAILED, PLAIN, SKIPPED

if TYPE_CHECKING:
    from context_pack.memory.ports import CodeTree
    from context_pack.memory.usecases.indexing import CodePlan
    from context_pack.retrieval.model import Known
    from context_pack.retrieval.ports import SearchIndex

MOST_NAMED = 100
"""How many paths are named for one reason; the counts are always whole."""


@frozen
class IndexState:
    """What the index remembers of the code: states of files, and facts of those that have some."""

    known: Mapping[str, Known] = field(factory=dict)
    facts: Mapping[str, Mapping[str, Any]] = field(factory=dict)

    @classmethod
    def of(cls, index: SearchIndex) -> IndexState:
        """The state of an index now."""
        return cls(index.known(CODE), index.facts(CODE))

    @property
    def retrying(self) -> dict[str, Known]:
        """The states without those of files that failed: who asks for it by hand has them tried again."""
        return {path: each for path, each in self.known.items() if not self.facts.get(path, {}).get(FAILED)}

    def told(self, fact: str) -> dict[str, str]:
        """The files with a fact (`plain`, `skipped`) and its reason."""
        return {path: str(facts[fact]) for path, facts in self.facts.items() if fact in facts}


@frozen
class Tally:
    """Files by what became of them, or would; `files` counts those that are in the index afterwards."""

    files: int
    index: tuple[str, ...]
    remove: tuple[str, ...]
    skipped: Mapping[str, str]
    plain: Mapping[str, str] = field(factory=dict)
    failed: Mapping[str, str] = field(factory=dict)
    bytes: int = 0

    @property
    def reasons(self) -> dict[str, int]:
        """How many are skipped, by reason, the most frequent first."""
        return _counted(self.skipped)

    @property
    def plain_reasons(self) -> dict[str, int]:
        """How many were cut without being parsed, by reason, the most frequent first."""
        return _counted(self.plain)

    @property
    def told(self) -> str:
        """The skipped ones and the plain ones in words."""
        skipped = ", ".join(f"{count} {reason}" for reason, count in self.reasons.items())
        plain = ", ".join(f"{reason}: {count}" for reason, count in self.plain_reasons.items())
        return f"{len(self.skipped)} skipped{f' ({skipped})' if skipped else ''}" + (
            f", {len(self.plain)} as plain lines ({plain})" if plain else ""
        )


def named(files: Mapping[str, str]) -> list[dict[str, str]]:
    """Files with their reasons, a bounded number of each."""
    seen: Counter[str] = Counter()
    found = []
    for path, reason in files.items():
        seen[reason] += 1
        if seen[reason] <= MOST_NAMED:
            found.append({"path": path, "reason": reason})
    return found


def _counted(files: Mapping[str, str]) -> dict[str, int]:
    return dict(Counter(files.values()).most_common())


def expected(plan: CodePlan, before: IndexState, tree: CodeTree) -> Tally:
    """What carrying out a plan would do; looks into the files that it would read."""
    skipped = before.told(SKIPPED)
    held = {path: why for path, why in skipped.items() if path not in plan.changed and path not in plan.gone}
    reasons = {path: tree.read(path).skipped for path in plan.changed}
    found = {path: why for path, why in reasons.items() if why is not None}
    index = tuple(path for path in plan.changed if path not in found)
    sizes = tree.survey() or {}
    return Tally(
        plan.total - len(held) - len(found),
        index,
        tuple(path for path in plan.gone if path not in skipped),
        _all_skipped(plan, {**held, **found}, tree),
        bytes=sum(sizes[path].size for path in index if path in sizes),
    )


def achieved(plan: CodePlan, before: IndexState, after: IndexState, tree: CodeTree) -> Tally:
    """What carrying out a plan did; a file that was read and found unchanged was not indexed."""
    held, held_before = after.told(SKIPPED), before.told(SKIPPED)
    index = tuple(
        path
        for path in plan.changed
        if path in after.known
        and path not in held
        and (path not in before.known or before.known[path].digest != after.known[path].digest)
    )
    plain = after.told(PLAIN)
    return Tally(
        len(after.known) - len(held),
        index,
        tuple(path for path in plan.gone if path not in held_before),
        _all_skipped(plan, held, tree),
        plain,
        {path: why for path, why in {**plain, **held}.items() if after.facts[path].get(FAILED)},
    )


def _all_skipped(plan: CodePlan, more: Mapping[str, str], tree: CodeTree) -> dict[str, str]:
    return dict(sorted({**plan.skipped, **more, **tree.left_out()}.items()))
