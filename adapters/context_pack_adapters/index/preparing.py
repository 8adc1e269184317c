"""What is computed of entries before they are written: tokens, digests, and which vectors are needed.

Pure: no database. It is the greater part of the work of indexing, and it happens outside of transactions, so
that a writer holds the file only while it writes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from context_pack.retrieval.model import Entry
from context_pack.retrieval.ports import Embedder, EmbedderFailed, Vector
from context_pack.retrieval.words import tokens
from context_pack_adapters.index.scopes import tokens_of
from context_pack_adapters.index.values import digest_of, embedded, embedded_of, to_facts, to_tokens
from context_pack_adapters.vectors.exact import to_blobs

BATCH_PIECES = 1000
BATCH_CHARACTERS = 4_000_000
BATCH_SECONDS = 1.0
EMBED_TEXTS = 256


class Task(NamedTuple):
    """What is to be computed of one piece: its tokens, and its vector if it is to be embedded."""

    scope: str
    names: str
    text: str
    context: str
    embed: bool


class Product(NamedTuple):
    """What was computed of one piece: its row of the keyword index (scope, names, body), and its vector."""

    columns: tuple[str, str, str]
    vector: bytes | None


class Passage(NamedTuple):
    """A piece as it is written, beside what it was given as."""

    columns: tuple[str, str, str]
    text: str
    digest: bytes
    facts: str


class Prepared(NamedTuple):
    """An entry and what is written for each of its pieces."""

    entry: Entry
    facts: str
    passages: list[Passage]


Work = Callable[[Sequence[Task]], Sequence[Product]]
"""Whoever carries out tasks: this process, or this and another one."""
Recall = Callable[[Sequence[bytes]], Mapping[bytes, bytes]]
"""The vectors that are known already, by the digest of what was embedded."""


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


def prepare(batch: Sequence[Entry], recall: Recall, work: Work) -> tuple[list[Prepared], dict[bytes, bytes]]:
    """What is written of entries, and vectors by digest for all of their pieces that could be embedded."""
    facts = [(to_facts(entry.facts), [to_facts(piece.facts) for piece in entry.pieces]) for entry in batch]
    texts = [embedded_of(piece) for entry in batch for piece in entry.pieces]
    digests = [digest_of(text) for text in texts]
    vectors = dict(recall(digests))
    asked = set(vectors)
    tasks: list[Task] = []
    for entry in batch:
        scope = to_tokens(tokens_of(entry.corpus, entry.kind, entry.module))
        for piece in entry.pieces:
            digest = digests[len(tasks)]
            tasks.append(Task(scope, piece.names, piece.text, piece.context, digest not in asked))
            asked.add(digest)
    products = work(tasks)
    for digest, product in zip(digests, products, strict=True):
        if product.vector is not None:
            vectors[digest] = product.vector
    every = iter(zip(products, texts, digests, strict=True))
    prepared = [
        Prepared(
            entry,
            told,
            [
                Passage(product.columns, text, digest, fact)
                for fact, (product, text, digest) in zip(each, every, strict=False)
            ],
        )
        for entry, (told, each) in zip(batch, facts, strict=True)
    ]
    return prepared, vectors


def carry_out(tasks: Sequence[Task], embedder: Embedder) -> list[Product]:
    """The products of tasks.

    An embedder that fails leaves its texts without: they are found by words, and embedded another time.
    """
    bodies = [tokens(task.text) for task in tasks]
    vectors: list[bytes | None] = [None] * len(tasks)
    waiting = [at for at, task in enumerate(tasks) if task.embed]
    for start in range(0, len(waiting), EMBED_TEXTS):
        some = waiting[start : start + EMBED_TEXTS]
        try:
            made = _embedded([(tasks[at], bodies[at]) for at in some], embedder)
        except EmbedderFailed:
            break
        for at, blob in zip(some, to_blobs(made, embedder.dimension), strict=True):
            vectors[at] = blob
    return [
        Product((task.scope, to_tokens(tokens(task.names)), to_tokens(body)), vector)
        for task, body, vector in zip(tasks, bodies, vectors, strict=True)
    ]


def _embedded(some: Sequence[tuple[Task, list[str]]], embedder: Embedder) -> Sequence[Vector]:
    if isinstance(embedder, TokenEmbedder):
        return embedder.embed_tokens([*tokens(task.context), *body] for task, body in some)
    return embedder.embed([embedded(task.context, task.text) for task, _ in some], "document")
