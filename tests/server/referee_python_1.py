"""Plays a plan on the official Python SDK 1.x and prints what the client made of every answer.

Run by a test as a process of its own, with the old SDK first on its path: `referee_python_1.py PLAN.json`.
Everything of the SDK is `Any` here, because the type checker sees the newer SDK.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any


def functions(session: Any, types: Any) -> dict[str, Callable[[dict[str, Any]], Awaitable[Any]]]:
    """The SDK's function of each method."""
    refs = {"ref/prompt": types.PromptReference, "ref/resource": types.ResourceTemplateReference}
    return {
        "ping": lambda _: session.send_ping(),
        "tools/list": lambda _: session.list_tools(),
        "tools/call": lambda given: session.call_tool(given["name"], given.get("arguments")),
        "resources/list": lambda _: session.list_resources(),
        "resources/templates/list": lambda _: session.list_resource_templates(),
        "resources/read": lambda given: session.read_resource(given["uri"]),
        "prompts/list": lambda _: session.list_prompts(),
        "prompts/get": lambda given: session.get_prompt(given["name"], given.get("arguments")),
        "completion/complete": lambda given: session.complete(
            refs[given["ref"]["type"]](**given["ref"]), given["argument"]
        ),
    }


async def play(plan: dict[str, Any]) -> dict[str, Any]:
    """Every step's result, or its error, in wire form."""
    mcp, stdio = importlib.import_module("mcp"), importlib.import_module("mcp.client.stdio")
    refused: type[Exception] = mcp.McpError
    server = mcp.StdioServerParameters(**plan["server"])
    said: dict[str, Any] = {}
    async with stdio.stdio_client(server) as streams, mcp.ClientSession(*streams) as session:
        hello = (await session.initialize()).model_dump(mode="json", by_alias=True)
        said["hello"] = {"server": hello["serverInfo"], "version": hello["protocolVersion"]}
        said["instructions"] = hello["instructions"]
        table = functions(session, mcp.types)
        for key, method, params in plan["steps"]:
            try:
                result = await table[method](params)
                said[key] = result.model_dump(mode="json", by_alias=True, exclude_none=True)
            except refused as caught:
                said[key] = {"error": {"code": caught.error.code, "message": caught.error.message}}  # type: ignore[attr-defined]
    return said


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(play(json.loads(Path(sys.argv[1]).read_text("utf-8"))))))
