"""The library API: typed, synchronous, quiet, and as independent of the process as a value."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from inmemory import FixedClock, MemoryPackStore, MemorySourceTree, SeededIds
from inmemory.ports import open_memory_workspace

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
    results,
)

SOURCE = "import os\n\n\ndef login(user):\n    return user.name\n"


@pytest.fixture(params=["disk", "memory"])
def workspace(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workspace]:
    """The same workspace on disk and in memory."""
    if request.param == "memory":
        opened = open_memory_workspace({"src/auth.py": SOURCE})
    else:
        (tmp_path / "src").mkdir()
        (tmp_path / "src" / "auth.py").write_text(SOURCE)
        opened = open_workspace(tmp_path, storage=tmp_path / "store")
    with opened as workspace:
        yield workspace


def with_ref(workspace: Workspace, name: str | None = None) -> Pack:
    """A draft with one section and one ref."""
    pack = workspace.packs.create(ttl_minutes=60, name=name, title="Login")
    pack = workspace.packs.upsert_section(pack, section_key="auth", section_title="Auth")
    return workspace.packs.upsert_ref(
        pack, section_key="auth", ref_key="login", path="src/auth.py", line_start=4, line_end=5, ref_why="why"
    )


@pytest.mark.clause("LIB-01")
def test_a_pack_is_built_finalized_and_rendered_in_a_few_lines(workspace: Workspace) -> None:
    pack = workspace.packs.set_status(with_ref(workspace), "finalized")
    assert (pack.status, pack.revision) == (Status.FINALIZED, 4)
    page = workspace.packs.render(pack)
    assert page.cursor is None
    assert "   4: def login(user):" in page.text
    assert workspace.packs.get(pack.id) == pack


@pytest.mark.clause("LIB-01")
def test_every_change_returns_the_pack_as_it_now_is(workspace: Workspace) -> None:
    packs = workspace.packs
    pack = with_ref(workspace)
    pack = packs.upsert_diagram(pack, section_key="auth", diagram_key="flow", title="Flow", mermaid="graph")
    pack = packs.set_meta(pack, title="", brief="How", tags=("a", "b"))
    assert (pack.title, pack.brief, pack.tags) == (None, "How", ("a", "b"))
    before = pack.expires_at
    pack = packs.touch_ttl(pack, extend_minutes=5)
    assert (pack.expires_at - before).total_seconds() == 300
    pack = packs.delete_diagram(pack, section_key="auth", diagram_key="flow")
    pack = packs.delete_ref(pack, section_key="auth", ref_key="login")
    assert (pack.sections[0].refs, pack.sections[0].diagrams) == ((), ())
    pack = packs.delete_section(pack, section_key="auth")
    assert pack.sections == ()
    assert pack.revision == 9
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
            UpsertSection(section_key="other", section_title="two\nlines"),
        )
    assert refused.value.details["index"] == 1
    assert workspace.packs.get(pack) == pack


@pytest.mark.clause("LIB-01")
def test_packs_are_listed_verified_and_repaired(workspace: Workspace) -> None:
    pack = with_ref(workspace, name="login-pack")
    assert [found.name for found in workspace.packs.list(query="LOGIN").items] == ["login-pack"]
    assert workspace.packs.list(status="finalized").total == 0
    verified = workspace.packs.verify("login-pack")
    assert verified.trusted
    assert [checked.resolution.state for checked in verified.refs] == [State.EXACT]
    assert workspace.packs.repair(pack).pack.revision == pack.revision


@pytest.mark.clause("LIB-01")
def test_two_revisions_of_a_pack_are_compared(workspace: Workspace) -> None:
    first = workspace.packs.create(ttl_minutes=60, name="auth")
    last = workspace.packs.upsert_section(first, section_key="code", section_title="Code")
    workspace.packs.set_meta(last, title="How login works")
    found = workspace.packs.diff("auth", first.revision)
    assert (found.old, found.new) == (1, 3)
    assert {step.part for step in found.steps} == {"pack", "section"}
    assert [step.part for step in workspace.packs.diff("auth").steps] == ["pack"]


@pytest.mark.clause("LIB-02")
def test_a_change_of_a_pack_seen_too_long_ago_is_refused(workspace: Workspace) -> None:
    old = workspace.packs.create(ttl_minutes=60, name="shared")
    workspace.packs.set_meta(old, title="Newer")
    with pytest.raises(Failure) as refused:
        workspace.packs.set_meta(old, title="Older")
    assert refused.value.code is Code.REVISION_CONFLICT
    assert workspace.packs.get("shared").title == "Newer"


@pytest.mark.clause("LIB-02")
def test_a_pack_named_by_words_needs_the_revision(workspace: Workspace) -> None:
    workspace.packs.create(ttl_minutes=60, name="shared")
    with pytest.raises(Failure) as refused:
        workspace.packs.set_meta("shared", title="x")
    assert refused.value.details["field"] == "expected_revision"
    assert workspace.packs.apply("shared", SetMeta(title="x"), expected_revision=1).revision == 2


@pytest.mark.clause("LIB-03")
def test_any_tool_can_be_called_as_a_client_would(workspace: Workspace) -> None:
    assert workspace.tools[0] == "context_search"  # what the instructions name first
    made = workspace.call("input", {"action": "create", "ttl_minutes": 5, "name": "called"})
    assert not made.is_error
    assert json.loads(made.text)["payload"]["name"] == "called"
    assert made.structured == json.loads(made.text)
    refused = workspace.call("input", {"action": "create"})
    assert refused.is_error
    assert json.loads(refused.text)["code"] == "ttl_required"
    assert "called" in workspace.call("output").text
    with pytest.raises(Failure, match="no tool 'nonsense'") as unknown:
        workspace.call("nonsense")
    assert unknown.value.code is Code.NOT_FOUND


@pytest.mark.clause("LIB-03")
def test_the_library_has_no_rate_limits(workspace: Workspace) -> None:
    assert not any(workspace.call("output").is_error for _ in range(300))


@pytest.mark.clause("LIB-04")
def test_a_long_pack_comes_in_pages_or_as_one_document(tmp_path: Path) -> None:
    files = {"long.py": "".join(f"x{number} = {number}\n" for number in range(2000))}
    with open_memory_workspace(files) as workspace:
        pack = workspace.packs.create(ttl_minutes=60)
        pack = workspace.packs.upsert_section(pack, section_key="all", section_title="All")
        for start in range(1, 2000, 100):
            key, end = f"r{start}", start + 99
            pack = workspace.packs.upsert_ref(
                pack, section_key="all", ref_key=key, path="long.py", line_start=start, line_end=end
            )
        pages = list(workspace.packs.pages(pack, max_tokens=2000))
        document = workspace.packs.document(pack)
        compact = workspace.packs.document(pack, mode="compact")
    assert len(pages) > 3
    assert all(page.text.startswith("[LEGEND]") for page in pages)
    assert [page.cursor is None for page in pages] == [False] * (len(pages) - 1) + [True]
    assert document.count("[LEGEND]") == 1
    assert all(f"x{number} = {number}" in document for number in range(2000))
    assert "x5 = 5" not in compact
    assert "#### r101 [all]" in compact


@pytest.mark.clause("LIB-04")
def test_a_page_of_packs_iterates_and_a_pack_is_one_html_page(workspace: Workspace) -> None:
    made = [workspace.packs.create(ttl_minutes=5, name=f"pack-{number}") for number in range(3)]
    page = workspace.packs.list(limit=2)
    assert (len(page), page.total, [pack.id for pack in page]) == (2, 3, [pack.id for pack in page.items])
    assert "<title>" in workspace.packs.export_html(made[0])


@pytest.mark.clause("LIB-04")
def test_a_question_becomes_a_pack(tmp_path: Path) -> None:
    (tmp_path / "money.py").write_text("def total_of_invoice(rows):\n    return sum(rows)\n")
    with open_workspace(tmp_path, storage=tmp_path / "packs", cache=tmp_path / "cache") as workspace:
        drafted = workspace.packs.draft("total of an invoice", ttl_minutes=5, name="money")
    assert [ref.path.value for _, ref in drafted.pack.refs] == ["money.py"]
    assert 0 < drafted.tokens <= 8_000


@pytest.mark.clause("LIB-05")
def test_a_closed_workspace_refuses_everything(workspace: Workspace) -> None:
    packs = workspace.packs
    workspace.close()
    workspace.close()
    uses: list[Callable[[], object]] = [lambda: workspace.packs, lambda: workspace.call("output")]
    for use in (*uses, lambda: workspace.tools, workspace.__enter__):
        with pytest.raises(Failure, match="closed"):
            use()
    assert packs.list().total == 0


@pytest.mark.clause("LIB-06")
def test_workspace_paths_are_relative_to_the_cwd_and_made_on_first_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "project").mkdir()
    with open_workspace("project", storage="store") as workspace:
        assert sorted(os.listdir(tmp_path)) == ["project"]
        assert workspace.packs.list().total == 0
        workspace.packs.create(ttl_minutes=5)
    assert sorted(os.listdir(tmp_path)) == ["project", "store"]
    with open_workspace("project") as workspace:
        pack = workspace.packs.create(ttl_minutes=5)
    assert (tmp_path / "project/.agents/mcp/context_pack/packs" / f"{pack.id}.md").is_file()


@pytest.mark.clause("LIB-06")
def test_the_environment_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONTEXT_PACK_ROOT", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("CONTEXT_PACK_SOURCE_ROOT", str(tmp_path / "nowhere"))
    with open_workspace() as workspace:
        workspace.packs.create(ttl_minutes=5)
    assert sorted(os.listdir(tmp_path)) == [".agents"]


@pytest.mark.clause("LIB-06")
def test_two_workspaces_know_nothing_of_each_other(tmp_path: Path) -> None:
    one, other = open_memory_workspace(), open_memory_workspace()
    one.packs.create(ttl_minutes=5, name="only-here")
    assert (one.packs.list().total, other.packs.list().total) == (1, 0)
    on_disk = [open_workspace(tmp_path, storage=tmp_path / name) for name in "ab"]
    on_disk[0].packs.create(ttl_minutes=5)
    assert [workspace.packs.list().total for workspace in on_disk] == [1, 0]


@pytest.mark.clause("LIB-06")
def test_more_names_can_be_denied_and_files_capped(tmp_path: Path) -> None:
    (tmp_path / "plan.sql").write_text("select 1\n")
    (tmp_path / "big.txt").write_text("x" * 100 + "\n")
    root = tmp_path / "store"
    with open_workspace(tmp_path, storage=root, deny=["*.sql"], max_source_bytes=50) as workspace:
        pack = workspace.packs.create(ttl_minutes=5)
        pack = workspace.packs.upsert_section(pack, section_key="all", section_title="All")
        for key, path in (("plan", "plan.sql"), ("big", "big.txt")):
            pack = workspace.packs.upsert_ref(
                pack, section_key="all", ref_key=key, path=path, line_start=1, line_end=1
            )
        states = [checked.resolution for checked in workspace.packs.verify(pack).refs]
    assert [state.state for state in states] == [State.STALE, State.STALE]
    assert ["denied" in str(state.reason) for state in states] == [True, False]


@pytest.mark.clause("LIB-07")
def test_every_port_has_an_in_memory_implementation(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"a.py": "one\ntwo\n"}
    clock, ids = FixedClock(datetime(2026, 1, 1, tzinfo=UTC)), SeededIds(7)
    ports = Ports(clock=clock, source=MemorySourceTree(files), packs=MemoryPackStore(clock, ids))
    with open_workspace(ports=ports) as workspace:
        pack = workspace.packs.create(ttl_minutes=1, name="brief-life")
        pack = workspace.packs.upsert_section(pack, section_key="all", section_title="All")
        pack = workspace.packs.upsert_ref(
            pack, section_key="all", ref_key="two", path="a.py", line_start=2, line_end=2
        )
        files["a.py"] = "zero\none\ntwo\n"
        (moved,) = workspace.packs.verify(pack).refs
        assert moved.resolution.state is State.MOVED
        assert pack.created_at == datetime(2026, 1, 1, tzinfo=UTC)
        clock.advance(minutes=1)
        assert workspace.packs.list().total == 0
    assert list(tmp_path.iterdir()) == []
    again = open_memory_workspace(clock=FixedClock(), ids=SeededIds(7))
    assert again.packs.create(ttl_minutes=1).id == pack.id


@pytest.mark.clause("LIB-07")
def test_ports_and_places_exclude_each_other(tmp_path: Path) -> None:
    clock = FixedClock()
    ports = Ports(clock=clock, source=MemorySourceTree({}), packs=MemoryPackStore(clock, SeededIds()))
    with pytest.raises(TypeError):
        open_workspace(storage=tmp_path, ports=ports)


@pytest.mark.clause("LIB-08")
def test_importing_and_using_the_library_starts_no_thread_and_prints_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = threading.active_count()
    with open_workspace(tmp_path, storage=tmp_path / "store") as workspace:
        with_ref(workspace, "quiet")
        workspace.call("input", {"action": "nonsense"})
        workspace.call("output", {"name": "quiet"})
    assert threading.active_count() == before
    assert capfd.readouterr() == ("", "")


@pytest.mark.clause("LIB-08")
def test_importing_the_library_loads_nothing_heavy(checkout: Path, tmp_path: Path) -> None:
    heavy = ("attr", "yaml", "threading", "jsonschema", "subprocess")
    code = f"import sys, context_pack; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={"PYTHONPATH": str(checkout)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.clause("LIB-08")
def test_every_public_name_can_be_had_and_no_other() -> None:
    for name in (*results.__all__, "Workspace", "open_workspace"):
        assert getattr(context_pack, name) is not None
    with pytest.raises(AttributeError):
        context_pack.Nonsense  # noqa: B018


@pytest.mark.clause("LIB-09")
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
def test_the_first_argument_is_the_project_and_one_that_is_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/till.py").write_text("def pay():\n    pass\n")
    with open_workspace(tmp_path / "shop") as workspace:
        assert workspace.code.read("till.py").source.text.startswith("def pay")
    with pytest.raises(Failure, match="there is no folder"):
        open_workspace(tmp_path / "shpo")
