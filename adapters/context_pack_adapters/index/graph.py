"""With the extra `hnswlib`: a graph over very many vectors, in a file beside the index.

Workers make it. Its file's name says of which embedder it is, up to which vector it goes and how many it has;
what came later is compared exactly besides, and one of which a fifth is old is made anew. hnswlib does not
say when saving fails: a file gets its name after it was loaded again, and one that does not load is none.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import suppress
from glob import escape, glob
from hashlib import sha256
from importlib.util import find_spec
from typing import Any

from context_pack.retrieval.ports import Stop
from context_pack_adapters.index.vectors import from_blobs

GRAPH_AT = 100_000
"""Up to so many vectors comparing all of them takes a few milliseconds and needs no graph."""
OLD_SHARE = 0.2
LINKS, EFFORT, SPARE, PORTION = 32, 200, 32, 2048
_LIVE = "FROM vectors WHERE digest IN (SELECT digest FROM pieces)"
_PIECES = "SELECT pieces.id FROM vectors JOIN pieces USING (digest) WHERE embedder = ? AND"


class Graphs:
    """The graphs of one index file, loaded when they are first needed."""

    def __init__(self, path: str, threshold: int) -> None:
        self._path, self._threshold = path, threshold
        self._loaded: dict[str, Any] = {}

    def near(
        self, connection: sqlite3.Connection, embedder: str, vector: Any, limit: int
    ) -> list[int] | None:
        """Candidates for the nearest pieces, in the order of pieces; None where there is no graph."""
        files = self._files(embedder, len(vector)) if find_spec("hnswlib") is not None else []
        if not files or (graph := self._load(files[0], len(vector))) is None:
            return None
        try:
            count = min(2 * limit + SPARE, graph.get_current_count())
            labels, _ = graph.knn_query(vector, k=count, num_threads=1)
        except RuntimeError:  # equal vectors can leave a graph in parts
            return None
        sql = f"{_PIECES} (vectors.id > ? OR vectors.id IN (SELECT value FROM json_each(?)))"
        values = (embedder, _numbers(files[0])[0], json.dumps(labels[0].tolist()))
        return sorted({piece for (piece,) in connection.execute(sql, values)})

    def tend(self, connection: sqlite3.Connection, stop: Stop) -> None:
        """Make the graphs that are worth having and missing or too old, and remove the others."""
        sql = f"SELECT embedder, COUNT(*), length(vector) / 4 {_LIVE} GROUP BY embedder"
        useful = set[str]()
        for embedder, count, dimension in connection.execute(sql).fetchall():
            if count > self._threshold and find_spec("hnswlib") is not None:
                files = self._files(embedder, dimension)
                is_whole = bool(files) and self._load(files[0], dimension) is not None
                if not is_whole or not self._is_fresh(connection, embedder, files[0], count):
                    self._make(connection, embedder, count, dimension, stop)
                useful.update(self._files(embedder, dimension)[:1])
        for path in {*glob(f"{escape(self._path)}.graph-*")} - useful:
            with suppress(OSError):
                os.unlink(path)

    def _make(
        self, connection: sqlite3.Connection, embedder: str, count: int, dimension: int, stop: Stop
    ) -> None:
        graph, last = _new_graph(dimension), 0
        graph.init_index(max_elements=count, M=LINKS, ef_construction=EFFORT)
        rows = connection.execute(f"SELECT id, vector {_LIVE} AND embedder = ? ORDER BY id", (embedder,))
        while some := rows.fetchmany(PORTION):
            if stop():
                return
            graph.add_items(from_blobs([blob for _, blob in some]), [each for each, _ in some], num_threads=1)
            last = some[-1][0]
        path = f"{self._prefix(embedder, dimension)}{last:020}-{count}"
        graph.save_index(f"{path}.tmp")
        if self._load(f"{path}.tmp", dimension) is not None:
            os.replace(f"{path}.tmp", path)

    def _load(self, path: str, dimension: int) -> Any | None:
        """The graph in a file, kept in memory; None where there is none or it is damaged."""
        loaded = self._loaded  # one at a time is kept; another thread may put its own there meanwhile
        if path not in loaded:
            graph = _new_graph(dimension)
            try:
                graph.load_index(path)
                graph.set_ef(EFFORT)  # loading resets it
            except RuntimeError:
                graph = None
            loaded = self._loaded = {path: graph}
        return loaded[path]

    def _is_fresh(self, connection: sqlite3.Connection, embedder: str, path: str, count: int) -> bool:
        last, size = _numbers(path)
        sql = f"SELECT COUNT(*) {_LIVE} AND embedder = ? AND id > ?"
        (newer,) = connection.execute(sql, (embedder, last)).fetchone()
        return bool(newer <= OLD_SHARE * count and 0 <= size - count + newer <= OLD_SHARE * size)

    def _prefix(self, embedder: str, dimension: int) -> str:
        return f"{self._path}.graph-{sha256(f'{embedder} {dimension}'.encode()).hexdigest()[:8]}-"

    def _files(self, embedder: str, dimension: int) -> list[str]:
        """The graphs of an embedder, the newest first."""
        return sorted(glob(f"{escape(self._prefix(embedder, dimension))}*[0-9]"), reverse=True)


def _numbers(path: str) -> tuple[int, int]:
    """The newest vector in a graph, and how many it has."""
    last, count = path.split("-")[-2:]
    return int(last), int(count)


def _new_graph(dimension: int) -> Any:
    """An empty graph; the package is an extra."""
    import hnswlib

    return hnswlib.Index(space="ip", dim=dimension)
