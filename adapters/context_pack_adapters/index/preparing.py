"""What is computed of entries before they are written: tokens, digests, and which vectors are needed.

Pure: no database. It is the greater part of the work of indexing, and it happens outside of transactions, so
that a writer holds the file only while it writes.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from context_pack.retrieval.model import Entry, Piece
from context_pack.retrieval.ports import Embedder, EmbedderFailed, Vector
from context_pack.retrieval.words import tokens
from context_pack_adapters.index.scopes import tokens_of
from context_pack_adapters.index.values import digest_of, embedded_of, to_facts, to_tokens
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


class Passage(NamedTuple):
    """A piece as it is written: its row of the keyword index, and what is embedded of it."""

    columns: Columns
    text: str
    tokens: list[str]
    digest: bytes
    facts: str


class Prepared(NamedTuple):
    """An entry and what is written for each of its pieces."""

    entry: Entry
    facts: str
    passages: list[Passage]


@runtime_checkable
class TokenEmbedder(Protocol):
    """An embedder that works on our tokens, and takes them from those who have them already."""

    def embed_tokens(self, texts: Iterable[Sequence[str]]) -> Sequence[Vector]:
        """One vector per text, given as the tokens of its lines one after the other."""


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
    return Prepared(entry, to_facts(entry.facts), [_passage(piece, scope) for piece in entry.pieces])


def _passage(piece: Piece, scope: str) -> Passage:
    text = embedded_of(piece)
    body = tokens(piece.text)
    columns = Columns(scope, to_tokens(tokens(piece.names)), to_tokens(body))
    return Passage(columns, text, [*tokens(piece.context), *body], digest_of(text), to_facts(piece.facts))


def embed_missing(
    batch: Sequence[Prepared], known: Mapping[bytes, bytes], embedder: Embedder
) -> dict[bytes, bytes]:
    """Vectors by digest for a batch: those that are known, and new ones for the other texts.

    An embedder that fails leaves its texts without: they are found by words, and embedded another time.
    """
    vectors = dict(known)
    passages = [passage for prepared in batch for passage in prepared.passages]
    missing = list({each.digest: each for each in passages if each.digest not in vectors}.values())
    for start in range(0, len(missing), EMBED_TEXTS):
        some = missing[start : start + EMBED_TEXTS]
        try:
            made = _embedded(some, embedder)
        except EmbedderFailed:
            return vectors
        for passage, blob in zip(some, to_blobs(made, embedder.dimension), strict=True):
            if blob is not None:
                vectors[passage.digest] = blob
    return vectors


def _embedded(passages: Sequence[Passage], embedder: Embedder) -> Sequence[Vector]:
    if isinstance(embedder, TokenEmbedder):
        return embedder.embed_tokens(passage.tokens for passage in passages)
    return embedder.embed([passage.text for passage in passages], "document")
