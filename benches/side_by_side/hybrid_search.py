"""Hybrid search over 60 000 chunks beside its floors: a bare FTS5 query, a bare numpy product, a bare fetch.

  python benches/side_by_side/hybrid_search.py [--quick]

The floors work on the same tokens, vectors and texts, in tables that hold nothing else, with the same
queries, in turn with what is measured. Printed: medians, how many times the sum of the floors a search takes
(judged: at most 3), ten queries in one batch beside ten calls (judged: cheaper), and how many of the ten true
neighbours the vector search finds, by comparing everything and by a graph (judged: at least 0.98).
"""

from __future__ import annotations

import os
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters"), str(Path(__file__).resolve().parent)]
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy  # noqa: E402
from indexing import vocabulary  # noqa: E402

from context_pack.retrieval.model import IndexEntry, Piece, Scope  # noqa: E402
from context_pack.retrieval.searching import Question, Searching  # noqa: E402
from context_pack.retrieval.words import tokens  # noqa: E402
from context_pack_adapters.embed.hashed import HashedEmbedder  # noqa: E402
from context_pack_adapters.index.sqlite_index import SqliteIndex  # noqa: E402

CHUNKS, QUICK_CHUNKS = 60_000, 4_000
WORDS_IN_CHUNK, PIECES_IN_ENTRY, CORPORA = 220, 8, 4
QUERIES = 60
DEPTH, SHOWN = 100, 10
MOST_TIMES, LEAST_RECALL = 3.0, 0.98


