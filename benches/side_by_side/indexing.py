"""Indexing 8 000 Markdown files (70 MB) with the fast tier: how quick, in how much memory, how cheap again.

  python benches/side_by_side/indexing.py [--quick]

`context-pack docs sync` indexes a generated folder in a process of its own; its chunks per second and its
peak memory are printed, then how long a second sync takes with nothing changed, in a process that is warm,
beside a bare walk with `os.scandir` and `stat` over the same folder, in turn. Judged: at least 1 000 chunks a
second, less than 400 MB, and at most three times the walk.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters")]

FILES, FILE_BYTES = 8_000, 8_750
QUICK_FILES = 300
ROUNDS = 7
MOST_MEGABYTES, FEWEST_CHUNKS, MOST_WALKS = 400, 1_000, 3.0
WORDS = 30_000
_SYLLABLES = ("ba", "con", "der", "el", "fi", "gra", "ho", "in", "jun", "ka", "lo", "mer", "nis", "or", "pre")


def vocabulary(chance: random.Random) -> list[str]:
    """Words as long as words are; a tenth of them look like identifiers."""
    made: dict[str, None] = {}
    while len(made) < WORDS:
        parts = ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 3))) for _ in range(2)]
        shape = chance.random()
        if shape < 0.05:
            made["_".join(parts)] = None
        elif shape < 0.1:
            made["".join(map(str.title, parts))] = None
        else:
            made[parts[0] + parts[1][:2]] = None
    return list(made)


def markdown(words: Callable[[int], list[str]], size: int, chance: random.Random) -> str:
    """A document: headings, paragraphs, lists, a fence now and then."""
    lines = [f"# {' '.join(words(4)).title()}", ""]
    length = 0
    while length < size:
        kind = chance.random()
        if kind < 0.15:
            block = ["", f"{'#' * chance.choice([2, 2, 3])} {' '.join(words(3))}", ""]
        elif kind < 0.25:
            block = ["```python", *(f"{word} = {word}({at})" for at, word in enumerate(words(6))), "```", ""]
        elif kind < 0.4:
            block = [*(f"- {' '.join(words(8))}" for _ in range(4)), ""]
        else:
            block = [*(" ".join(words(14)) for _ in range(5)), ""]
        lines += block
        length += sum(map(len, block)) + len(block)
    return "\n".join(lines) + "\n"


def documents(count: int, size: int = FILE_BYTES, seed: int = 1) -> Iterator[str]:
    """Documents whose words follow the frequencies of a language, always the same."""
    chance = random.Random(seed)
    known = vocabulary(chance)
    weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(known))))
    for _ in range(count):
        yield markdown(lambda some: chance.choices(known, cum_weights=weights, k=some), size, chance)


def make_tree(folder: Path, count: int) -> int:
    """Write the files, a hundred to a folder; how many bytes there are."""
    total = 0
    for number, text in enumerate(documents(count)):
        place = folder / f"part{number // 100:02}"
        place.mkdir(parents=True, exist_ok=True)
        total += (place / f"doc{number:05}.md").write_bytes(text.encode())
    return total


def bare_walk(folder: str) -> int:
    """The floor of a look for changes: every name listed, every file's state asked for."""
    count = 0
    waiting = [folder]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    os.stat(entry.path)
                    count += 1
    return count


def environment(project: Path) -> dict[str, str]:
    """Where the bench's processes find us and the project."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "adapters")]),
        "CONTEXT_PACK_SOURCE_ROOT": str(project),
        "CONTEXT_PACK_EMBEDDER": "fast",
        "CONTEXT_PACK_CACHE": str(project / "private"),
    }


def sync(project: Path) -> float:
    """Run `docs sync` to its end; how many seconds it took."""
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "context_pack", "docs", "sync", "--json"],
        env=environment(project),
        cwd=project,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - started


def warm_sync(project: Path) -> Callable[[], object]:
    """A sync in this process, which is asked again and again."""
    from context_pack.composition import compose
    from context_pack_adapters.bootstrap import open_ports
    from context_pack_adapters.settings import read_settings

    shelf = compose(open_ports(read_settings(environment(project), str(project)))).documents.shelf
    (collection,) = shelf.chosen(())
    return lambda: shelf.syncing.sync(collection, fetch=False)


def count_chunks(project: Path) -> int:
    """How many chunks the index holds."""
    import sqlite3

    (index,) = project.rglob("documents.sqlite3")
    connection = sqlite3.connect(index)
    (count,) = connection.execute("SELECT COUNT(*) FROM pieces").fetchone()
    connection.close()
    return int(count)


def main(quick: bool) -> int:
    """Measure and print; 1 if a bound is missed and this is no quick look."""
    with tempfile.TemporaryDirectory() as name:
        project = Path(name)
        size = make_tree(project / "docs", QUICK_FILES if quick else FILES)
        (project / "context.json").write_text(json.dumps({"collections": {"docs": {"url": "./docs"}}}))
        seconds = sync(project)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        memory, processor = used.ru_maxrss / 1024, used.ru_utime + used.ru_stime
        chunks = count_chunks(project)
        again = warm_sync(project)
        walks: list[float] = []
        syncs: list[float] = []
        for _ in range(ROUNDS):
            for times, work in ((walks, lambda: bare_walk(str(project / "docs"))), (syncs, again)):
                started = time.perf_counter()
                work()
                times.append(time.perf_counter() - started)
    rate, walk, idle = chunks / seconds, statistics.median(walks), statistics.median(syncs)
    print(
        f"{size / 1e6:.0f} MB, {chunks} chunks: {rate:.0f} chunks/s in {seconds:.1f} s, peak {memory:.0f} MB"
    )
    print(f"{processor:.1f} s of processor time in all: {chunks / processor:.0f} chunks per second of it")
    print(f"no change: sync {idle * 1e3:.1f} ms, bare walk {walk * 1e3:.1f} ms: {idle / walk:.2f} times")
    good = rate >= FEWEST_CHUNKS and memory < MOST_MEGABYTES and idle <= MOST_WALKS * walk
    return 0 if good or quick else 1


if __name__ == "__main__":
    sys.exit(main("--quick" in sys.argv[1:]))
