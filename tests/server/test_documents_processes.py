"""Several processes at once, and processes that are killed: the index stays whole, and work goes on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from document_trees import configure, environ
from file_trees import lay
from stdio_client import PATIENCE, StdioClient, environment

MAIN = (sys.executable, "-m", "context_pack")


def many(root: Path, count: int) -> None:
    for number in range(count):
        lines = "\n\n".join(f"Paragraph {line} about subject{number} and shared words." for line in range(6))
        lay(root, {f"docs/{number % 7}/n{number:03}.md": f"# Note {number}\n\n{lines}\n"})
    configure(root, docs="./docs")


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
