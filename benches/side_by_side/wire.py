"""A bare stdio client for the benches: spawns a server, writes lines, counts reply lines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
OURS = [sys.executable, "-m", "context_pack"]
PEER = [sys.executable, str(HERE / "peers" / "sdk_server.py")]

HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}


def line(message: Mapping[str, Any]) -> bytes:
    """One message as a line."""
    return json.dumps(message).encode() + b"\n"


@cache
def private_folder() -> tempfile.TemporaryDirectory[str]:
    """Where our servers keep what is derived or private: not with the user who measures."""
    return tempfile.TemporaryDirectory()


class Server:
    """A spawned stdio server that has been initialized; `started` is spawn to answer, in seconds."""

    def __init__(self, command: Sequence[str], cwd: Path, env: Mapping[str, str] | None = None) -> None:
        start = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=cwd,
            env={**(env or os.environ), "CONTEXT_PACK_CACHE": private_folder().name},
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        self.first = json.loads(self.ask(line(HELLO)))
        self.started = time.perf_counter() - start
        self.stdin.write(line({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        self.stdin.flush()

    def ask(self, request: bytes) -> bytes:
        """One request, one reply."""
        self.stdin.write(request)
        self.stdin.flush()
        return self.stdout.readline()

    def pipelined(self, requests: Sequence[bytes]) -> float:
        """Write everything at once, read every reply; calls per second."""
        start = time.perf_counter()
        writer = threading.Thread(target=lambda: (self.stdin.write(b"".join(requests)), self.stdin.flush()))
        writer.start()
        for _ in requests:
            reply = self.stdout.readline()
            if b'"error"' in reply or not reply:
                raise SystemExit(f"a call failed: {reply[:200]!r}")
        writer.join()
        return len(requests) / (time.perf_counter() - start)

    def resident_mb(self) -> float:
        """Resident memory in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def processor_seconds(self) -> float:
        """The processor time it has used so far."""
        used = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, used)) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End it by end of input."""
        self.stdin.close()
        self.process.wait(10)
        self.stdout.close()
