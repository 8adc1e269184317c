"""The server in this process: the real session over the real stores, without pipes and threads.

For what a client sees of a tool; what only a process can show (streams, signals, kills, two at once) is asked
of a `StdioClient`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stdio_client import HELLO, Asking, environment

from context_pack_adapters.bootstrap import Connection
from context_pack_adapters.logs import Log
from context_pack_adapters.settings import read_settings


class LocalClient(Asking):
    """A connection whose requests are served when they are made, one after the other."""

    def __init__(self, source_root: Path, name: str = "tests", **env: str) -> None:
        """Say hello under a name; settings come from these variables alone."""
        super().__init__()
        settings = read_settings(environment(**env), str(source_root))
        self._sent: list[dict[str, Any]] = []
        self._log = os.open(os.devnull, os.O_WRONLY)
        self._connection = Connection(settings, Log("off", self._log))
        self._session = self._connection.open(lambda body: self._sent.append(json.loads(body)))
        hello = {**HELLO, "clientInfo": {"name": name, "version": "1"}}
        self.greeting: dict[str, Any] = self.request("initialize", hello)["result"]

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Make a request, and return its whole reply."""
        message = self.next_request(method, params)
        for job in self._session.receive(json.dumps(message).encode()):
            job.run()
        (reply,) = [each for each in self._sent if each.get("id") == message["id"] and "method" not in each]
        self.notifications += [each for each in self._sent if each is not reply]
        self._sent.clear()
        return reply

    def close(self) -> None:
        """End the connection as a server does at its end."""
        self._session.finish()
        self._connection.close()
        os.close(self._log)
