"""Folders swapped for links to a decoy, in a loop, while every reader reads: nothing of the decoy is served.

The decoy is a copy of the project in which one word is another, so whatever comes from it can be told. The
swaps are made by a process of their own. `HOSTILE_SECONDS=10` goes on for so long at each place, instead of
for a number of calls.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from bundle_maker import bundle_files, write_files

from context_pack import open_workspace
from context_pack_adapters.cli import main

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="names are exchanged by a call of Linux")

SECONDS = float(os.environ.get("HOSTILE_SECONDS", "0"))
ROUNDS = 12
OURS, THEIRS = "harmless", "leakedword"
STORE = ".agents/mcp/context_pack"
SWAPPER = """
import ctypes, os, sys
place, link = map(os.fsencode, sys.argv[1:])
swap = ctypes.CDLL(None, use_errno=True).renameat2
count = 0
print("ready", flush=True)
os.set_blocking(0, False)
while sys.stdin.buffer.raw.read(1) is None:
    for _ in range(20):  # both exchange their names in one step, so that there is always something
        if swap(-100, place, -100, link, 2) or swap(-100, place, -100, link, 2):
            sys.exit(os.strerror(ctypes.get_errno()))
        count += 1
print(count)
"""
FILES = {
    "src/deep/app.py": f'"""The {OURS} marker."""\n\n\ndef marker_{OURS}():\n    return "marker {OURS}"\n',
    "src/main.py": "from deep import app\n",
    "src/deep/.context.yaml": (
        f"version: 1\nscope: src/deep\nsummary: the {OURS} marker of it all\nfingerprint: abcdef12\n"
        "last_updated: 2026-01-01T00:00:00Z\nmaintenance: none\n"
    ),
    "docs/part/page.md": f"# Marker\n\nThe {OURS} marker of a document.\n",
    "context.json": json.dumps({"collections": {"docs": {"url": "./docs"}}}),
}
NODES: list[dict[str, Any]] = [
    {"id": "a", "title": f"marker {OURS}", "refs": ["b"]},
    {"id": "b", "title": f"second {OURS}"},
]
READ = ("read_file", {"path": "src/deep/app.py"})
CALLS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "src": [
        READ,
        ("read_file", {"path": "src/main.py", "includeDeps": True}),
        ("grep_codebase", {"pattern": "marker .+"}),
        ("code_outline", {"path": "src/deep/app.py"}),
        ("code_outline", {"path": "src"}),
        ("find_usages", {"name": f"marker_{OURS}"}),
        ("find_usages", {"name": f"marker_{THEIRS}", "path": "src/deep"}),
        ("context_search", {"query": "marker"}),
        ("list_contexts", {}),
        ("query_context", {"scope": "src/deep"}),
        ("query_context", {"scope": "deep", "path": "src"}),
        ("check_freshness", {"scope": "src/deep"}),
        ("output", {"id": "PACK"}),
    ],
    "docs": [
        ("documents_sync", {}),
        ("documents_search", {"query": "marker"}),
        ("documents_list_documents", {"collection": "docs"}),
        ("documents_get_document", {"collection": "docs", "document": "part/page.md"}),
        ("documents_get_outline", {"collection": "docs", "document": "part/page.md"}),
        ("documents_get_section", {"collection": "docs", "document": "part/page.md", "section": "Marker"}),
        ("documents_find_related", {"collection": "docs", "document": "part/page.md"}),
        ("documents_search_batch", {"queries": [{"query": "marker"}]}),
    ],
    "shop": [
        ("get_context", {"entityType": "Node", "id": "a"}),
        ("export_context", {"targets": [{"entityType": "Node", "entityId": "a"}]}),
        ("export_entity_markdown", {"entityType": "Node", "entityId": "a"}),
    ],
    STORE: [
        ("input", {"action": "list"}),
        ("input", {"action": "get", "id": "PACK"}),
        ("output", {"id": "PACK"}),
        ("context_search", {"query": "marker"}),
    ],
}
PLACES = {
    "src": "src",
    "src/deep": "src",
    "docs": "docs",
    "docs/part": "docs",
    "shop": "shop",
    "shop/bundle": "shop",
    "shop/schemas": "shop",
    ".agents": STORE,
    f"{STORE}/packs": STORE,
    f"{STORE}/memory/discoveries": STORE,
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with something of every kind in it."""
    root = tmp_path / "project"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    write_files(root / "shop", bundle_files({"Node": NODES}))
    return root


