"""Commands that start a server use the fixtures of the server's own tests."""

from __future__ import annotations

from tests.server.conftest import client, command, mode, spawn

__all__ = ["client", "command", "mode", "spawn"]
