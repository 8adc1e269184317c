"""What is computed of entries before they are written: tokens, digests, and which vectors are needed.

Pure: no database. It is the greater part of the work of indexing, and it happens outside of transactions, so
that a writer holds the file only while it writes.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from context_pack.retrieval.model import Entry
from context_pack.retrieval.ports import Embedder, EmbedderFailed
from context_pack.retrieval.words import tokens
from context_pack_adapters.index.scopes import tokens_of
from context_pack_adapters.index.values import digest_of, embedded_of, to_tokens
from context_pack_adapters.vectors.exact import to_blobs

BATCH_PIECES = 1000
BATCH_CHARACTERS = 4_000_000
BATCH_SECONDS = 1.0
EMBED_TEXTS = 256


class Columns(NamedTuple):
    """One row of the keyword index."""

    scope: str
    names: str
    body: str


class Prepared(NamedTuple):
    """An entry and, for each of its pieces, its row of the keyword index, what is embedded, its digest."""

    entry: Entry
    columns: list[Columns]
    texts: list[str]
    digests: list[bytes]


def batches(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """The entries in portions that are written at once: so many pieces, or what came in a second."""
    batch: list[Entry] = []
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


def prepare(entry: Entry) -> Prepared:
    """Everything about an entry that can be known without the index."""
    scope = to_tokens(tokens_of(entry.corpus, entry.kind, entry.module))
    texts = [embedded_of(piece) for piece in entry.pieces]
    return Prepared(
        entry,
        [
            Columns(scope, to_tokens(tokens(piece.names)), to_tokens(tokens(piece.text)))
            for piece in entry.pieces
        ],
        texts,
        [digest_of(text) for text in texts],
    )


def embed_missing(
    batch: Sequence[Prepared], known: Mapping[bytes, bytes], embedder: Embedder
) -> dict[bytes, bytes]:
    """Vectors by digest for a batch: those that are known, and new ones for the other texts.

    An embedder that fails leaves its texts without: they are found by words, and embedded another time.
    """
    vectors = dict(known)
    missing: dict[bytes, str] = {}
    for prepared in batch:
        for digest, text in zip(prepared.digests, prepared.texts, strict=True):
            if digest not in vectors:
                missing[digest] = text
    waiting = list(missing.items())
    for start in range(0, len(waiting), EMBED_TEXTS):
        some = waiting[start : start + EMBED_TEXTS]
        try:
            made = embedder.embed([text for _, text in some], "document")
        except EmbedderFailed:
            return vectors
        for (digest, _), blob in zip(some, to_blobs(made, embedder.dimension), strict=True):
            if blob is not None:
                vectors[digest] = blob
    return vectors
