"""Several processes at once, and processes that are killed: the index stays whole, and work goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import CommandLine
from document_trees import configure, environ, lay
from private_folders import places_of
from stdio_client import PATIENCE, StdioClient, environment

MAIN = (sys.executable, "-m", "context_pack")


def many(root: Path, count: int) -> None:
    for number in range(count):
        lines = "\n\n".join(f"Paragraph {line} about subject{number} and shared words." for line in range(6))
        lay(root, {f"docs/{number % 7}/n{number:03}.md": f"# Note {number}\n\n{lines}\n"})
    configure(root, docs="./docs")


def weight(index: Path) -> int:
    """How much has been written to an index so far."""
    found = 0
    for name in (index, index.with_name(index.name + "-wal")):
        try:
            found += os.path.getsize(name)
        except FileNotFoundError:
            continue
    return found


@pytest.mark.slow
@pytest.mark.clause("DC-21")
def test_two_sync_and_two_search_at_once_without_an_error(tmp_path: Path) -> None:
    many(tmp_path, 90)
    clients = [StdioClient(tmp_path, env=environ(tmp_path)) for _ in range(2)]
    env = environment(**environ(tmp_path))
    command = [*MAIN, "docs", "sync", "--json"]
    pipe = subprocess.PIPE
    syncs = [subprocess.Popen(command, cwd=tmp_path, env=env, stdout=pipe, stderr=pipe) for _ in range(2)]
    try:
        for client in clients:
            client.initialize()
        rounds = 0
        while rounds < 3 or any(sync.poll() is None for sync in syncs):
            rounds += 1
            for client in clients:
                result = client.call("documents_search", {"query": f"subject{rounds}", "limit": 3})
                assert not result["isError"], result
                for hit in result["structuredContent"]["results"]:
                    at = {"collection": "docs", "document": hit["documentId"]}
                    whole = client.call("documents_get_document", at)["structuredContent"]
                    assert hit["content"] in whole["content"]
        for sync in syncs:
            out, err = sync.communicate(timeout=PATIENCE)
            assert (sync.returncode, err) == (0, b""), err
            assert json.loads(out)["collections"][0]["failed"] == []
        assert clients[0].payload("documents_list_documents", {"collection": "docs"})["total"] == 90
    finally:
        for client in clients:
            client.kill()
        for sync in syncs:
            sync.kill()
            sync.wait()


@pytest.mark.slow
@pytest.mark.clause("DC-21")
def test_a_sync_that_is_killed_goes_on_where_it_stopped(tmp_path: Path) -> None:
    many(tmp_path, 200)
    line = CommandLine(tmp_path)
    env = environment(**environ(tmp_path))
    index = places_of(tmp_path).cache / "documents.sqlite3"
    process = subprocess.Popen([*MAIN, "docs", "sync"], cwd=tmp_path, env=env, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and weight(index) < 200_000 and time.monotonic() < deadline:
        continue
    process.kill()
    process.wait()
    before = line("docs", "list", "--json", **environ(tmp_path)).json["collections"][0]["documentCount"]
    done = line("docs", "sync", "--json", **environ(tmp_path))
    assert done.code == 0
    added = done.json["collections"][0]["added"]
    assert before + added == 200
    assert line("docs", "list", "--json", **environ(tmp_path)).json["collections"][0]["documentCount"] == 200
    found = line("docs", "search", "subject199", "--json", **environ(tmp_path)).json["results"]
    assert found[0]["documentId"] == "3/n199.md"
