"""The library: typed, synchronous, quiet, and as independent of the process as a value."""

from __future__ import annotations

import inspect
import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from inmemory import FixedClock, MemoryPackStore, MemorySourceTree, SeededIds

import context_pack
from context_pack import (
    Code,
    Failure,
    Pack,
    Ports,
    SetMeta,
    State,
    Status,
    UpsertDiagram,
    UpsertRef,
    UpsertSection,
    Workspace,
    open_workspace,
)

SOURCE = "import os\n\n\ndef login(user):\n    return user.name\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "auth.py").write_text(SOURCE)
    with open_workspace(tmp_path, storage=tmp_path / "store") as workspace:
        yield workspace


def with_ref(workspace: Workspace, name: str | None = None) -> Pack:
    """A draft with one section and one ref."""
    pack = workspace.packs.create(ttl_minutes=60, name=name, title="Login")
    pack = workspace.packs.upsert_section(pack, section_key="auth", section_title="Auth")
    return workspace.packs.upsert_ref(
        pack, section_key="auth", ref_key="login", path="src/auth.py", line_start=4, line_end=5, ref_why="why"
    )


@pytest.mark.clause("LIB-01", "PK-64")
def test_a_pack_is_built_changed_and_deleted_by_typed_calls(workspace: Workspace) -> None:
    packs = workspace.packs
    pack = packs.set_status(with_ref(workspace, "login-pack"), "finalized")
    assert (pack.status, pack.revision, packs.get(pack.id)) == (Status.FINALIZED, 4, pack)
    assert "   4: def login(user):" in next(packs.pages(pack)).text
    assert [found.name for found in packs.list(query="LOGIN")] == ["login-pack"]
    verified = packs.verify("login-pack")
    assert (verified.trusted, [each.resolution.state for each in verified.refs]) == (True, [State.EXACT])
    pack = packs.set_status(pack, "draft")
    assert packs.repair(pack).pack.revision == pack.revision
    pack = packs.upsert_diagram(pack, section_key="auth", diagram_key="flow", title="Flow", mermaid="graph")
    pack = packs.set_meta(pack, title="", brief="How", tags=("a", "b"))
    assert (pack.title, pack.brief, pack.tags) == (None, "How", ("a", "b"))
    before = pack.expires_at
    pack = packs.touch_ttl(pack, extend_minutes=5)
    assert (pack.expires_at - before).total_seconds() == 300
    pack = packs.delete_diagram(pack, section_key="auth", diagram_key="flow")
    pack = packs.delete_ref(pack, section_key="auth", ref_key="login")
    pack = packs.delete_section(pack, section_key="auth")
    assert (pack.sections, pack.revision) == ((), 11)
    assert {step.part for step in packs.diff(pack, 10, 11).steps} == {"section"}
    packs.delete(pack)
    with pytest.raises(Failure) as gone:
        packs.get(pack.id)
    assert gone.value.code is Code.NOT_FOUND


@pytest.mark.clause("LIB-01")
def test_several_operations_are_one_change(workspace: Workspace) -> None:
    pack = workspace.packs.create(ttl_minutes=60)
    pack = workspace.packs.apply(
        pack,
        UpsertSection(section_key="auth", section_title="Auth"),
        UpsertRef(section_key="auth", ref_key="login", path="src/auth.py", line_start=4, line_end=5),
        UpsertDiagram(section_key="auth", diagram_key="flow", title="Flow", mermaid="graph TD"),
    )
    assert pack.revision == 2
    with pytest.raises(Failure) as refused:
        workspace.packs.apply(
            pack,
            UpsertSection(section_key="more", section_title="More"),
            UpsertDiagram(section_key="none", diagram_key="flow", title="Flow", mermaid="graph TD"),
        )
    assert refused.value.details["index"] == 1
    assert workspace.packs.get(pack) == pack


@pytest.mark.clause("LIB-01")
def test_a_change_needs_the_revision_that_is_stored(workspace: Workspace) -> None:
    old = workspace.packs.create(ttl_minutes=60, name="shared")
    workspace.packs.set_meta(old, title="Newer")
    with pytest.raises(Failure) as refused:
        workspace.packs.set_meta(old, title="Older")
    assert refused.value.code is Code.REVISION_CONFLICT
    with pytest.raises(Failure) as refused:
        workspace.packs.set_meta("shared", title="x")  # type: ignore[arg-type]
    assert refused.value.details["field"] == "expected_revision"
    assert workspace.packs.apply("shared", SetMeta(title="x"), expected_revision=2).revision == 3


