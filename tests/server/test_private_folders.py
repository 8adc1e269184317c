"""A cloned project brings nothing of ours along: what is derived or private is the user's, outside of it."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from document_trees import configure, environ
from file_trees import lay, modes
from stdio_client import PRIVATE, StdioClient
from waiting import until

Spawn = Callable[..., StdioClient]
STORE = ".agents/mcp/context_pack"
FAST = {"CONTEXT_PACK_EMBEDDER": "fast", "CONTEXT_PACK_RATE_LIMITS": "off"}
TRUE = 'def sign_in(user):\n    """Checks the password."""\n    return user\n'
PLANTED = ("derived/memory.sqlite3", "stats/a.json", "access/items.json", "memory/sessions/a.json")
"""Where older versions kept what is derived or private."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A cloned project with one source file and one document, and room to plant something."""
    folder = tmp_path / "project"
    lay(folder, {"auth.py": TRUE, "docs/guide.md": "# Guide\n\nHow to sign in.\n"})
    configure(folder, docs="./docs")
    return folder


def started(spawn: Spawn, project: Path, **env: str) -> StdioClient:
    client = spawn(source_root=project, env=environ(project.parent, **{**FAST, **env}))
    client.initialize()
    return client


def contents(folder: Path) -> dict[str, tuple[int, bytes | str]]:
    """Everything below a folder, byte for byte, without following links or opening what is no file."""
    found: dict[str, tuple[int, bytes | str]] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        what: bytes | str = ""
        if stat.S_ISLNK(status.st_mode):
            what = os.readlink(path)
        elif stat.S_ISREG(status.st_mode):
            what = path.read_bytes()
        found[str(path.relative_to(folder))] = (status.st_mode, what)
    return found


def ask_everything(client: StdioClient) -> str:
    """Call a tool of each kind that reads or searches; what they answered."""
    calls = [
        ("context_search", {"query": "sign in"}),
        ("documents_search", {"query": "sign in"}),
        ("read_file", {"path": "auth.py"}),
        ("grep_codebase", {"pattern": "sign"}),
        ("list_contexts", {}),
        ("output", {}),
    ]
    return "".join(json.dumps(client.call(tool, arguments)) for tool, arguments in calls)


@pytest.mark.clause("PV-05")
def test_a_server_that_only_reads_changes_no_file_of_the_project(project: Path, spawn: Spawn) -> None:
    lay(project, {f"{STORE}/{place}": "planted" for place in PLANTED})
    before = contents(project)
    client = started(spawn, project)
    assert "sign_in" in ask_everything(client)
    assert client.end()[0] == 0
    assert contents(project) == before


@pytest.mark.clause("PV-04", "IX-01")
def test_private_files_of_a_server_are_readable_by_the_user_alone(
    project: Path, spawn: Spawn, private: Path
) -> None:
    (project / "auth.py").chmod(0o600)
    client = started(spawn, project)
    ask_everything(client)
    assert modes(private) == {}
    client.end()
    assert modes(private) == {}
    kept = {path.name for path in private.rglob("*")}
    assert {"memory.sqlite3", "documents.sqlite3", "activity.sqlite3"} <= kept
    assert sorted(os.listdir(private)) == ["cache", "state"]


def homeless(tmp_path: Path) -> dict[str, str]:
    """The environment of a user without a home that can be written to, and with a folder for temporaries."""
    (tmp_path / "no-home").write_text("")
    (tmp_path / "temporary").mkdir(exist_ok=True)
    blank = {PRIVATE: "", "XDG_CACHE_HOME": "", "XDG_STATE_HOME": ""}
    return {**blank, "HOME": str(tmp_path / "no-home"), "TMPDIR": str(tmp_path / "temporary")}


@pytest.mark.slow
@pytest.mark.clause("PV-06")
def test_without_a_home_a_server_works_in_a_folder_that_goes_with_it(
    project: Path, spawn: Spawn, tmp_path: Path
) -> None:
    """So many files that a child process indexes them: it must use the same folder."""
    lay(project, {f"part/f{number}.py": f"def work_{number}():\n    pass\n" for number in range(120)})
    before = contents(project)
    client = started(spawn, project, **homeless(tmp_path))
    client.call("context_search", {"query": "work"})

    def found() -> bool:
        answer = client.payload("context_search", {"query": "work_119"})
        return "indexing" not in answer and any(
            each.get("symbol") == "work_119" for each in answer["results"]
        )

    until(found)
    (folder,) = (tmp_path / "temporary").iterdir()
    assert modes(folder) == {}
    assert [path.parent.parent for path in folder.rglob("memory.sqlite3")] == [folder / "cache"]
    code, log = client.end()
    assert code == 0
    assert "are kept until the server ends: " in log
    assert list((tmp_path / "temporary").iterdir()) == []
    assert contents(project) == before


@pytest.mark.clause("PV-04", "PV-06")
def test_a_link_in_the_place_of_a_private_folder_is_not_followed(
    project: Path, spawn: Spawn, private: Path, tmp_path: Path
) -> None:
    (tmp_path / "decoy").mkdir()
    (tmp_path / "temporary").mkdir()
    (private / "state").symlink_to(tmp_path / "decoy")
    client = started(spawn, project, TMPDIR=str(tmp_path / "temporary"))
    assert "sign_in" in ask_everything(client)
    assert ": Not a directory" in client.end()[1]
    assert list((tmp_path / "decoy").iterdir()) == []
