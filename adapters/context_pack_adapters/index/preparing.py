"""What is computed of entries before they are written: tokens, digests, and which vectors are needed.

Pure: no database. It is the greater part of the work of indexing, and it happens outside of transactions, so
that a writer holds the file only while it writes.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from context_pack.retrieval.model import IndexEntry, Piece
from context_pack.retrieval.ports import Embedder, EmbedderFailed, Vector
from context_pack.retrieval.words import tokens
from context_pack_adapters.index.schema import NAMES_WEIGHT
from context_pack_adapters.index.values import digest_of, embedded, to_facts
from context_pack_adapters.vectors.exact import to_blobs

BATCH_PIECES = 1000
BATCH_CHARACTERS = 4_000_000
BATCH_SECONDS = 1.0
EMBED_TEXTS = 256


class Words(NamedTuple):
    """How much each word counts in a piece, a name three times, and how long the piece is."""

    counts: Mapping[str, int]
    length: int


class Passage(NamedTuple):
    """What is written for a piece."""

    words: Words
    text: str
    digest: bytes
    facts: str


class Prepared(NamedTuple):
    """An entry and what is written for each of its pieces."""

    entry: IndexEntry
    facts: str
    passages: list[Passage]


Recall = Callable[[Sequence[bytes]], Mapping[bytes, bytes]]
"""The vectors that are known already, by the digest of what was embedded."""


@runtime_checkable
class TokenEmbedder(Protocol):
    """An embedder that works on our tokens, and takes them from those who have them already."""

    def embed_tokens(self, texts: Iterable[Sequence[str]]) -> Sequence[Vector]:
        """One vector per text, given as the tokens of its lines one after the other."""


def batches(entries: Iterable[IndexEntry]) -> Iterator[list[IndexEntry]]:
    """The entries in portions that are written at once: so many pieces, or what came in a second."""
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
    """Compute the rows of entries, and vectors by digest for all pieces that could be embedded."""
    bodies: list[list[str]] = []
    prepared = []
    for entry in batch:
        passages = []
        for piece in entry.pieces:
            bodies.append(body := tokens(piece.text))
            words = count_words(body, piece.names, bool(entry.module))
            text = embedded(piece.context, piece.text)
            passages.append(Passage(words, text, digest_of(text), to_facts(piece.facts)))
        prepared.append(Prepared(entry, to_facts(entry.facts), passages))
    passages = [passage for each in prepared for passage in each.passages]
    vectors = dict(recall([passage.digest for passage in passages]))
    pieces = (piece for entry in batch for piece in entry.pieces)
    missing: dict[bytes, tuple[Piece, list[str]]] = {}
    for passage, piece, body in zip(passages, pieces, bodies, strict=True):
        if passage.digest not in vectors:
            missing.setdefault(passage.digest, (piece, body))
    vectors.update(_vectors(missing, embedder))
    return prepared, vectors


def count_words(body: Sequence[str], names: str, in_module: bool) -> Words:
    """The words of a piece, given the tokens of its text."""
    said, named = [*filter(None, body)], [*filter(None, tokens(names))]
    # Corpus, kind and module once stood in every piece as words; scores still count them in its length.
    length = 2 + in_module + len(named) + len(said)
    return Words(Counter(said + named * NAMES_WEIGHT), length)


def _vectors(
    missing: Mapping[bytes, tuple[Piece, list[str]]], embedder: Embedder
) -> Iterator[tuple[bytes, bytes]]:
    """The vector of each of these pieces, by digest.

    An embedder that fails leaves its texts without: they are found by words, and embedded another time.
    """
    waiting = list(missing)
    for start in range(0, len(waiting), EMBED_TEXTS):
        some = waiting[start : start + EMBED_TEXTS]
        given = [missing[digest] for digest in some]
        try:
            if isinstance(embedder, TokenEmbedder):
                made = embedder.embed_tokens([*tokens(piece.context), *body] for piece, body in given)
            else:
                made = embedder.embed([embedded(piece.context, piece.text) for piece, _ in given], "document")
        except EmbedderFailed:
            return
        for digest, blob in zip(some, to_blobs(made, embedder.dimension), strict=True):
            if blob is not None:
                yield digest, blob
