"""Files that crash, hang or confuse a grammar, in real processes: `index`, `context_search`, drafts."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import crashing_grammar
import pytest
from crashing_grammar import CRASH
from stdio_client import ROOT, StdioClient
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