class Texts:
    """Chunks and queries, always the same."""

    def __init__(self, chunks: int) -> None:
        chance = random.Random(2)
        known = vocabulary(chance)
        weights = [1 / (rank + 3) for rank in range(len(known))]
        self._known, self._chance = numpy.array(known), numpy.random.default_rng(3)
        self._weights = numpy.cumsum(weights) / sum(weights)
        self.chunks = chunks

    def _words(self, count: int, low: float = 0.0) -> list[str]:
        drawn = numpy.searchsorted(self._weights, self._chance.uniform(low, 1.0, count))
        words: list[str] = self._known[numpy.minimum(drawn, len(self._known) - 1)].tolist()
        return words

    def entries(self) -> Iterator[IndexEntry]:
        """Documents of a few chunks each."""
        for number in range(self.chunks // PIECES_IN_ENTRY):
            title = " ".join(self._words(4))
            pieces = tuple(
                Piece(" ".join(self._words(WORDS_IN_CHUNK)), at, at, context=title, names=title)
                for at in range(1, PIECES_IN_ENTRY + 1)
            )
            yield IndexEntry(
                f"corpus{number % CORPORA}", f"doc{number}", "digest", title=title, pieces=pieces
            )

    def queries(self) -> list[str]:
        """Questions of a few words, none of them among the most frequent."""
        return [" ".join(self._words(int(self._chance.integers(2, 8)), 0.35)) for _ in range(QUERIES)]


class Floors:
    """The same content in tables that hold nothing else, and a matrix."""

    def __init__(self, folder: Path, entries: Sequence[IndexEntry], embedder: HashedEmbedder) -> None:
        pieces = [piece for entry in entries for piece in entry.pieces]
        self._connection = sqlite3.connect(folder / "floors.sqlite3", isolation_level=None)
        self._connection.execute("CREATE VIRTUAL TABLE words USING fts5(names, body, tokenize=ascii)")
        self._connection.execute("CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT)")
        self._connection.execute("BEGIN")
        for number, piece in enumerate(pieces):
            row = (number, " ".join(tokens(piece.names)), " ".join(tokens(piece.text)))
            self._connection.execute("INSERT INTO words (rowid, names, body) VALUES (?, ?, ?)", row)
            self._connection.execute("INSERT INTO texts VALUES (?, ?)", (number, piece.text))
        self._connection.execute("COMMIT")
        texts = [f"{piece.context}\n\n{piece.text}" for piece in pieces]
        self.matrix = numpy.concatenate(
            [embedder.embed(texts[at : at + 1000], "document") for at in range(0, len(texts), 1000)]
        )

    def words(self, query: str) -> list[Any]:
        """The keyword search's floor."""
        match = " OR ".join(f'"{token}"' for token in tokens(query))
        sql = "SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?"
        return self._connection.execute(sql, (match, DEPTH)).fetchall()

    def vectors(self, vector: Any, count: int = DEPTH) -> Any:
        """The vector search's floor."""
        scores = self.matrix @ vector
        best = numpy.argpartition(scores, -count)[-count:]
        return best[numpy.argsort(-scores[best])]

    def fetch(self, rows: Sequence[int]) -> list[Any]:
        """The floor of showing the winners."""
        marks = ", ".join("?" * len(rows))
        return self._connection.execute(f"SELECT id, text FROM texts WHERE id IN ({marks})", rows).fetchall()


def timed(times: list[float], work: Callable[[], Any]) -> Any:
    """What the work gives; its time is noted in milliseconds."""
    started = time.perf_counter()
    result = work()
    times.append((time.perf_counter() - started) * 1000)
    return result


def measure(searching: Searching, floors: Floors, queries: Sequence[str], embedder: HashedEmbedder) -> bool:
    """Print what a search costs beside its floors; whether it is within bounds."""
    names = ("FTS5", "numpy", "fetch", "embed", "hybrid", "half of it", "words", "vector")
    times: dict[str, list[float]] = {name: [] for name in names}
    some = Scope(corpora=tuple(f"corpus{number}" for number in range(CORPORA // 2)))
    searching.ask([Question(queries[0])])
    for query in queries:
        (vector,) = timed(times["embed"], lambda: embedder.embed([query], "query"))  # noqa: B023
        timed(times["FTS5"], lambda: floors.words(query))  # noqa: B023
        near = timed(times["numpy"], lambda: floors.vectors(vector))  # noqa: B023
        timed(times["fetch"], lambda: floors.fetch(near[:SHOWN].tolist()))  # noqa: B023
        timed(times["hybrid"], lambda: searching.ask([Question(query)]))  # noqa: B023
        timed(times["half of it"], lambda: searching.ask([Question(query, some)]))  # noqa: B023
        with searching.index.reading() as snapshot:
            timed(times["words"], lambda: snapshot.keyword(tokens(query), Scope(), DEPTH))  # noqa: B023
            timed(times["vector"], lambda: snapshot.nearest(embedder.id, vector, Scope(), DEPTH))  # noqa: B023
    middle = {name: statistics.median(taken) for name, taken in times.items()}
    print("p50 in ms: " + ", ".join(f"{name} {value:.2f}" for name, value in middle.items()))
    floor = middle["FTS5"] + middle["numpy"] + middle["fetch"]
    ratios = [middle[name] / floor for name in ("hybrid", "half of it")]
    print(f"hybrid is {ratios[0]:.2f} times its floors ({floor:.2f} ms), filtered {ratios[1]:.2f} times")
    return max(ratios) <= MOST_TIMES


def batches(searching: Searching, queries: Sequence[str]) -> bool:
    """Print ten queries at once beside one by one; whether a batch is cheaper."""
    together: list[float] = []
    apart: list[float] = []
    for start in range(0, len(queries) - 9, 10):
        ten = [Question(query) for query in queries[start : start + 10]]
        timed(apart, lambda: [searching.ask([one]) for one in ten])  # noqa: B023
        timed(together, lambda: searching.ask(ten))  # noqa: B023
    batch, calls = statistics.median(together), statistics.median(apart)
    print(f"ten queries: one batch {batch:.1f} ms, ten calls {calls:.1f} ms: {batch / calls:.2f} times")
    return batch < calls


def recall(index: SqliteIndex, floors: Floors, queries: Sequence[str], embedder: HashedEmbedder) -> float:
    """Which share of the ten true neighbours the vector search finds."""
    hits = 0
    for vector in embedder.embed(queries, "query"):
        true = sorted((floors.matrix @ vector).tolist(), reverse=True)[SHOWN - 1]
        with index.reading() as snapshot:
            found = snapshot.nearest(embedder.id, vector, Scope(), SHOWN)
        # By score, because equal vectors are as good as each other.
        hits += sum(score >= true - 1e-6 for _, score in found)
    return hits / (SHOWN * len(queries))


def main(quick: bool) -> int:
    """Measure and print; 1 if a bound is missed and this is no quick look."""
    with tempfile.TemporaryDirectory() as name:
        folder, embedder = Path(name), HashedEmbedder()
        texts = Texts(QUICK_CHUNKS if quick else CHUNKS)
        entries = list(texts.entries())
        index = SqliteIndex(folder / "bench.sqlite3", embedder, chunker="bench/1")
        index.replace(entries)
        floors, queries = Floors(folder, entries, embedder), texts.queries()
        print(f"{texts.chunks} chunks of about {WORDS_IN_CHUNK} words, {QUERIES} queries")
        searching = Searching(index, embedder, monotonic=time.monotonic)
        good = measure(searching, floors, queries, embedder)
        good &= batches(searching, queries)
        exact = recall(index, floors, queries, embedder)
        graphs = SqliteIndex(folder / "bench.sqlite3", embedder, chunker="bench/1", graph_at=1)
        started = time.perf_counter()
        graphs.tend(lambda: False)
        built = time.perf_counter() - started
        near = recall(graphs, floors, queries, embedder)
        used = "by a graph" if list(folder.glob("*.graph-?")) else "where a graph finds too little"
        print(f"recall@10: exact {exact:.3f}, {used} {near:.3f} (made in {built:.1f} s)")
        index.close()
        graphs.close()
    return 0 if (good and min(exact, near) >= LEAST_RECALL) or quick else 1


if __name__ == "__main__":
    sys.exit(main("--quick" in sys.argv[1:]))
