"""The environment of a reader, and the tools as a real server lists them."""

from __future__ import annotations

import os
from typing import Any

import pytest
from stdio_client import StdioClient


@pytest.fixture(scope="session")
def clean_env() -> dict[str, str]:
    """The environment without anything that decides where Python finds the project."""
    dropped = ("PYTHONPATH", "PYTHONHOME", "PYTHONSAFEPATH")
    return {name: value for name, value in os.environ.items() if name not in dropped}


@pytest.fixture(scope="session")
def listed_tools(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Every tool as the real server lists it."""
    with StdioClient(tmp_path_factory.mktemp("listed")) as client:
        client.initialize()
        result = client.request("tools/list")["result"]
    assert "nextCursor" not in result
    tools: list[dict[str, Any]] = result["tools"]
    return tools
