"""Spawned servers for the end-to-end tests; each suite that takes `mode` runs framed and unframed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from stdio_client import Mode, StdioClient

Spawn = Callable[..., StdioClient]


@pytest.fixture(params=["framed", "unframed"])
def mode(request: pytest.FixtureRequest) -> Mode:
    """The transport of the client."""
    chosen: Mode = request.param
    return chosen


@pytest.fixture
def command() -> Sequence[str] | None:
    """What starts a server: nothing forks it (`forking.py`), and tests of processes say what else does."""
    return None


@pytest.fixture
def spawn(tmp_path: Path, command: Sequence[str] | None) -> Iterator[Spawn]:
    """Start servers over the test's own folder; all of them are gone after the test."""
    clients: list[StdioClient] = []

    def start(mode: Mode = "unframed", **options: Any) -> StdioClient:
        options.setdefault("command", command)
        clients.append(StdioClient(options.pop("source_root", tmp_path), mode, **options))
        return clients[-1]

    yield start
    for client in clients:
        client.kill()


@pytest.fixture
def client(spawn: Spawn, mode: Mode) -> StdioClient:
    """An initialized server."""
    started = spawn(mode)
    started.initialize()
    return started
