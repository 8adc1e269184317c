"""The index of documents of a member: shared collections in the team's database, all others on this disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import groupby
from typing import Any

from context_pack.documents.domain.naming import is_shared
from context_pack.kernel.errors import Failure
from context_pack.retrieval.model import IndexEntry, KnownEntry, Scope
from context_pack.retrieval.ports import SearchIndex, Snapshot, Stop
from context_pack_adapters.postgres.split_snapshot import SplitSnapshot, scope_of


class SplitIndex:
    """A `SearchIndex` of two others; without the database, shared collections are a warning, not searched."""

    def __init__(self, local: SearchIndex, team: SearchIndex) -> None:
        self._local, self._team = local, team
        self._trouble: list[str] = []
        self._wrote = False

    def _of(self, corpus: str) -> SearchIndex:
        return self._team if is_shared(corpus) else self._local

    @contextmanager
    def reading(self) -> Iterator[SplitSnapshot]:
        """The newest state of both, for as long as the context is open."""
        with ExitStack() as stack:
            opened: list[Snapshot | None] = []

            def team() -> Snapshot | None:
                if not opened:
                    opened.append(None)
                    try:
                        opened[0] = stack.enter_context(self._team.reading())
                    except Failure as failure:
                        self._trouble.append(f"shared collections are not searched: {failure.message}")
                return opened[0]

            yield SplitSnapshot(stack.enter_context(self._local.reading()), team)

    def known(self, corpus: str) -> Mapping[str, KnownEntry]:
        """Digest and stamp of each entry of a corpus, by key."""
        return self._of(corpus).known(corpus)

    def known_each(self, corpora: Sequence[str]) -> Mapping[str, Mapping[str, KnownEntry]]:
        """What `known` says of each of these corpora, by corpus."""
        return {corpus: self.known(corpus) for corpus in corpora}

    def facts(self, corpus: str) -> Mapping[str, Mapping[str, Any]]:
        """The facts of those entries of a corpus that have some, by key."""
        return self._of(corpus).facts(corpus)

    def replace(self, entries: Iterable[IndexEntry]) -> None:
        """Store these entries, each whole or not at all."""
        for shared, some in groupby(entries, lambda entry: is_shared(entry.corpus)):
            self._wrote = self._wrote or shared
            (self._team if shared else self._local).replace(some)

    def touch(self, corpus: str, stamps: Mapping[str, str]) -> None:
        """New stamps for entries whose content is the same."""
        self._of(corpus).touch(corpus, stamps)

    def forget(self, corpus: str, keys: Iterable[str] | None = None) -> None:
        """Remove these entries, or the whole corpus."""
        self._wrote = self._wrote or is_shared(corpus)
        self._of(corpus).forget(corpus, keys)

    def note(self, corpus: str, facts: Mapping[str, Any]) -> None:
        """Remember facts of a corpus."""
        self._of(corpus).note(corpus, facts)

    def lacking(self, embedder: str, scope: Scope, limit: int) -> Mapping[int, str]:
        """Pieces without a vector of that embedder, the local ones first."""
        near, far = scope_of(scope, False), scope_of(scope, True)
        found = {} if near is None else dict(self._local.lacking(embedder, near, limit))
        if far is not None and len(found) < limit:
            more = self._team.lacking(embedder, far, limit - len(found))
            found |= {-piece: text for piece, text in more.items()}
        return found

    def keep(self, embedder: str, vectors: Mapping[int, Any]) -> None:
        """Store vectors of pieces."""
        self._local.keep(embedder, {piece: one for piece, one in vectors.items() if piece > 0})
        if far := {-piece: one for piece, one in vectors.items() if piece < 0}:
            self._team.keep(embedder, far)

    def renew(self, embedder: str, dimension: int) -> None:
        """Forget the local vectors of that embedder if they have another length; the team's go by writing."""
        self._local.renew(embedder, dimension)

    def tend(self, stop: Stop) -> None:
        """Make searching faster; the team's index only after it was written here."""
        self._local.tend(stop)
        if self._wrote:
            self._team.tend(stop)
            self._wrote = False

    def notices(self) -> Sequence[str]:
        """The queued notices for the user; each is returned once."""
        notices, self._trouble = list(dict.fromkeys(self._trouble)), []
        with suppress(Failure):
            notices += self._team.notices()
        return [*self._local.notices(), *notices]

    def close(self) -> None:
        """Close the local index file."""
        close = getattr(self._local, "close", None)
        if close is not None:
            close()
