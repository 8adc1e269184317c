"""What embedding costs, as ratios from one run: each embedder beside the least work it could do.

  python benches/side_by_side/embedding.py [--quick]
  python benches/side_by_side/embedding.py --base FOLDER --repository FOLDER [--rounds N]

Chunks of 400 words from this repository's own documents and code. Hashed vectors stand beside cutting the
same texts into tokens. The semantic model stands beside the bare matrix products of the same shapes, its
loading beside reading its file and taking the SHA-256. numpy has one thread, as in our own processes.

With `--base` (an older copy of this checkout) a whole repository is embedded by both, in alternating rounds:
what `index` takes with the semantic embedder beyond what it takes with the fast one, in processor time and by
the clock, each beside the other and beside the bare matrix products of the texts that are embedded today.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import hashlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters")]

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from context_pack.retrieval.model import Scope  # noqa: E402
from context_pack.retrieval.words import tokens  # noqa: E402
from context_pack_adapters.bootstrap import open_ports  # noqa: E402
from context_pack_adapters.embed import HashedEmbedder, granite  # noqa: E402
from context_pack_adapters.embed.granite import LONGEST, GraniteEmbedder, batches  # noqa: E402
from context_pack_adapters.settings import read_settings  # noqa: E402

WORDS = 400
QUERY = "how do I stop two programs from writing the same file at once"
HIDDEN, INNER, LAYERS, HEADS = 384, 1536, 6, 12
SUFFIXES = (".md", ".py", ".txt")


def chunks(count: int) -> list[str]:
    """That many chunks of our own files, again from the start when they run out."""
    paths = sorted(path for path in ROOT.rglob("*") if path.suffix in SUFFIXES and ".git" not in path.parts)
    words = " ".join(path.read_text("utf-8", "replace") for path in paths[:400]).split(" ")
    made = [" ".join(words[start : start + WORDS]) for start in range(0, len(words) - WORDS, WORDS)]
    return [made[number % len(made)] for number in range(count)]


def took(act: Callable[[], object]) -> float:
    """How long one action takes, in seconds."""
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def median(act: Callable[[], object], rounds: int) -> float:
    """The median time of several rounds."""
    return statistics.median(took(act) for _ in range(rounds))


def shown(label: str, ours: float, floor: float, count: int = 1) -> None:
    """One line: ours, the floor, and their ratio."""
    print(
        f"  {label:34}{ours / count * 1000:10.3f} ms{count / ours:11.1f} /s"
        f"   floor {floor / count * 1000:10.3f} ms   ratio {ours / floor:6.2f}"
    )


def hashed(count: int, rounds: int) -> None:
    """The fast embedder beside the tokens alone."""
    texts = chunks(count)
    print(f"hashed vectors, {count} chunks of {WORDS} words, medians of {rounds} rounds")
    for text in texts:
        tokens(text)  # its own memory of words is warm for both
    cold = median(lambda: HashedEmbedder().embed(texts, "document"), rounds)
    embedder = HashedEmbedder()
    embedder.embed(texts, "document")
    warm = median(lambda: embedder.embed(texts, "document"), rounds)
    floor = median(lambda: [tokens(text) for text in texts], rounds)
    shown("all tokens new", cold, floor, count)
    shown("all tokens known", warm, floor, count)
    query = median(lambda: embedder.embed([QUERY], "query"), 50)
    shown("one query", query, median(lambda: tokens(QUERY), 50))


def products(lengths: Sequence[int]) -> Callable[[], None]:
    """The bare matrix products for texts of these lengths in the encoder's own batches."""
    random = np.random.default_rng(0)

    def some(*shape: int) -> NDArray[np.float32]:
        return random.standard_normal(shape, dtype=np.float32)

    shapes = [(HIDDEN, 3 * HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, INNER), (INNER, HIDDEN)]
    weights = [some(*shape) for shape in shapes]
    sizes = [[lengths[index] for index in batch] for batch in batches(lengths)]
    rows = max(sum(size) for size in sizes)
    narrow, wide = some(rows, HIDDEN), some(rows, INNER)
    head = some(HEADS, max(lengths), HIDDEN // HEADS)

    def run() -> None:
        for size in sizes:
            total = sum(size)
            for _ in range(LAYERS - 1):  # the last one computes little: only its first token counts
                for weight in weights:
                    (wide if len(weight) == INNER else narrow)[:total] @ weight
                for length in size:
                    part = head[:, :length]
                    part @ part.transpose(0, 2, 1) @ part

    return run


def semantic(count: int, rounds: int) -> None:
    """The semantic embedder beside the products alone."""
    path = granite.find()
    print(f"{GraniteEmbedder.id}, {count} chunks of {WORDS} words, medians of {rounds} rounds")
    load = median(lambda: GraniteEmbedder().model(), rounds)
    shown("loading", load, median(lambda: hashlib.sha256(Path(path).read_bytes()).digest(), rounds))
    embedder = GraniteEmbedder()
    tokenizer, _ = embedder.model()
    texts = chunks(count)
    lengths = [len(tokenizer.ids(text, LONGEST)) for text in texts]
    ours = median(lambda: embedder.embed(texts, "document"), rounds)
    shown("chunks", ours, median(products(lengths), rounds), count)
    query = median(lambda: embedder.embed([QUERY], "query"), 10 * rounds)
    shown("one query", query, median(products([len(tokenizer.ids(QUERY, LONGEST))]), 10 * rounds))


class Seconds(NamedTuple):
    """What something took: of the processor, and by the clock."""

    processor: float
    clock: float


def indexing(tree: Path, repository: Path, embedder: str, cache: str) -> Seconds:
    """What `index` of that checkout takes for a repository, from nothing."""
    environ = os.environ | {
        "PYTHONPATH": f"{tree}{os.pathsep}{tree / 'adapters'}",
        "CONTEXT_PACK_EMBEDDER": embedder,
        "CONTEXT_PACK_CACHE": cache,
        "CONTEXT_PACK_ROOT": os.path.join(cache, "root"),
        "CONTEXT_PACK_SOURCE_ROOT": str(repository),
    }
    before, begun = os.times(), time.perf_counter()
    subprocess.run(
        [sys.executable, "-P", "-m", "context_pack", "index"], env=environ, check=True, capture_output=True
    )
    after = os.times()
    processor = sum(after[2:4]) - sum(before[2:4])
    return Seconds(processor, time.perf_counter() - begun)


def embedding(tree: Path, repository: Path) -> Seconds:
    """What embedding a repository takes beyond indexing it."""
    spent = []
    for embedder in ("semantic", "fast"):
        with tempfile.TemporaryDirectory() as cache:
            spent.append(indexing(tree, repository, embedder, cache))
    semantic, fast = spent
    return Seconds(semantic.processor - fast.processor, semantic.clock - fast.clock)


def lengths_of(repository: Path) -> list[int]:
    """How many tokens each text has that is embedded for a repository."""
    with tempfile.TemporaryDirectory() as cache:
        indexing(ROOT, repository, "fast", cache)
        given = {
            "CONTEXT_PACK_EMBEDDER": "semantic",
            "CONTEXT_PACK_CACHE": cache,
            "CONTEXT_PACK_ROOT": os.path.join(cache, "root"),
        }
        memory = open_ports(read_settings(given, str(repository))).memory
        assert memory is not None
        searching = memory.searching
        texts = searching.index.lacking(GraniteEmbedder.id, Scope(), 1_000_000).values()
        tokenizer, _ = GraniteEmbedder().model()
        return [len(tokenizer.ids(searching.shortened(text), LONGEST)) for text in texts]


def repositories(base: Path, repository: Path, rounds: int) -> None:
    """A whole repository by an older checkout and by this one."""
    spent: dict[Path, list[Seconds]] = {base: [], ROOT: []}
    for _ in range(rounds):
        for tree, measured in spent.items():
            measured.append(embedding(tree, repository))
    lengths = lengths_of(repository)
    begun = Seconds(time.process_time(), time.perf_counter())
    products(lengths)()
    floor = Seconds(time.process_time() - begun.processor, time.perf_counter() - begun.clock)
    print(f"{repository.name}, {len(lengths)} texts, {sum(lengths)} tokens, medians of {rounds} rounds")
    for at, kind in enumerate(Seconds._fields):
        before, now = (statistics.median(one[at] for one in measured) for measured in spent.values())
        print(
            f"  seconds ({kind:9})   base {before:8.1f}   now {now:8.1f}   {before / now:5.2f} times the rate"
            f"   floor {floor[at]:8.1f}   ratio {now / floor[at]:6.2f}"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--base", type=Path, help="an older checkout of this project")
    parser.add_argument("--repository", type=Path, default=ROOT, help="what both embed")
    parser.add_argument("--rounds", type=int, default=1)
    given = parser.parse_args()
    if not granite.installed():
        print(granite.MISSING)
    elif given.base is not None:
        repositories(given.base.resolve(), given.repository.resolve(), given.rounds)
        return
    else:
        semantic(8 if given.quick else 96, 2 if given.quick else 3)
    hashed(300 if given.quick else 3000, 3 if given.quick else 5)


if __name__ == "__main__":
    main()
