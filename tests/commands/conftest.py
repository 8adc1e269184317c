"""Commands that start a server use the fixtures of the server's own tests."""

from __future__ import annotations

from tests.server.conftest import client, mode, spawn

__all__ = ["client", "mode", "spawn"]