@pytest.mark.clause("LIB-03")
def test_any_tool_can_be_called_as_a_client_would_without_a_limit(workspace: Workspace) -> None:
    assert workspace.tools[0] == "context_search"  # what the instructions name first
    made = workspace.call("input", {"action": "create", "ttl_minutes": 5, "name": "called"})
    assert not made.is_error
    assert made.structured == json.loads(made.text)
    refused = workspace.call("input", {"action": "create"})
    assert (refused.is_error, json.loads(refused.text)["code"]) == (True, "ttl_required")
    assert not any(workspace.call("output").is_error for _ in range(300))
    with pytest.raises(Failure, match="no tool 'nonsense'") as unknown:
        workspace.call("nonsense")
    assert unknown.value.code is Code.NOT_FOUND


@pytest.mark.clause("LIB-04")
def test_a_pack_comes_in_pages_as_one_document_or_as_html(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text("".join(f"x{number} = {number}\n" for number in range(2000)))
    pack = workspace.packs.create(ttl_minutes=60)
    refs = (
        UpsertRef(section_key="all", ref_key=f"r{at}", path="long.py", line_start=at, line_end=at + 99)
        for at in range(1, 2000, 100)
    )
    pack = workspace.packs.apply(pack, UpsertSection(section_key="all", section_title="All"), *refs)
    pages = list(workspace.packs.pages(pack, max_tokens=2000))
    assert len(pages) > 3
    assert all(page.text.startswith("[LEGEND]") for page in pages)
    assert [page.cursor is None for page in pages] == [False] * (len(pages) - 1) + [True]
    document = workspace.packs.document(pack)
    assert document.count("[LEGEND]") == 1
    assert all(f"x{number} = {number}" in document for number in range(2000))
    assert "x5 = 5" not in workspace.packs.document(pack, mode="compact")
    assert "<title>" in workspace.packs.export_html(pack)
    page = workspace.packs.list(limit=1)
    assert (len(page), page.total, [each.id for each in page]) == (1, 1, [pack.id])


@pytest.mark.clause("LIB-04")
def test_a_question_becomes_a_pack(tmp_path: Path) -> None:
    (tmp_path / "money.py").write_text("def total_of_invoice(rows):\n    return sum(rows)\n")
    with open_workspace(tmp_path, storage=tmp_path / "packs", cache=tmp_path / "cache") as workspace:
        drafted = workspace.packs.draft(query="total of an invoice", ttl_minutes=5, name="money")
    assert [ref.path.value for _, ref in drafted.pack.refs] == ["money.py"]
    assert 0 < drafted.tokens <= 8_000


@pytest.mark.clause("LIB-05")
def test_a_closed_workspace_refuses_everything(workspace: Workspace) -> None:
    packs = workspace.packs
    assert repr(workspace).endswith(", open>")
    workspace.close()
    workspace.close()
    assert repr(workspace).endswith(", closed>")
    uses: list[Callable[[], object]] = [lambda: workspace.call("output"), workspace.__enter__]
    for name in ("tools", "packs", "code", "documents", "memory", "contexts", "bundles"):
        uses.append(lambda name=name: getattr(workspace, name))  # type: ignore[misc]
    for use in uses:
        with pytest.raises(Failure, match="closed"):
            use()
    assert packs.list().total == 0


@pytest.mark.clause("LIB-05")
def test_a_workspace_is_safe_between_threads(workspace: Workspace) -> None:
    pack = workspace.packs.create(ttl_minutes=60, name="shared")
    refused: list[Failure] = []

    def work(number: int) -> None:
        done = 0
        while done < 5:
            try:
                seen = workspace.packs.get("shared")
                workspace.packs.set_meta(seen, title=f"{number}-{done}")
                done += 1
            except Failure as failure:
                refused.append(failure)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert workspace.packs.get(pack.id).revision == 21
    assert {failure.code for failure in refused} <= {Code.REVISION_CONFLICT, Code.LOCK_TIMEOUT}


@pytest.mark.clause("LIB-06")
def test_paths_are_relative_to_the_cwd_and_the_environment_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONTEXT_PACK_ROOT", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("CONTEXT_PACK_SOURCE_ROOT", str(tmp_path / "nowhere"))
    (tmp_path / "project").mkdir()
    (tmp_path / "project/till.py").write_text("def pay():\n    pass\n")
    with open_workspace("project", storage="store") as workspace:
        assert sorted(os.listdir(tmp_path)) == ["project"]
        assert workspace.code.read("till.py").content.startswith("def pay")
        workspace.packs.create(ttl_minutes=5)
    assert sorted(os.listdir(tmp_path)) == ["project", "store"]
    with open_workspace("project") as other:
        assert other.packs.list().total == 0
        pack = other.packs.create(ttl_minutes=5)
    assert (tmp_path / "project/.agents/mcp/context_pack/packs" / f"{pack.id}.md").is_file()
    with pytest.raises(Failure, match="there is no folder"):
        open_workspace("projetc")


@pytest.mark.clause("LIB-06")
def test_more_names_can_be_denied_and_files_capped(tmp_path: Path) -> None:
    (tmp_path / "plan.sql").write_text("select 1\n")
    (tmp_path / "big.txt").write_text("x" * 100 + "\n")
    with open_workspace(
        tmp_path, storage=tmp_path / "store", deny=["*.sql"], max_source_bytes=50
    ) as workspace:
        refs = (
            UpsertRef(section_key="all", ref_key=key, path=path, line_start=1, line_end=1)
            for key, path in (("plan", "plan.sql"), ("big", "big.txt"))
        )
        pack = workspace.packs.create(ttl_minutes=5)
        pack = workspace.packs.apply(pack, UpsertSection(section_key="all", section_title="All"), *refs)
        states = [each.resolution for each in workspace.packs.verify(pack).refs]
    assert [state.state for state in states] == [State.STALE, State.STALE]
    assert ["denied" in str(state.reason) for state in states] == [True, False]


@pytest.mark.clause("LIB-07")
def test_ports_of_ones_own_replace_the_disk(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"a.py": "one\ntwo\n"}
    clock, ids = FixedClock(datetime(2026, 1, 1, tzinfo=UTC)), SeededIds(7)
    ports = Ports(clock=clock, source=MemorySourceTree(files), packs=MemoryPackStore(clock, ids))
    with open_workspace(ports=ports) as workspace:
        pack = workspace.packs.create(ttl_minutes=1, name="brief-life")
        section = UpsertSection(section_key="all", section_title="All")
        two = UpsertRef(section_key="all", ref_key="two", path="a.py", line_start=2, line_end=2)
        pack = workspace.packs.apply(pack, section, two)
        files["a.py"] = "zero\none\ntwo\n"
        (moved,) = workspace.packs.verify(pack).refs
        assert moved.resolution.state is State.MOVED
        assert pack.created_at == datetime(2026, 1, 1, tzinfo=UTC)
        clock.advance(minutes=1)
        assert workspace.packs.list().total == 0
        missing: list[Callable[[], object]] = [
            lambda: workspace.documents,
            lambda: workspace.memory,
            lambda: workspace.contexts,
            lambda: workspace.bundles,
            lambda: workspace.code.grep("x"),
        ]
        for use in missing:
            with pytest.raises(Failure, match="these ports have no"):
                use()
    with pytest.raises(TypeError):
        open_workspace(storage=tmp_path, ports=ports)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.clause("LIB-08")
def test_using_the_library_starts_no_thread_and_prints_nothing(
    workspace: Workspace, capfd: pytest.CaptureFixture[str]
) -> None:
    before = set(threading.enumerate())
    with_ref(workspace, "quiet")
    workspace.call("input", {"action": "nonsense"})
    workspace.call("output", {"name": "quiet"})
    assert set(threading.enumerate()) <= before
    assert capfd.readouterr() == ("", "")


@pytest.mark.clause("LIB-08")
def test_public_names_can_be_listed_and_had_and_no_other(workspace: Workspace) -> None:
    names = dir(context_pack)
    assert names == context_pack.__all__
    assert {"Failure", "Workspace", "open_workspace", "DocumentHit", "MemoryHit"} <= set(names)
    for part in ("packs", "code", "documents", "memory", "contexts", "bundles"):
        for name, method in inspect.getmembers(getattr(workspace, part), inspect.ismethod):
            results = re.findall(r"[A-Z]\w+", str(inspect.signature(method).return_annotation))
            assert name.startswith("_") or set(results) <= {*names, "None", "Sequence", "Iterator"}, name
    assert all(getattr(context_pack, name) is not None for name in names)
    with pytest.raises(AttributeError):
        context_pack.Nonsense  # noqa: B018


@pytest.mark.clause("LIB-08")
def test_a_change_shows_the_arguments_of_its_tool_and_what_they_mean(workspace: Workspace) -> None:
    shown = inspect.signature(workspace.packs.upsert_ref).parameters
    assert list(shown)[:3] == ["pack", "section_key", "ref_key"]
    assert "action" not in shown
    words = inspect.getdoc(workspace.packs.upsert_ref) or ""
    assert all(f"    {name}: " in words for name in shown)