@contextmanager
def swapped(place: Path, target: Path) -> Iterator[None]:
    """The place is its own folder and a link to the target, by turns, until the block ends."""
    link = place.with_name("a-link")
    link.symlink_to(target)
    command = [sys.executable, "-c", SWAPPER, str(place), str(link)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield
        finally:
            told, _ = process.communicate()
    link.unlink()
    assert int(told) > 20


@pytest.mark.clause("ST-40", "CD-32", "BD-13", "CX-20", "DC-06", "ST-32")
@pytest.mark.parametrize("place", PLACES)
def test_nothing_is_served_from_behind_a_link_that_takes_a_folder_s_place(
    project: Path, tmp_path: Path, place: str
) -> None:
    with open_workspace(project) as workspace:
        pack = workspace.packs.create(ttl_minutes=600, brief=f"the {OURS} marker")
        pack = workspace.packs.upsert_section(pack, section_key="main", section_title="Main")
        workspace.packs.upsert_ref(
            pack, section_key="main", ref_key="app", path="src/deep/app.py", line_start=5, line_end=5
        )
        workspace.call("context_record", {"type": "rule", "content": f"never move the {OURS} marker"})
        decoy = tmp_path / "decoy"
        shutil.copytree(project, decoy)
        for file in filter(Path.is_file, decoy.rglob("*")):
            file.write_text(file.read_text().replace(OURS, THEIRS))
        calls = [
            (tool, {name: pack.id if value == "PACK" else value for name, value in arguments.items()})
            for tool, arguments in CALLS[PLACES[place]]
        ]
        before = everything(decoy)
        assert any(OURS in workspace.call(tool, arguments).text for tool, arguments in calls)
        with swapped(project / place, decoy / place):
            end = time.monotonic() + SECONDS
            rounds = 0
            while rounds < ROUNDS or time.monotonic() < end:
                rounds += 1
                for tool, arguments in calls:
                    answer = workspace.call(tool, arguments).text.replace(f"marker_{THEIRS}: ", "")
                    assert THEIRS not in answer, tool
        for tool, arguments in calls:
            answer = workspace.call(tool, arguments).text.replace(f"marker_{THEIRS}: ", "")
            assert THEIRS not in answer, tool
        assert everything(decoy) == before


@pytest.mark.clause("ST-32")
def test_nothing_is_written_behind_a_link_that_takes_a_folder_s_place(project: Path, tmp_path: Path) -> None:
    decoy = tmp_path / "decoy"
    (decoy / "packs").mkdir(parents=True)
    with open_workspace(project) as workspace:
        workspace.packs.create(ttl_minutes=600)
        with swapped(project / STORE, decoy):
            end, rounds = time.monotonic() + SECONDS, 0
            while rounds < 10 * ROUNDS or time.monotonic() < end:
                rounds += 1
                for arguments in ({"action": "create", "ttl_minutes": 600}, {"action": "list"}):
                    workspace.call("input", arguments)
                workspace.call("context_record", {"type": "rule", "content": f"the rule {rounds}"})
    assert everything(decoy) == {"packs": b""}


COMMANDS = [
    ["read", "src/deep/app.py"],
    ["grep", "marker"],
    ["outline", "src"],
    ["contexts", "refresh", "--agents"],
    ["docs", "sync"],
    ["docs", "search", "marker"],
    ["memory", "import", "docs"],
    ["memory", "list"],
    ["packs", "list"],
    ["bundles", "check"],
    ["index"],
]


@pytest.mark.clause("ST-32", "CX-20", "DC-06", "BD-13")
@pytest.mark.parametrize("place", ["src/deep", "docs", "shop/bundle", ".agents"])
def test_no_command_reads_or_writes_behind_a_link_that_takes_a_folder_s_place(
    project: Path,
    tmp_path: Path,
    place: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CONTEXT_PACK_EMBEDDER", "fast")
    monkeypatch.chdir(project)
    main(["memory", "add", "rule", f"never move the {OURS} marker"])
    decoy = tmp_path / "decoy"
    shutil.copytree(project, decoy)
    for file in filter(Path.is_file, decoy.rglob("*")):
        file.write_text(file.read_text().replace(OURS, THEIRS))
    before = everything(decoy)
    with swapped(project / place, decoy / place):
        end, rounds = time.monotonic() + SECONDS, 0
        while rounds < 2 or time.monotonic() < end:
            rounds += 1
            for words in COMMANDS:
                main(words)
                told = "".join(capfd.readouterr())
                assert THEIRS not in told, words
                assert "failed inside" not in told, words
    assert everything(decoy) == before


def everything(folder: Path) -> dict[str, bytes]:
    """Every path below a folder, and what the files hold."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else b""
        for path in folder.rglob("*")
    }
