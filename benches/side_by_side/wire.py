"""What the benches share: a bare stdio client, clocks, and a source tree that is always the same.

Every bench alternates between what it compares, so that a busy moment hits both, and prints ratios beside the
bound that an issue set. With `--quick` it only shows that it runs.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
QUICK = "--quick" in sys.argv[1:]
OURS = [sys.executable, "-m", "context_pack"]
PEER = [sys.executable, str(Path(__file__).resolve().parent / "peers" / "sdk_server.py")]
ENV = {
    **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
    "PYTHONPYCACHEPREFIX": os.path.join(tempfile.gettempdir(), "context-pack-bytecode"),  # as once installed
    "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "adapters")]),
    "CONTEXT_PACK_LOG": "off",
    "CONTEXT_PACK_RATE_LIMITS": "off",
    "CONTEXT_PACK_EMBEDDER": "fast",
}
NEEDLE, COMMON = "quarterlyReconciliation", "return"
"""Words of the tree: one in three files, one in most."""
sys.path[:0] = [str(ROOT), str(ROOT / "adapters")]


def request(method: str, number: int = 1, **params: Any) -> bytes:
    """One request as a line."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


def tool_call(tool: str, number: int = 1, **arguments: Any) -> bytes:
    """A call of a tool as a line."""
    return request("tools/call", number, name=tool, arguments=arguments)


@cache
def private_folder() -> tempfile.TemporaryDirectory[str]:
    """Where our servers keep what is derived or private: not with the user who measures."""
    return tempfile.TemporaryDirectory()


class Server:
    """A spawned stdio server that has been initialized; `started` is spawn to answer, in seconds."""

    def __init__(self, command: Sequence[str], cwd: Path, env: Mapping[str, str] = ENV) -> None:
        start = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=cwd,
            env={**env, "CONTEXT_PACK_CACHE": private_folder().name},
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        client = {"name": "bench", "version": "1"}
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        self.ask(request("initialize", 0, **hello))
        self.started = time.perf_counter() - start
        self.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        self.stdin.flush()

    def ask(self, asked: bytes) -> bytes:
        """One request, one reply; notifications are passed over."""
        self.stdin.write(asked)
        self.stdin.flush()
        while b'"id"' not in (reply := self.stdout.readline()) and reply:
            pass
        return reply

    def result(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a tool answers."""
        answer = json.loads(self.ask(tool_call(tool, **arguments)))
        if "error" in answer or answer["result"].get("isError"):
            raise SystemExit(f"{tool} failed: {str(answer)[:300]}")
        result: dict[str, Any] = answer["result"]
        return result

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

    def longest_ping_while(self, asked: bytes) -> tuple[float, float]:
        """How long a call takes, and the longest wait for `ping` meanwhile, in seconds."""
        start, longest, number = time.perf_counter(), 0.0, 100
        self.stdin.write(asked)
        while True:
            number += 1
            self.stdin.write(request("ping", number))
            self.stdin.flush()
            sent, done = time.perf_counter(), False
            while (reply := json.loads(self.stdout.readline())).get("id") != number:
                done = done or reply.get("id") == 1
            longest = max(longest, time.perf_counter() - sent)
            if done:
                return time.perf_counter() - start, longest
            time.sleep(0.005)

    def resident_mb(self) -> float:
        """Resident memory in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def processor_ms(self) -> float:
        """The processor time of all its threads so far (the clock of that process, as Linux numbers it)."""
        return time.clock_gettime((~self.process.pid << 3) | 2) * 1000

    def close(self) -> None:
        """End it by end of input."""
        self.stdin.close()
        self.process.wait(10)
        self.stdout.close()


def took(act: Callable[[], object]) -> float:
    """How long one action takes, in milliseconds."""
    start = time.perf_counter()
    act()
    return (time.perf_counter() - start) * 1000


def medians(rounds: int, *acts: Callable[[], object]) -> list[float]:
    """The median time of each action in milliseconds, the actions taking turns."""
    times = [[took(act) for act in acts] for _ in range(rounds)]
    return [statistics.median(each) for each in zip(*times, strict=True)]


class Bounds:
    """Prints each figure beside its bound, and knows at the end whether all were kept."""

    def __init__(self) -> None:
        self._missed: list[str] = []

    def show(self, label: str, value: float, unit: str, *, most: float = 0, least: float = 0) -> None:
        """One line; `most` or `least` is the bound."""
        bound = f"at most {most:g}" if most else f"at least {least:g}" if least else "beside"
        missed = (most and value > most) or (least and value < least)
        print(f"  {label:56}{value:10.2f} {unit:6}({bound}){'  MISSED' if missed else ''}", flush=True)
        if missed:
            self._missed.append(label)

    def code(self) -> int:
        """The exit code: a quick look judges nothing."""
        return 1 if self._missed and not QUICK else 0


def measured(*measures: Callable[[Path, Bounds], None]) -> int:
    """Do each in a folder of its own; the exit code."""
    bounds = Bounds()
    for measure in measures:
        with tempfile.TemporaryDirectory() as name:
            measure(Path(name), bounds)
    return bounds.code()


def plant(root: Path, files: int, seed: int = 7) -> None:
    """Make a tree of sources whose words follow a steep curve, as identifiers do; some of it is ignored."""
    chance = random.Random(seed)
    syllables = "ba con der el fi gra ho in jun ka lo mi nor pre qui val"
    words = ["self", "import", COMMON, "value", "if", "for", "def", "class", "error"]
    words += ["".join(chance.choices(syllables.split(), k=chance.randint(2, 5))) for _ in range(4_000)]
    weights = list(accumulate(1 / (rank + 3) for rank in range(len(words))))
    rare = set(chance.sample(range(files), 3))
    for number in range(files):
        count = max(5, int(chance.lognormvariate(4.55, 1.0)))
        shapes = (
            "def {}_{}({}, {}):",
            "    # TODO {} {} the {} of {}, größe",
            "    return {}.{}({}, {})",
            "    {} = {}({}, {})",
        )
        picked = chance.choices(words, cum_weights=weights, k=count * 4)
        lines = [chance.choice(shapes).format(*picked[at : at + 4]) for at in range(0, len(picked), 4)]
        if number in rare:
            lines.insert(len(lines) // 2, f"    value = {NEEDLE}(ledger, period)")
        suffix = chance.choice((".py", ".py", ".ts", ".go", ".java", ".md"))
        file = root / f"part{number % (files // 10 + 4)}" / f"{chance.choice(words)}_{number}{suffix}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines) + "\n", "utf-8")
    (root / ".gitignore").write_text("*.log\nout/\n")
    (root / "out").mkdir()
    (root / "out" / "made.js").write_text(f"return {NEEDLE};\n" * 40)
    (root / "picture.png").write_bytes(b"\x89PNG\r\n\0" + chance.randbytes(20_000))
