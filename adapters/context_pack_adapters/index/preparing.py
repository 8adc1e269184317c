"""What is computed of entries before they are written: tokens, digests and vectors; no database.

It is the greater part of the work of indexing, and it happens outside of transactions, so that a writer holds
the file only while it writes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from context_pack.retrieval.model import IndexEntry
from context_pack.retrieval.ports import Embedder, EmbedderFailed
from context_pack.retrieval.words import tokens
from context_pack_adapters.index.values import digest_of, embedding_text
from context_pack_adapters.index.vectors import to_blobs

BATCH_PIECES, BATCH_CHARACTERS, BATCH_SECONDS = 1000, 4_000_000, 1.0
EMBED_TEXTS = 256


class Passage(NamedTuple):
    """What is written for a piece: the tokens of its names and of its text, and what is embedded of it."""

    names: str
    body: str
    text: str
    digest: bytes


class Prepared(NamedTuple):
    """An entry and what is written for each of its pieces."""

    entry: IndexEntry
    passages: list[Passage]


Recall = Callable[[Sequence[bytes]], Mapping[bytes, bytes]]
"""The vectors that are known already, by the digest of what was embedded."""


def batches(entries: Iterable[IndexEntry]) -> Iterator[list[IndexEntry]]:
    """The entries in batched that are written at once: so many pieces, or what came in a second."""
    batch: list[IndexEntry] = []
    pieces = characters = 0
    begun = time.monotonic()
    for entry in entries:
        batch.append(entry)
        pieces += len(entry.pieces)
        characters += len(entry.text) + sum(len(piece.text) for piece in entry.pieces)
        late = time.monotonic() - begun > BATCH_SECONDS
        if pieces >= BATCH_PIECES or characters >= BATCH_CHARACTERS or late:
            yield batch
            batch, pieces, characters = [], 0, 0
            begun = time.monotonic()
    if batch:
        yield batch


def prepare(
    batch: Sequence[IndexEntry], recall: Recall, embedder: Embedder
) -> tuple[list[Prepared], dict[bytes, bytes]]:
    """The tokens of entries, and vectors by digest for all pieces that could be embedded."""
    prepared = []
    for entry in batch:
        passages = []
        for piece in entry.pieces:
            text = embedding_text(piece.context, piece.text)
            passages.append(Passage(_words(piece.names), _words(piece.text), text, digest_of(text)))
        prepared.append(Prepared(entry, passages))
    texts = {passage.digest: passage.text for each in prepared for passage in each.passages}
    vectors = dict(recall(list(texts)))
    missing = [digest for digest in texts if digest not in vectors]
    for start in range(0, len(missing), EMBED_TEXTS):
        some = missing[start : start + EMBED_TEXTS]
        try:
            made = embedder.embed([texts[digest] for digest in some], "document")
        except EmbedderFailed:  # they are found by words, and embedded another time
            break
        vectors.update(zip(some, to_blobs(made, embedder.dimension), strict=True))
    return prepared, vectors


def _words(text: str) -> str:
    """The tokens of a text as the keyword index takes them."""
    return " ".join(tokens(text)).encode("utf-8", "replace").decode()
