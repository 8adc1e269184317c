"""The pack store beside its floors: the first list, `ping` meanwhile, durable writes.

python benches/side_by_side/packs.py [--quick]
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from wire import OURS, QUICK, Bounds, Server, measured, medians, request, tool_call

from context_pack.kernel.paths import RelativePath
from context_pack.kernel.text import PACK_ID_BYTES, LineRange, pack_id
from context_pack.packs.model import Pack, Ref, Section, Status
from context_pack_adapters.packs import pack_format
from context_pack_adapters.packs.store import FilePackStore
from context_pack_adapters.system import SystemClock

CLOCK = SystemClock()
MANY = 1_000 if QUICK else 10_000


def sample(key: str) -> Pack:
    """A pack of ordinary size."""
    now = CLOCK.now()
    refs = [Ref(f"ref{n}", RelativePath(f"src/m{n}.py"), LineRange(1, 40), "A ref", "Why") for n in range(3)]
    return Pack(
        id=key, title="A pack", brief="What it is for", status=Status.DRAFT, tags=("a",),
        sections=(Section("flow", "The flow", "First this,\nthen that.", tuple(refs)),), revision=1,
        created_at=now, updated_at=now, expires_at=now + timedelta(days=1),
    )  # fmt: skip


def filled(root: Path, count: int) -> None:
    """Put packs there, without the store and without fsync."""
    (root / "packs").mkdir(parents=True)
    for _ in range(count):
        key = pack_id(random.randbytes(PACK_ID_BYTES))
        (root / "packs" / f"{key}.md").write_bytes(pack_format.encode(sample(key)))


def bare_write(folder: Path) -> Callable[[], None]:
    """The floor: a temporary file, fsync, rename, fsync of the folder."""
    data = pack_format.encode(sample("pk_aaaaaaaa"))

    def write() -> None:
        temporary = folder / f".{random.random()}"
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, folder / f"{random.random()}")
        descriptor = os.open(folder, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)

    return write


def lists(folder: Path, bounds: Bounds) -> None:
    """The first list of few packs and of many, and `ping` meanwhile."""
    for count, most in ((200, 0.25), (MANY, 10)):
        root = folder / str(count)
        filled(root, count)
        server = Server([*OURS, "serve", "--root", str(root)], folder)
        server.ask(request("tools/list"))  # loads the tools
        before = server.processor_ms()
        seconds, ping = server.longest_ping_while(tool_call("input", action="list"))
        used = (server.processor_ms() - before) / 1000
        bounds.show(f"first list of {count} packs, processor", used, "s", most=most)
        bounds.show(f"first list of {count} packs, clock", seconds, "s")
        bounds.show("longest ping meanwhile", ping * 1000, "ms")
        server.close()


def writes(folder: Path, bounds: Bounds) -> None:
    """A durable write beside a bare one."""
    (folder / "bare").mkdir()
    store = FilePackStore(folder, CLOCK, os.urandom)
    rounds = 20 if QUICK else 100
    ours, floor = medians(rounds, lambda: store.create(sample, None), bare_write(folder / "bare"))
    bounds.show("a durable write over a bare one", ours - floor, "ms", most=6)


if __name__ == "__main__":
    sys.exit(measured(lists, writes))
