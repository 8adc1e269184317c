"""What the pack store costs beside its floors, as ratios from one run.

python benches/side_by_side/pack_store_floors.py [--quick]

Get and mutate by id in a store of 10 000 packs (2 000 with --quick) beside one of 100; the first list beside
reading every pack whole, in processor time; a repeated list beside the first; the longest wait for `ping`
while a server makes its first list; create beside a bare write + fsync + rename + fsync of the folder.
Rounds alternate, so that a noisy moment hits both sides; medians are compared.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters")]

import attrs  # noqa: E402

from context_pack.kernel.ids import PACK_ID_BYTES, pack_id  # noqa: E402
from context_pack.kernel.lines import LineRange  # noqa: E402
from context_pack.kernel.paths import RelativePath  # noqa: E402
from context_pack.packs.domain.model import Pack, Ref, Section, Status  # noqa: E402
from context_pack_adapters.stores import pack_format  # noqa: E402
from context_pack_adapters.stores.pack_store import FilePackStore  # noqa: E402
from context_pack_adapters.system import SystemClock, SystemIds  # noqa: E402

CLOCK, IDS = SystemClock(), SystemIds()
REFS = tuple(
    Ref(f"ref{n}", RelativePath(f"src/mod{n}.py"), LineRange(1, 40), "A ref", "Because") for n in range(3)
)


def sample(key: str, name: str | None = None) -> Pack:
    """A pack of ordinary size."""
    now = CLOCK.now()
    section = Section("flow", "The flow", "First this,\nthen that.", REFS)
    return Pack(
        id=key, name=name, title="A pack", brief="What it is for", status=Status.DRAFT, tags=("a", "b"),
        sections=(section,), revision=1, created_at=now, updated_at=now, expires_at=now + timedelta(days=1),
    )  # fmt: skip


def filled(root: Path, count: int) -> list[str]:
    """Put packs there, without the store and without fsync."""
    (root / "packs").mkdir(parents=True)
    ids = [pack_id(random.randbytes(PACK_ID_BYTES)) for _ in range(count)]
    for number, key in enumerate(ids):
        (root / "packs" / f"{key}.md").write_bytes(pack_format.encode(sample(key, f"pack {number}")))
    return ids


def took(act: Callable[[], object]) -> float:
    """How long one action takes, in milliseconds."""
    start = time.perf_counter()
    act()
    return (time.perf_counter() - start) * 1000


def computed(act: Callable[[], object]) -> float:
    """How much processor time one action takes, in milliseconds."""
    start = time.process_time()
    act()
    return (time.process_time() - start) * 1000


def longest_ping(root: Path) -> float:
    """The longest wait for an answer to `ping` while a server makes its first list, in milliseconds."""
    command = [sys.executable, "-m", "context_pack", "serve", "--root", str(root)]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)
    assert server.stdin is not None
    assert server.stdout is not None

    def send(number: int, method: str, params: object) -> None:
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        server.stdin.write(json.dumps(message).encode() + b"\n")  # type: ignore[union-attr]
        server.stdin.flush()  # type: ignore[union-attr]

    def answered() -> int:
        return int(json.loads(server.stdout.readline()).get("id", 0))  # type: ignore[union-attr]

    client = {"name": "bench", "version": "1"}
    send(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
    answered()
    send(2, "tools/call", {"name": "input", "arguments": {"action": "list"}})
    longest, number, done = 0.0, 2, False
    while not done:
        number += 1
        send(number, "ping", {})
        start = time.perf_counter()
        while (came := answered()) != number:
            done = done or came == 2
        longest = max(longest, time.perf_counter() - start)
        time.sleep(0.005)
    server.communicate(timeout=60)
    return longest * 1000


def medians(rounds: int, *acts: Callable[[], object]) -> list[float]:
    """The median time of each action, the actions taking turns."""
    times: list[list[float]] = [[] for _ in acts]
    for _ in range(rounds):
        for act, samples in zip(acts, times, strict=True):
            samples.append(took(act))
    return [statistics.median(samples) for samples in times]


def bare_write(folder: Path) -> Callable[[], None]:
    """The floor: a temporary file, fsync, rename, fsync of the folder."""
    data = pack_format.encode(sample("pk_aaaaaaaa"))

    def write() -> None:
        temporary, final = folder / f".{random.random()}", folder / f"{random.random()}"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        os.write(descriptor, data)
        os.fsync(descriptor)
        os.close(descriptor)
        os.rename(temporary, final)
        descriptor = os.open(folder, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)

    return write


def mutation(store: FilePackStore, ids: list[str]) -> Callable[[], object]:
    """A mutation of a random pack."""
    return lambda: store.update(
        random.choice(ids), lambda pack: attrs.evolve(pack, revision=pack.revision + 1)
    )


def creation(store: FilePackStore, *, named: bool) -> Callable[[], object]:
    """A creation, with a fresh name or without one."""

    def create() -> None:
        name = f"fresh {random.random()}" if named else None
        store.create(lambda key: sample(key, name), name)

    return create


def shown(label: str, left: float, right: float, bound: str) -> None:
    """One line: two times and their ratio."""
    print(f"  {label:44}{left:10.3f} ms {right:10.3f} ms   ratio {left / right:8.2f}   ({bound})")


def measure(folder: Path, many: int, rounds: int) -> None:
    """Fill, measure, print."""
    few_ids, many_ids = filled(folder / "few", 100), filled(folder / "many", many)
    few, much = (FilePackStore(folder / name, CLOCK, IDS) for name in ("few", "many"))
    print(f"pack store, {many} packs beside 100, medians of {rounds} alternating rounds on {folder}")
    cold_many, cold_few = medians(
        rounds,
        lambda: FilePackStore(folder / "many", CLOCK, IDS).get(random.choice(many_ids)),
        lambda: FilePackStore(folder / "few", CLOCK, IDS).get(random.choice(few_ids)),
    )
    shown("get by id, first time", cold_many, cold_few, "at most 1.3")
    time.sleep(0.2)  # older than the timestamp grain, as files at rest are
    whole = computed(FilePackStore(folder / "many", CLOCK, IDS).all)
    summed = computed(FilePackStore(folder / "many", CLOCK, IDS).summaries)
    shown(f"list of {many}, first beside every pack whole", summed, whole, "at most 0.1")
    print(f"  {'longest ping meanwhile':44}{longest_ping(folder / 'many'):10.3f} ms   (at most 50)")
    first = took(much.summaries)
    for store in (few, much):
        store.all()
    (again,) = medians(10, much.summaries)
    get_many, get_few = medians(
        rounds * 10, lambda: much.get(random.choice(many_ids)), lambda: few.get(random.choice(few_ids))
    )
    shown("get by id, known pack", get_many, get_few, "at most 1.3")
    write_many, write_few = medians(rounds, mutation(much, many_ids), mutation(few, few_ids))
    shown("mutate by id", write_many, write_few, "at most 1.3")
    shown(f"list of {many}, first beside repeated", first, again, "at least 20")
    (folder / "bare").mkdir()
    floor = bare_write(folder / "bare")
    plain, named, bare = medians(rounds, creation(few, named=False), creation(few, named=True), floor)
    shown("create without a name beside bare write", plain, bare, "at most 3")
    shown("create with a name beside bare write", named, bare, "at most 3")
    much.summaries()
    plain, named, bare = medians(rounds, creation(much, named=False), creation(much, named=True), floor)
    shown(f"create without a name among {many}", plain, bare, "at most 3")
    shown(f"create with a name among {many}", named, bare, "at most 3")


def main() -> None:
    """Measure in a folder of its own, on the disk that TMPDIR names."""
    quick = "--quick" in sys.argv
    folder = Path(tempfile.mkdtemp(prefix="pack-store-"))
    try:
        measure(folder, 2_000 if quick else 10_000, 40 if quick else 150)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
