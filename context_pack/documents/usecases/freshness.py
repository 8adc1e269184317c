"""Checks before every answer whether the index matches the disk; a result holds for two seconds.

A small change is indexed before the answer; a large one is left to the worker, and answers say `stale`
meanwhile. Without a worker everything is done at once. A repository is never fetched here, only by a sync;
what was fetched is looked at once, for the index may be lost or made under another path policy. The copy of
what a team shares is compared each time, by one stamp. A source that cannot be had leaves what was indexed of
it, and a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from context_pack.documents.domain.model import Collection
from context_pack.documents.ports import Check, DocumentPorts
from context_pack.documents.usecases.sync import FEW_DOCUMENTS, TASK, Syncing
from context_pack.kernel.errors import Code, Failure

LOOK_SECONDS = 2.0


@frozen
class IndexFreshness:
    """Whether the index lags behind its sources, and the warnings for the caller."""

    stale: bool = False
    warnings: tuple[str, ...] = ()


class IndexKeeper:
    """Keeps the index of local collections in step with the disk."""

    def __init__(self, ports: DocumentPorts, syncing: Syncing, monotonic: Callable[[], float]) -> None:
        self._ports = ports
        self._syncing = syncing
        self._monotonic = monotonic
        self._known: dict[str, tuple[float, IndexFreshness]] = {}

    def bring_up_to_date(
        self, collections: Sequence[Collection], check: Check = lambda: None, problems: Sequence[str] = ()
    ) -> IndexFreshness:
        """Bring these collections up to date as far as that is quick, and say how fresh they are.

        The `problems` of their configuration are among the warnings.
        """
        found = [self._one(collection, check) for collection in collections]
        warnings = dict.fromkeys(words for freshness in found for words in freshness.warnings)
        warnings.update(dict.fromkeys(self._ports.index.notices()))
        return IndexFreshness(any(freshness.stale for freshness in found), (*problems, *warnings))

    def forget(self, collection: Collection) -> None:
        """Drop the last results, so that the next answer checks again."""
        self._known.pop(collection.id, None)

    def _one(self, collection: Collection, check: Check) -> IndexFreshness:
        """The last result if it is recent and the index was not lost since, else a new check."""
        with self._ports.locks.in_process(collection.id):
            at, freshness = self._known.get(collection.id, (None, IndexFreshness()))
            recent = at is not None and self._monotonic() - at < LOOK_SECONDS and not collection.shared
            if not recent or (freshness == IndexFreshness() and not self._syncing.facts(collection.id)):
                freshness = self._look(collection, check)
                self._known[collection.id] = (self._monotonic(), freshness)
            return freshness

    def _look(self, collection: Collection, check: Check) -> IndexFreshness:
        remote = not (collection.shared or collection.where.is_local)
        fetched = remote and bool(self._syncing.facts(collection.id))
        if fetched and self._known.get(collection.id, (0.0, None))[1] == IndexFreshness():
            return IndexFreshness()
        try:
            source = self._ports.sources.open(collection, check=check)
            changes = self._syncing.changes(collection, source)
            if changes.survey is None:
                return IndexFreshness()
            if changes.plan.is_left_to(self._ports.background, TASK, FEW_DOCUMENTS):
                return IndexFreshness(stale=True)
            self._syncing.carry_out(collection, source, changes, check=check)
            return IndexFreshness()
        except Failure as failure:
            if fetched:
                return IndexFreshness()
            words = f'collection "{collection.alias}": {failure.message}'
            if remote and failure.code is Code.NOT_FOUND:
                words = f'collection "{collection.alias}" was never fetched: call documents_sync first'
            return IndexFreshness(warnings=(words,))
