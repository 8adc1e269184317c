"""A bare client for the end-to-end tests: a spawned server, bytes in both transports, no SDK in between."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from waiting import PATIENCE

__all__ = ["HELLO", "MAIN", "PATIENCE", "PRIVATE", "ROOT", "Asking", "Mode", "StdioClient", "environment"]

ROOT = Path(__file__).resolve().parents[2]
MAIN = (sys.executable, "-m", "context_pack")
Mode = Literal["framed", "unframed"]
PRIVATE = "CONTEXT_PACK_CACHE"
"""Says where a server keeps what is derived or private; every test has a folder for it."""

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "tests", "version": "1"},
}


def environment(**extra: str) -> dict[str, str]:
    """This checkout first on the path, the embedder that needs no weights, and the test's own private folder.

    Tests about weights name their embedder: to load them for every server would take minutes.
    """
    kept = {key: value for key, value in os.environ.items() if not key.startswith("CONTEXT_PACK_")}
    kept |= {key: os.environ[key] for key in (PRIVATE,) if key in os.environ}
    kept["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "adapters")])
    return {**kept, "CONTEXT_PACK_EMBEDDER": "fast", **extra}


class Asking:
    """What can be asked over any connection."""

    def __init__(self) -> None:
        self._next_id = 0
        self.notifications: list[dict[str, Any]] = []

    def next_request(self, method: str, params: Mapping[str, Any] | None) -> dict[str, Any]:
        """A request under a new id."""
        self._next_id += 1
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": self._next_id, "method": method}
        return message if params is None else {**message, "params": params}

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Make a request, and return its whole reply."""
        raise NotImplementedError

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The result of a tools/call."""
        params: dict[str, Any] = {"name": tool}
        if arguments is not None:
            params["arguments"] = arguments
        reply = self.request("tools/call", params)
        assert "result" in reply, reply
        result: dict[str, Any] = reply["result"]
        return result

    def payload(self, tool: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """The JSON in a successful call's text."""
        result = self.call(tool, arguments)
        assert not result.get("isError"), result
        return json.loads(result["content"][0]["text"])

    def error(self, tool: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """The JSON in a refused call's text."""
        result = self.call(tool, arguments)
        assert result.get("isError") is True, result
        return json.loads(result["content"][0]["text"])


class StdioClient(Asking):
    """One server process and both of its streams."""

    def __init__(
        self,
        source_root: Path,
        mode: Mode = "unframed",
        command: Sequence[str] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Start that command, or the server."""
        super().__init__()
        self.mode = mode
        self.process = subprocess.Popen(
            command or MAIN,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=source_root,
            env=environment(**dict(env or {})),
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.stdin, self.stdout, self.stderr = self.process.stdin, self.process.stdout, self.process.stderr
        self._buffer = b""

    def __enter__(self) -> StdioClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def encode(self, message: object) -> bytes:
        """A message in this client's transport."""
        body = json.dumps(message, ensure_ascii=False).encode()
        if self.mode == "framed":
            return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        return body + b"\n"

    def raw(self, data: bytes) -> None:
        """Write bytes as they are."""
        self.stdin.write(data)
        self.stdin.flush()

    def send(self, message: object) -> None:
        """Write one message."""
        self.raw(self.encode(message))

    def read(self, seconds: float = PATIENCE) -> Any:
        """The next whole message from the server, whatever it is.

        Raises:
            EOFError: the server has closed its output.
            TimeoutError: nothing whole came in time.
        """
        deadline = time.monotonic() + seconds
        while True:
            body = self._take()
            if body is not None:
                return json.loads(body)
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.stdout], [], [], left)[0]:
                raise TimeoutError(f"no whole message in {seconds} s; so far {self._buffer[:200]!r}")
            data = os.read(self.stdout.fileno(), 1 << 16)
            if not data:
                raise EOFError(f"the server closed its output; left over {self._buffer[:200]!r}")
            self._buffer += data

    def reply(self, request_id: object, seconds: float = PATIENCE) -> dict[str, Any]:
        """The reply with that id; notifications that come before it are kept."""
        while True:
            message = self.read(seconds)
            if isinstance(message, dict) and message.get("id") == request_id and "method" not in message:
                return message
            self.notifications.append(message)

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Send a request and wait for its whole reply."""
        message = self.next_request(method, params)
        self.send(message)
        return self.reply(message["id"])

    def initialize(self) -> dict[str, Any]:
        """The handshake; returns the result."""
        result: dict[str, Any] = self.request("initialize", HELLO)["result"]
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return result

    def close_input(self) -> None:
        """End of input."""
        self.stdin.close()

    def wait(self, seconds: float = PATIENCE) -> int:
        """The exit code, once the process has ended."""
        return self.process.wait(seconds)

    def end(self) -> tuple[int, str]:
        """Close the input, wait, and return the exit code and what was said on stderr."""
        if not self.stdin.closed:
            self.stdin.close()
        code = self.wait()
        return code, self.stderr.read().decode()

    def kill(self) -> None:
        """Make sure that nothing is left behind."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        for stream in (self.stdin, self.stdout, self.stderr):
            try:
                stream.close()
            except BrokenPipeError:
                continue

    def _take(self) -> bytes | None:
        """Cut one whole message off the buffer; anything but protocol is an error."""
        if self.mode == "unframed":
            head, found, rest = self._buffer.partition(b"\n")
            if not found:
                return None
            self._buffer = rest
            return head
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return None
        name, _, length = head.partition(b": ")
        assert name == b"Content-Length", head
        size = int(length)
        if len(rest) < size:
            return None
        self._buffer = rest[size:]
        return rest[:size]
