"""What searching asks of the world: embedders, an index that can be read and written, and a worker.

Vectors are opaque to the core: an embedder makes them and an index compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

from context_pack.retrieval.model import (
    FoundPiece,
    IndexEntry,
    KnownEntry,
    PieceHit,
    Progress,
    Scope,
    Summary,
)

Stop = Callable[[], bool]
"""Asked between small units of long work: whether to end it."""

Vector = Any
"""One L2-normalised float32 vector; a numpy array in the adapters that ship with us."""

Kind = Literal["query", "passage", "document"]
"""Why a text is embedded: `query` and `passage` block a caller, `document` does not."""

OTHER_VECTORS = "the embedder makes vectors of another length than before: all of them are made anew"


DAMAGED = "damaged"
"""The `reason` in the details of a failure by which an index says that it was damaged."""


class EmbedderFailed(Exception):
    """An embedder cannot answer now; its words say why, in one line and without secrets."""


class TextRefused(EmbedderFailed):
    """An embedder does not take one of these texts, as too long for its model; it may take others."""


class Embedder(Protocol):
    """Turns texts into vectors. `id` names model, version and dimension: another id, other vectors.

    One that knows it has `unrelated`, the cosine of texts that have nothing to do with each other: 0 for
    vectors of the words themselves, 0.56 for granite.
    """

    id: str
    dimension: int
    weight: float
    """The share of the vector search when both searches are joined: 0.7 for granite, 0.2 for hashes."""

    def embed(self, texts: Sequence[str], kind: Kind) -> Sequence[Vector]:
        """One vector per text, in order (a 2-D array will do).

        Raises:
            EmbedderFailed: nothing came of it.
        """


class Snapshot(Protocol):
    """One consistent state of an index: no call sees half an entry, whatever others write meanwhile."""

    def keyword(self, words: Sequence[str], scope: Scope, limit: int) -> Sequence[PieceHit]:
        """The best pieces by BM25 for these tokens (repeats count), best first, ties by piece."""

    def named(self, names: Sequence[str], scope: Scope, limit: int) -> Sequence[int]:
        """Pieces whose heading is one of these names, or ends in it after a dot, in their order."""

    def ideal(self, words: Sequence[str]) -> float:
        """The BM25 score that no piece can pass for these tokens: it puts scores between 0 and 1."""

    def nearest(self, embedder: str, vector: Vector, scope: Scope, limit: int) -> Sequence[PieceHit]:
        """The nearest pieces by cosine, of those with a vector of that embedder; ties by piece."""

    def cosines(self, embedder: str, vector: Vector, pieces: Sequence[int]) -> Mapping[int, float]:
        """The true cosine of each of these pieces that has a vector of that embedder."""

    def centroid(self, embedder: str, corpus: str, key: str) -> Vector | None:
        """The normalised mean of an entry's vectors; None when it has none."""

    def found(self, pieces: Sequence[int]) -> Sequence[FoundPiece]:
        """These pieces, in that order."""

    def dimension(self, embedder: str) -> int:
        """How long the vectors of that embedder are; 0 when there never was one."""

    def progress(self, embedder: str, scope: Scope) -> Progress:
        """How far that embedder has come in the scope."""

    def entry(self, corpus: str, key: str) -> IndexEntry | None:
        """One entry with its text, without its pieces."""

    def summaries(self, corpus: str, offset: int = 0, limit: int | None = None) -> Sequence[Summary]:
        """The entries of a corpus in key order."""

    def counts(self) -> Mapping[str, int]:
        """How many entries each corpus has."""

    def corpus_facts(self, corpus: str) -> Mapping[str, Any] | None:
        """What was noted of a corpus; None for one that was never noted."""


class SearchIndex(Protocol):
    """Entries with their keyword index and vectors; derived data that can be deleted at any time.

    One writer at a time, many readers, across threads and processes. A damaged or foreign file is removed
    and an empty index takes its place. Raises `Failure` (`io_error`, `lock_timeout`) only.
    """

    def reading(self) -> AbstractContextManager[Snapshot]:
        """The newest state, for as long as the context is open."""

    def known(self, corpus: str) -> Mapping[str, KnownEntry]:
        """Digest and stamp of each entry of a corpus, by key."""

    def known_each(self, corpora: Sequence[str]) -> Mapping[str, Mapping[str, KnownEntry]]:
        """What `known` says of each of these corpora, by corpus."""

    def facts(self, corpus: str) -> Mapping[str, Mapping[str, Any]]:
        """The facts of those entries of a corpus that have some, by key."""

    def replace(self, entries: Iterable[IndexEntry]) -> None:
        """Store these entries, each whole or not at all, every piece with a vector of the fast embedder."""

    def touch(self, corpus: str, stamps: Mapping[str, str]) -> None:
        """New stamps for entries whose content is the same."""

    def forget(self, corpus: str, keys: Iterable[str] | None = None) -> None:
        """Remove these entries; without keys, the whole corpus and what was noted of it."""

    def note(self, corpus: str, facts: Mapping[str, Any]) -> None:
        """Remember facts of a corpus."""

    def lacking(self, embedder: str, scope: Scope, limit: int) -> Mapping[int, str]:
        """Pieces without a vector of that embedder and what to embed: named ones first, then the newest."""

    def keep(self, embedder: str, vectors: Mapping[int, Vector]) -> None:
        """Store vectors of pieces; those of pieces that have gone are dropped, impossible ones become zeros.

        Longer or shorter ones than before take the place of all that the embedder made, and a notice tells.
        """

    def renew(self, embedder: str, dimension: int) -> None:
        """Forget the vectors of that embedder if they have another length than this."""

    def tend(self, stop: Stop) -> None:
        """Slow maintenance that makes searching faster; called by workers after their work."""

    def notices(self) -> Sequence[str]:
        """What the user should hear once: an index that was built anew, in one sentence each."""


class Background(Protocol):
    """Runs long work in a child process, one task of each name at a time; it ends with this process."""

    def start(self, task: str) -> bool:
        """Begin the task (`documents`, `memory`) unless it runs; whether it runs now."""

    def trouble(self, task: str) -> str | None:
        """Why the task failed the last time, in one line; None if it did not, or did not say."""

    def wait(self, task: str, seconds: float) -> bool:
        """Wait until the task is over, not longer than so many seconds; whether it is."""
