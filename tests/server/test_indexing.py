"""Memory and documents over stdio: several processes at once, some killed, and files that crash a grammar."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import crashing_grammar
import pytest
from crashing_grammar import CRASH
from document_trees import configure, environ
from file_trees import lay
from stdio_client import PATIENCE, ROOT, StdioClient, environment
from waiting import until

Spawn = Callable[..., StdioClient]
CRASHED = "parsing it crashed"


@pytest.fixture
def marked(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A project with a file that crashes the grammar of Python, and the environment in which it does."""
    (tmp_path / "bad.py").write_text(f'def ride_camel():\n    """Ride."""\n    return {CRASH}\n')
    (tmp_path / "good.py").write_text('def feed_zebra():\n    """Feed."""\n    return 1\n')
    places = crashing_grammar.plant(tmp_path_factory.mktemp("grammar"))["PYTHONPATH"].split(os.pathsep)
    path = os.pathsep.join([places[0], str(ROOT), str(ROOT / "adapters")])
    return {"PYTHONPATH": path, "CONTEXT_PACK_EMBEDDER": "fast", "CONTEXT_PACK_RATE_LIMITS": "off"}


@pytest.mark.clause("ME-26", "CD-95")
@pytest.mark.parametrize(
    "count",
    [0, pytest.param(120, marks=pytest.mark.slow)],
    ids=["while somebody waits", "in the background"],
)
def test_a_server_survives_a_crash_and_answers_with_the_rest(
    spawn: Spawn, tmp_path: Path, marked: dict[str, str], count: int
) -> None:
    for number in range(count):
        (tmp_path / f"f{number}.py").write_text(f"def work_{number}():\n    return {number}\n")
    client = spawn(env=marked)
    client.initialize()

    def search(query: str) -> Any:
        return client.payload("context_search", {"query": query})

    until(lambda: "indexing" not in search("feed zebra"))
    found = search("feed zebra")
    assert found["results"][0]["symbol"] == "feed_zebra"
    assert found["warning"] == f"not indexed as code (bad.py: {CRASHED})"
    plain = search("ride camel")["results"][0]
    assert (plain["path"], plain.get("symbol")) == ("bad.py", None)
    drafted = {"action": "draft", "query": "feed zebra", "ttl_minutes": 5}
    assert client.payload("input", drafted)["payload"]["warning"] == found["warning"]
    assert client.error("read_file", {"path": "bad.py", "includeDeps": True})["details"] == CRASHED
    assert client.payload("read_file", {"path": "bad.py"})["file"]["lines"] == 3
    assert client.end()[0] == 0


FAST = {"CONTEXT_PACK_EMBEDDER": "fast", "CONTEXT_PACK_RATE_LIMITS": "off"}


def started(spawn: Spawn, **env: str) -> StdioClient:
    client = spawn(env={**FAST, **env})
    client.initialize()
    return client


@pytest.mark.clause("ME-10", "ME-03")
def test_a_killed_server_leaves_its_session_and_every_answered_discovery(
    spawn: Spawn, tmp_path: Path
) -> None:
    first = started(spawn)
    ids = [
        first.payload("context_record", {"type": "issue", "content": f"Thing number {number} breaks"})["id"]
        for number in range(5)
    ]
    first.process.send_signal(signal.SIGKILL)
    first.wait()
    second = started(spawn)
    found = second.payload("context_search", {"query": "thing number breaks", "limit": 20})["results"]
    assert {each["id"] for each in found if each["source"] == "discovery"} == set(ids)
    told = second.payload("context_search", {"query": "session not ended context_record", "limit": 20})
    (session,) = [each for each in told["results"] if each["source"] == "session"]
    assert "not ended" in session["content"]
    assert "context_record" in session["content"]
    assert {each["session"] for each in found if each["source"] == "discovery"} == {session["session"]}


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
