"""The official Python client on a server process of its own, with time for both on a busy machine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp.client.stdio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from waiting import PATIENCE

# A server that takes longer to end would be killed, and one that is not reaped at once left behind.
mcp.client.stdio.PROCESS_TERMINATION_TIMEOUT = PATIENCE


@asynccontextmanager
async def connected(mode: str, server: StdioServerParameters, **options: Any) -> AsyncIterator[Client]:
    """A client of a fresh server process."""
    with anyio.fail_after(PATIENCE):
        async with Client(stdio_client(server), mode=mode, **options) as client:
            yield client
