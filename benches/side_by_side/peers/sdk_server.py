"""The peer: a one-tool server on the official Python SDK's low-level interface, the faster of its two."""

from __future__ import annotations

import asyncio
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "additionalProperties": False}


async def _list(_: Any, __: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[types.Tool(name="echo", description="Echo.", input_schema=SCHEMA)])


async def _call(_: Any, __: Any) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text="No context packs found.")])


async def main() -> None:
    """Serve stdin and stdout."""
    server: Server[Any] = Server("peer", on_list_tools=_list, on_call_tool=_call)
    async with stdio_server() as (reads, writes):
        await server.run(reads, writes, server.create_initialization_options())


asyncio.run(main())
