"""The official Python client, in each of its modes, against the fixture server: spawned, over real pipes.

The client models every message strictly, so a field that is missing, misnamed or of the wrong type fails
here.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from official_client import connected

FIXTURE = Path(__file__).with_name("fixture_server.py")
SERVER = StdioServerParameters(command=sys.executable, args=[str(FIXTURE)])
MODES = ["legacy", "auto", "2026-07-28"]

Scene = Callable[[Client], Awaitable[None]]


def play(mode: str, scene: Scene, **options: Any) -> None:
    """Run a scene on a connection of its own."""

    async def run() -> None:
        async with connected(mode, SERVER, **options) as client:
            await scene(client)

    asyncio.run(run())


@pytest.mark.clause("MCP-60")
@pytest.mark.parametrize("mode", MODES)
def test_progress_arrives_before_the_result(mode: str) -> None:
    async def scene(client: Client) -> None:
        seen: list[tuple[float, float | None]] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            seen.append((progress, total))

        await client.call_tool("test_tool_with_progress", {}, progress_callback=note)
        assert seen == [(0, 100), (50, 100), (100, 100)]

    play(mode, scene)


@pytest.mark.clause("MCP-82")
@pytest.mark.parametrize("mode", ["auto", "2026-07-28"])
def test_a_modern_client_opens_and_leaves_a_listen_stream(mode: str) -> None:
    async def scene(client: Client) -> None:
        for _ in range(2):
            async with client.listen(
                resources_list_changed=True,
                tools_list_changed=True,
                resource_subscriptions=["test://watched-resource"],
            ) as stream:
                assert stream.honored.resources_list_changed is True
                assert stream.honored.tools_list_changed is None
                assert stream.honored.resource_subscriptions == ["test://watched-resource"]
        assert (await client.list_tools()).tools

    play(mode, scene)


@pytest.mark.clause("MCP-30", "MCP-31")
@pytest.mark.parametrize("mode", MODES)
def test_a_client_can_go_on_after_a_timed_out_call(mode: str) -> None:
    async def scene(client: Client) -> None:
        for _ in range(3):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.02):
                    await client.call_tool("test_tool_with_progress", {})
        result = await client.call_tool("test_simple_text", {})
        assert not result.is_error

    play(mode, scene)
