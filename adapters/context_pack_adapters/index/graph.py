"""With the extra `hnswlib`: a graph over very many vectors, in a file beside the index.

It is made by workers. Its name says which vectors are in it; what came later is compared exactly besides, and
one of which a fifth is old is made anew. A file that hnswlib does not take is as good as none.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from glob import escape, glob
from hashlib import sha256
from importlib.util import find_spec
from typing import Any

from context_pack_adapters.index.values import marks, portions
from context_pack_adapters.index.vectors import from_blobs

GRAPH_AT = 100_000
"""Up to so many vectors comparing all of them takes a few milliseconds and needs no graph."""
OLD_SHARE = 0.2
LINKS, EFFORT = 32, 200
SPARE = 32
PORTION = 2048
_PIECES = "SELECT pieces.id FROM vectors JOIN pieces ON pieces.digest = vectors.digest WHERE"


class Graphs:
    """The graphs of one index file, loaded when they are first needed."""

    def __init__(self, path: str, threshold: int) -> None:
        self._path, self._threshold = path, threshold
        self._loaded: dict[str, Any] = {}

    def near(
        self, connection: sqlite3.Connection, embedder: str, vector: Any, limit: int
    ) -> list[int] | None:
        """Candidates for the nearest pieces, in the order of pieces; None where there is no graph."""
        (most,) = connection.execute("SELECT MAX(id) FROM vectors").fetchone()
        if (most or 0) <= self._threshold or find_spec("hnswlib") is None:
            return None
        path = next(iter(self._files(embedder)), None)
        graph = None if path is None else self._load(path, len(vector))
        if path is None or graph is None:
            return None
        count = min(2 * limit + SPARE, graph.get_current_count())
        try:
            labels, _ = graph.knn_query(vector, k=count, num_threads=1)
        except RuntimeError:  # equal vectors can leave a graph in parts
            return None
        found = connection.execute(
            f"{_PIECES} embedder = ? AND vectors.id > ?", (embedder, _last(path))
        ).fetchall()
        for some in portions(labels[0].tolist()):
            found += connection.execute(
                f"{_PIECES} embedder = ? AND vectors.id IN ({marks(some)})", (embedder, *some)
            )
        return sorted({piece for (piece,) in found})

    def tend(self, connection: sqlite3.Connection, stop: Callable[[], bool]) -> None:
        """Make the graphs that are worth having and missing or too old, and remove the others."""
        sql = "SELECT embedder, COUNT(*), length(vector) / 4 FROM vectors GROUP BY embedder"
        for embedder, count, dimension in connection.execute(sql).fetchall():
            files = self._files(embedder)
            if count <= self._threshold or find_spec("hnswlib") is None:
                old = files
            elif files and self._is_fresh(connection, embedder, files[0], count):
                old = files[1:]
            else:
                old = files if self._make(connection, embedder, count, dimension, stop) else []
            for path in old:
                with suppress(OSError):
                    os.unlink(path)

    def _make(
        self,
        connection: sqlite3.Connection,
        embedder: str,
        count: int,
        dimension: int,
        stop: Callable[[], bool],
    ) -> bool:
        import hnswlib

        graph, last = hnswlib.Index(space="ip", dim=dimension), 0
        graph.init_index(max_elements=count, M=LINKS, ef_construction=EFFORT)
        rows = connection.execute(
            "SELECT id, vector FROM vectors WHERE embedder = ? ORDER BY id", (embedder,)
        )
        while some := rows.fetchmany(PORTION):
            if stop():
                return False
            graph.add_items(
                from_blobs([blob for _, blob in some]), [number for number, _ in some], num_threads=1
            )
            last = some[-1][0]
        path = f"{self._prefix(embedder)}{last:020}-{count}"
        graph.save_index(f"{path}.tmp")
        os.replace(f"{path}.tmp", path)
        return True

    def _load(self, path: str, dimension: int) -> Any | None:
        if path not in self._loaded:
            import hnswlib

            graph = hnswlib.Index(space="ip", dim=dimension)
            try:
                graph.load_index(path)
                graph.set_ef(EFFORT)  # loading resets it
            except RuntimeError:
                graph = None
            self._loaded = {path: graph}
        return self._loaded[path]

    def _is_fresh(self, connection: sqlite3.Connection, embedder: str, path: str, count: int) -> bool:
        sql = "SELECT COUNT(*) FROM vectors WHERE embedder = ? AND id > ?"
        (newer,) = connection.execute(sql, (embedder, _last(path))).fetchone()
        size = int(path.rpartition("-")[2])
        return bool(newer <= OLD_SHARE * count and 0 <= size - (count - newer) <= OLD_SHARE * size)

    def _prefix(self, embedder: str) -> str:
        return f"{self._path}.graph-{sha256(embedder.encode()).hexdigest()[:8]}-"

    def _files(self, embedder: str) -> list[str]:
        """The graphs of an embedder, the newest first."""
        return sorted(glob(f"{escape(self._prefix(embedder))}*[0-9]"), reverse=True)


def _last(path: str) -> int:
    """The newest vector in a graph."""
    return int(path.split("-")[-2])
