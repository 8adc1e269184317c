"""Embeds each text of a project once for the whole team: vectors are asked of `cp_vectors` first.

A question is not kept, only texts that are indexed. Without the database everything is embedded here, as it
would be without a team.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import LiteralString

from context_pack.kernel.errors import Failure
from context_pack.retrieval.ports import Embedder, Kind, Vector
from context_pack_adapters.postgres.connection import Database
from context_pack_adapters.postgres.piece_rows import RECALL

_REST_SECONDS = 60.0
_MOST_AT_ONCE = 500
_PUT: LiteralString = """
    INSERT INTO context_pack.cp_vectors (project, model, digest, vector)
    SELECT %(project)s, %(model)s, digest, vector
    FROM unnest(%(digests)s::bytea[], %(vectors)s::bytea[]) AS given (digest, vector)
    ON CONFLICT (project, model, digest) DO UPDATE SET vector = excluded.vector, at = clock_timestamp()
    RETURNING 1"""


class SharedVectors:
    """An `Embedder` that asks the team's database before it asks another embedder."""

    def __init__(self, embedder: Embedder, database: Database) -> None:
        self.id, self.dimension, self.weight = embedder.id, embedder.dimension, embedder.weight
        self._embedder = embedder
        self._database = database
        self._rests_until = 0.0

    def embed(self, texts: Sequence[str], kind: Kind) -> Sequence[Vector]:
        """One vector per text, in order; what the team has already is not computed."""
        if kind == "query" or not texts or time.monotonic() < self._rests_until:
            return self._embedder.embed(texts, kind)
        digests = [sha256(f"{kind}\0{text}".encode("utf-8", "surrogatepass")).digest() for text in texts]
        known = self._asked(digests)
        missing = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in known}
        if missing:
            made = self._embedder.embed(list(missing.values()), kind)
            self.dimension = self._embedder.dimension
            fresh = dict(zip(missing, made, strict=True))
            known |= fresh
            self._kept(fresh)
        return [known[digest] for digest in digests]

    @property
    def unrelated(self) -> float | None:
        """The cosine of unrelated texts, if the embedder knows it."""
        return getattr(self._embedder, "unrelated", None)

    def _asked(self, digests: Sequence[bytes]) -> dict[bytes, Vector]:
        """The valid vectors of these texts that the database has."""
        import numpy as np

        found: dict[bytes, Vector] = {}
        for some in _batches(list(dict.fromkeys(digests))):
            for digest, data in self._tried(RECALL, digests=some):
                # An endpoint tells its dimension with its first answer; until then a row does.
                self.dimension = self.dimension or len(data) // 4
                if (
                    len(data) == 4 * self.dimension
                    and np.isfinite(vector := np.frombuffer(data, "<f4")).all()
                ):
                    found[digest] = vector
        return found

    def _kept(self, fresh: dict[bytes, Vector]) -> None:
        import numpy as np

        for some in _batches(list(fresh)):
            vectors = [np.asarray(fresh[digest], "<f4").tobytes() for digest in some]
            self._tried(_PUT, digests=some, vectors=vectors)

    def _tried(self, text: LiteralString, **values: object) -> Sequence[tuple[bytes, bytes]]:
        """The rows of a statement; none for a while after one has failed."""
        if time.monotonic() < self._rests_until:
            return ()
        try:
            rows = self._database.rows(text, {"model": self.id, **values})
        except Failure:
            self._rests_until = time.monotonic() + _REST_SECONDS
            return ()
        return [(row[0], row[1]) for row in rows] if text is RECALL else ()


def _batches(digests: list[bytes]) -> Iterator[list[bytes]]:
    for start in range(0, len(digests), _MOST_AT_ONCE):
        yield digests[start : start + _MOST_AT_ONCE]
