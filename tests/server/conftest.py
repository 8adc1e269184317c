"""Spawned servers; a test that takes `mode` runs framed and unframed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
def spawn(tmp_path: Path) -> Iterator[Spawn]:
    """Start servers over the test's own folder; all of them are gone after the test."""
    clients: list[StdioClient] = []

    def start(mode: Mode = "unframed", **options: Any) -> StdioClient:
        clients.append(StdioClient(options.pop("source_root", tmp_path), mode, **options))
        return clients[-1]

    yield start
    for client in clients:
        client.kill()


@pytest.fixture
def client(spawn: Spawn) -> StdioClient:
    """An initialized server."""
    started = spawn()
    started.initialize()
    return started
