"""Sections that name a scope: the value, its place in files, and what a legend says of stale contexts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from inmemory.ports import open_memory_workspace

from context_pack.kernel.errors import Failure
from context_pack.packs.commands import RenderPack
from context_pack.packs.model import Scopes, ScopeState
from context_pack.packs.ports import Waiting, patiently
from context_pack.packs.read import PackReader
from context_pack.packs.record import from_record, to_record

CONTEXT = """\
version: 1
last_updated: "2026-02-13T10:00:00Z"
fingerprint: "{fingerprint}"
scope: {scope}
summary: What is there.
maintenance: Keep it so.
"""
EMPTY = "e3b0c442"


class KnownScopes:
    """A watch that a test tells what to say."""

    def __init__(self, **states: ScopeState) -> None:
        self.known = {name.replace("_", "/"): state for name, state in states.items()}
        self.asked: list[Sequence[str]] = []

    def states(self, scopes: Sequence[str], _: Waiting = patiently, /) -> Scopes:
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


@pytest.mark.clause("PK-67")
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("src", "src"),
        (" src/core ", "src/core"),
        ("src\\core", "src/core"),
        (".", "."),
        ("..foo/x", "..foo/x"),
    ],
)
def test_a_section_keeps_the_scope_it_was_given(desk: Any, given: str, kept: str) -> None:
    pack = with_scopes(desk, given)
    (section,) = desk.input(action="get", id=pack)["sections"]
    assert section["scope"] == kept


@pytest.mark.clause("PK-67")
@pytest.mark.parametrize("wrong", ["/abs", "a/../b", "..", "a//b", "a/", "./a", "a\nb", "C:\\x", "x" * 1025])
def test_a_scope_that_is_no_folder_path_is_refused(desk: Any, wrong: str) -> None:
    pack = desk.create()
    error = desk.refused(
        "input",
        action="upsert_section",
        id=pack,
        expected_revision=1,
        section_key="main",
        section_title="Main",
        section_scope=wrong,
    )
    assert (error["code"], error["details"]["field"]) == ("invalid_data", "section_scope")


@pytest.mark.clause("PK-67")
def test_an_absent_scope_stays_and_an_empty_one_clears(desk: Any) -> None:
    pack = with_scopes(desk, "src")
    section = {"action": "upsert_section", "id": pack, "section_key": "part-0", "section_title": "New"}
    changed = desk.input(**section, expected_revision=2)
    assert (changed["revision"], changed["changed"]["scope"]) == (3, "src")
    assert desk.input(**section, expected_revision=3, section_scope="src")["revision"] == 3
    cleared = desk.input(**section, expected_revision=3, section_scope=" ")
    assert cleared["revision"] == 4
    assert "scope" not in cleared["changed"]


@pytest.mark.clause("PK-67", "ST-01")
def test_a_scope_is_stored_only_where_there_is_one(desk: Any) -> None:
    stored = desk.store.get(with_scopes(desk, "src", ""))
    record = to_record(stored)
    assert list(record["sections"][0]) == ["key", "title", "description", "refs", "diagrams", "scope"]
    assert list(record["sections"][1]) == ["key", "title", "description", "refs", "diagrams"]
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


@pytest.mark.clause("PK-67")
def test_a_page_says_at_once_that_a_scope_became_stale(desk: Any) -> None:
    pack, watch = with_scopes(desk, "src"), KnownScopes(src=ScopeState.FRESH)
    reader = PackReader(desk.store, desk.tree, desk.clock, desk.max_source_bytes, watch=watch)
    assert "stale_scopes" not in reader.render(RenderPack(id=pack)).text
    watch.known["src"] = ScopeState.STALE
    assert "- stale_scopes: src\n" in reader.render(RenderPack(id=pack)).text


@pytest.mark.clause("PK-67")
def test_section_scopes_work_in_the_tools_and_in_the_library() -> None:
    files: dict[str, str | bytes] = {
        "src/.context.yaml": CONTEXT.format(fingerprint=EMPTY, scope="src"),
        "old/.context.yaml": CONTEXT.format(fingerprint="00000000", scope="old"),
        "old/app.py": "x = 1\n",
        "none/app.py": "x = 1\n",
    }
    workspace = open_memory_workspace(files)
    pack = workspace.packs.create(ttl_minutes=5)
    for number, scope in enumerate(("src", "old", "none", "nowhere")):
        pack = workspace.packs.upsert_section(
            pack, section_key=f"part-{number}", section_title="Part", section_scope=scope
        )
    told = "- stale_scopes: old, none (missing), nowhere (missing)\n"
    assert told in workspace.packs.document(pack)
    assert told in workspace.call("output", {"id": pack.id}).text
    assert workspace.packs.scopes(pack)["src"] is ScopeState.FRESH
    files["src/new.py"] = "y = 2\n"
    assert "- stale_scopes: src, old, " in workspace.call("output", {"id": pack.id}).text
