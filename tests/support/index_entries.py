"""Entries for index tests, and an embedder whose vectors can be worked out by hand."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any
from zlib import crc32

from context_pack.retrieval.model import IndexEntry, Piece
from context_pack.retrieval.ports import Kind


class ToyEmbedder:
    """Counts words in a few buckets; remembers the documents it was given."""

    weight = 0.2

    def __init__(self, dimension: int = 16, name: str = "toy") -> None:
        self.id = f"{name}-{dimension}/1"
        self.dimension = dimension
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], kind: Kind) -> Any:
        """Unit vectors of word counts."""
        import numpy

        if kind != "query":
            self.asked += texts
        rows = numpy.zeros((len(texts), self.dimension), dtype=numpy.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                row[crc32(word.encode("utf-8", "surrogatepass")) % self.dimension] += 1
            row /= numpy.linalg.norm(row) or 1
        return rows

    def one(self, text: str) -> Any:
        """The vector of one query."""
        return self.embed([text], "query")[0]


def make_entry(key: str, *texts: str, corpus: str = "docs", **rest: Any) -> IndexEntry:
    """An entry with a piece per text, one line each."""
    whole = "\n".join(texts)
    pieces = tuple(
        Piece(text, line, line, heading=f"part {line}", context=f"{key} > part {line}", names=key)
        for line, text in enumerate(texts, 1)
    )
    given = {"title": key.title(), "size": len(whole), "text": whole, "pieces": pieces, **rest}
    digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()
    return IndexEntry(corpus, key, digest, f"stamp of {key}", **given)
