"""Copies packs and discoveries from one store to another, under their ids; nothing there is overwritten."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, field

from context_pack.kernel.errors import Code, Failure
from context_pack.memory.ports import DiscoveryStore
from context_pack.packs.ports import ExcerptStore, PackStore

EXCERPTS_AT_ONCE = 50
"""Texts in one statement, for which the database has two seconds: 3,000 refs may have 60 MB of them."""


@define
class Copied:
    """The outcome of each pack or discovery, by id."""

    copied: list[str] = field(factory=list)
    same: list[str] = field(factory=list)
    conflicts: dict[str, str] = field(factory=dict)


def copy_packs(source: PackStore, target: PackStore) -> Copied:
    """Copy the live packs that are not there; one that differs, or whose name is taken, is a conflict."""
    outcome = Copied()
    there = {pack.id: pack for pack in target.all()}
    for pack in sorted(source.all(), key=lambda pack: pack.id):
        other = there.get(pack.id)
        if other == pack:
            outcome.same.append(pack.id)
        elif other is not None:
            outcome.conflicts[pack.id] = (
                f"revision {pack.revision} differs from revision {other.revision} there"
            )
        else:
            try:
                target.create(lambda _: pack, pack.name)  # noqa: B023 -- under its own id
                outcome.copied.append(pack.id)
            except Failure as failure:
                if failure.code is Code.NAME_CONFLICT:
                    words = f"its name {pack.name!r} is that of {failure.details['id']} there"
                elif failure.code is Code.INTERNAL:  # no id is free: somebody made it since we looked
                    words = "it has come to be there meanwhile; try again"
                else:
                    raise
                outcome.conflicts[pack.id] = words
    return outcome


def copy_excerpts(packs: PackStore, source: ExcerptStore, target: ExcerptStore) -> None:
    """Copy the texts that the refs of live packs are anchored to: without them nobody sees what changed."""
    digests = sorted({digest for pack in packs.all() for digest in pack.digests})
    for start in range(0, len(digests), EXCERPTS_AT_ONCE):
        target.put(source.texts(digests[start : start + EXCERPTS_AT_ONCE]))


def copy_discoveries(source: DiscoveryStore, target: DiscoveryStore) -> Copied:
    """Copy the discoveries that are not there; one that differs is a conflict."""
    outcome = Copied()
    there = {discovery.id: discovery for discovery in target.all()}
    for discovery in source.all():
        other = there.get(discovery.id)
        if other == discovery:
            outcome.same.append(discovery.id)
        elif other is not None:
            outcome.conflicts[discovery.id] = "it was recorded on both sides, and differs"
        else:
            target.record(discovery)
            outcome.copied.append(discovery.id)
    return outcome


def report_lines(outcome: Copied, kind: str) -> Iterator[str]:
    """The outcome as lines of text."""
    counts = len(outcome.copied), len(outcome.same), len(outcome.conflicts)
    yield "{}: {} copied, {} the same, {} in conflict".format(kind, *counts)
    for key, words in outcome.conflicts.items():
        yield f"  {key}: {words}"
