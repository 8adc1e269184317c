"""Sections that name a scope: the value, its place in files, and what a legend says of stale contexts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from context_pack.kernel.errors import Failure
from context_pack.packs.commands import RenderPack
from context_pack.packs.model import Scopes, ScopeState
from context_pack.packs.read import PackReader
from context_pack.packs.record import from_record, to_record
from context_pack.toolkit.call import Check, never_cancelled


class KnownScopes:
    """A watch that a test tells what to say."""

    def __init__(self, **states: ScopeState) -> None:
        self.known = {name.replace("_", "/"): state for name, state in states.items()}
        self.asked: list[Sequence[str]] = []

    def states(self, scopes: Sequence[str], _: Check = never_cancelled, /) -> Scopes:
        """What the test said."""
        self.asked.append(scopes)
        return {scope: self.known[scope] for scope in scopes if scope in self.known}


def with_scopes(desk: Any, *scopes: str) -> str:
    """A pack with a section for each scope; its id."""
    pack = desk.create()
    for number, scope in enumerate(scopes):
        desk.input(
            action="upsert_section",
            id=pack,
            expected_revision=number + 1,
            section_key=f"part-{number}",
            section_title="Part",
            section_scope=scope,
        )
    return str(pack)


def legend(desk: Any, pack: str, watch: KnownScopes) -> list[str]:
    """The lines of the legend."""
    reader = PackReader(desk.store, desk.tree, desk.clock, desk.max_source_bytes, watch=watch)
    text = reader.render(RenderPack(id=pack)).text
    return text.split("\n\n[CONTENT]")[0].split("\n")


@pytest.mark.clause("PK-67", "ST-01")
def test_a_scope_is_stored_only_where_there_is_one(desk: Any) -> None:
    stored = desk.store.get(with_scopes(desk, "src", ""))
    record = to_record(stored)
    assert list(record["sections"][0]) == ["key", "title", "refs", "diagrams", "scope"]
    assert list(record["sections"][1]) == ["key", "title", "refs", "diagrams"]
    assert from_record(record) == stored
    record["sections"][0] = {**to_record(stored.sections[0]), "scope": "../up"}
    with pytest.raises(Failure, match=r"sections\.0"):
        from_record(record)


@pytest.mark.clause("PK-67")
def test_the_legend_names_the_scopes_whose_context_is_stale_and_no_other(desk: Any) -> None:
    pack = with_scopes(desk, "src/core", "lib", "src/core", "docs", "new")
    watch = KnownScopes(src_core=ScopeState.STALE, lib=ScopeState.FRESH, new=ScopeState.MISSING)
    lines = legend(desk, pack, watch)
    assert lines[-1] == "- stale_scopes: src/core, new (missing)"
    assert watch.asked == [["src/core", "lib", "docs", "new"]]
    fresh = KnownScopes(src_core=ScopeState.FRESH, lib=ScopeState.FRESH)
    assert not any("stale_scopes" in line for line in legend(desk, pack, fresh))
    watch = KnownScopes()
    assert not any("stale_scopes" in line for line in legend(desk, with_scopes(desk), watch))
    assert watch.asked == []
