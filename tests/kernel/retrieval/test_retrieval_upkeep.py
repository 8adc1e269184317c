"""Keeping a corpus as its source is: what differs, what is stored, what is counted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from inmemory.search_index import MemoryIndex

from context_pack.retrieval.model import IndexEntry, KnownEntry, Piece, Progress
from context_pack.retrieval.upkeep import (
    BATCH_FILES,
    File,
    Gone,
    IndexPlan,
    Outcome,
    Unchanged,
    Upkeep,
    compared,
)
from context_pack_adapters.embed.hashed import HashedEmbedder


def entry(key: str, digest: str = "new") -> IndexEntry:
    return IndexEntry("c", key, digest, "2", pieces=(Piece(f"text of {key}"),))


def spoiled(entry: IndexEntry, error: Exception) -> Outcome:
    raise AssertionError(entry.key) from error


def test_files_differ_by_stamp_and_those_that_are_skipped_or_away_are_gone() -> None:
    known = {key: KnownEntry("digest", "1") for key in ("same", "other", "away", "data")}
    files = {"same": File("1", 5), "other": File("2", 7), "data": File("1", 9, "data"), "new": File("1", 11)}
    plan = compared(known, files | {"bad": File("3", 1)}, {"bad": "3", "same": "9"})
    assert list(plan.changed) == ["other", "new"]
    assert (plan.gone, plan.size, plan.skipped) == (("away", "data"), 18, {"data": "data"})
    assert plan.progress == Progress(2, 4)


@pytest.mark.clause("ME-22", "DC-21")
def test_each_outcome_is_stored_in_its_way_and_only_entries_are_counted() -> None:
    index = MemoryIndex(HashedEmbedder())
    index.replace([entry(key, "old") for key in ("a", "b", "c", "d")])
    files = {key: File("3", 1) for key in ("a", "b", "c", "e", "f")}
    plan = compared(index.known("c"), files, {})
    run = Upkeep(index, "c", plan, spoiled)
    assert run.carry_out([entry("a"), Unchanged("b", "3"), Gone("c"), entry("e"), Gone("f")])
    assert index.known("c") == {
        "a": KnownEntry("new", "2"),
        "b": KnownEntry("old", "3"),
        "e": KnownEntry("new", "2"),
    }
    assert (run.added, run.updated, run.done) == (1, 1, 5)


@pytest.mark.clause("ME-23", "DC-21")
def test_a_run_that_is_stopped_or_killed_has_stored_what_came_before() -> None:
    index = MemoryIndex(HashedEmbedder())
    names = [f"{number:03}" for number in range(2 * BATCH_FILES)]
    plan = IndexPlan(changed={name: File("1", 1) for name in names})
    seen: list[str] = []
    run = Upkeep(index, "c", plan, spoiled)
    assert not run.carry_out(map(entry, names), lambda: len(seen) >= 5, lambda _, __, key: seen.append(key))
    assert list(index.known("c")) == names[:5]

    def killed() -> Iterator[Outcome]:
        yield from map(entry, names[: BATCH_FILES + 3])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Upkeep(index, "c", plan, spoiled).carry_out(killed())
    assert list(index.known("c")) == names[:BATCH_FILES]
