"""Bringing the index of a collection up to date, by state and then by content.

A document that fails is told, not counted; its old version goes only when the document has gone or changed.
What the index has is asked for before the survey that says what is gone: then what another process adds
meanwhile is never taken for gone. Before an answer `bring_up_to_date` does it as far as that is quick.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from context_pack.documents.model import Changes, Collection, DocumentText, Failed, Outcome
from context_pack.documents.ports import Check, CollectionSource, DocumentPorts
from context_pack.kernel.errors import Code, Failure
from context_pack.retrieval.chunking import chunks
from context_pack.retrieval.model import IndexEntry
from context_pack.retrieval.ports import Stop
from context_pack.retrieval.upkeep import Gone, IndexPlan, Report, Unchanged, Upkeep, compared
from context_pack.retrieval.upkeep import Outcome as Read

TASK = "documents"
FEW_DOCUMENTS = 100
"""Up to this many changed documents are indexed within a call."""


def entry_of(corpus: str, found: DocumentText) -> IndexEntry:
    """The document as the index stores it."""
    title, pieces = chunks(found.text, found.document)
    size = len(found.text)
    return IndexEntry(
        corpus, found.document, found.digest, found.stamp, title, size, found.text, pieces=pieces
    )


@frozen
class IndexFreshness:
    """Whether the index lags behind its sources, and the warnings for the caller."""

    stale: bool = False
    warnings: tuple[str, ...] = ()


@frozen
class Syncing:
    """Brings collections up to date."""

    ports: DocumentPorts

    def sync(
        self,
        collection: Collection,
        *,
        fetch: bool = True,
        report: Report = lambda _, __, ___: None,
        stop: Stop = lambda: False,
        check: Check = lambda: None,
    ) -> Outcome:
        """Bring one collection up to date, alone among processes; what fails is in the outcome."""
        try:
            with self.ports.sources.locked(collection.id, check):
                source = self.ports.sources.open(collection, fetch, check)
                changes = self.changes(collection, source, again=True)
                return self.carry_out(collection, source, changes, report, stop, check)
        except Failure as failure:
            return Outcome(collection.alias, failed=(Failed(collection.where.name, failure.message),))

    def look(self, collection: Collection) -> Changes:
        """The changes a sync would find, without writing; unreadable documents are among the failed."""
        source = self.ports.sources.open(collection)
        changes = self.changes(collection, source, again=True)
        survey, plan = changes.survey, changes.plan
        assert survey is not None
        failed = [one for one in source.read(list(plan.changed)) if isinstance(one, Failed)]
        bad = {one.document for one in failed}
        changed = {name: file for name, file in plan.changed.items() if name not in bad}
        survey = evolve(survey, failed=(*survey.failed, *failed))
        return evolve(changes, survey=survey, plan=evolve(plan, changed=changed))

    def bring_up_to_date(
        self, collections: Sequence[Collection], check: Check = lambda: None, problems: Sequence[str] = ()
    ) -> IndexFreshness:
        """Bring these collections up to date as far as that is quick, and say how fresh they are.

        The `problems` of their configuration are among the warnings.
        """
        found = [self._brought_up_to_date(collection, check) for collection in collections]
        warnings = dict.fromkeys(words for freshness in found for words in freshness.warnings)
        warnings.update(dict.fromkeys(self.ports.index.notices()))
        return IndexFreshness(any(freshness.stale for freshness in found), (*problems, *warnings))

    def _brought_up_to_date(self, collection: Collection, check: Check) -> IndexFreshness:
        remote = not (collection.shared or collection.where.is_local)
        facts = self.facts(collection.id)
        try:
            source = self.ports.sources.open(collection, check=check)
            changes = self.changes(collection, source)
            if changes.survey is None:
                return IndexFreshness()
            if changes.plan.is_left_to(self.ports.background, TASK, FEW_DOCUMENTS):
                return IndexFreshness(stale=True)
            self.carry_out(collection, source, changes, check=check)
            return IndexFreshness()
        except Failure as failure:
            if remote and facts:
                return IndexFreshness()
            words = f'collection "{collection.alias}": {failure.message}'
            if remote and failure.code is Code.NOT_FOUND:
                words = f'collection "{collection.alias}" was never fetched: call documents_sync first'
            return IndexFreshness(warnings=(words,))

    def changes(self, collection: Collection, source: CollectionSource, again: bool = False) -> Changes:
        """Compare source and index; `again` includes documents that failed before and are unchanged."""
        facts = self.facts(collection.id)
        known = self.ports.index.known(collection.id)
        failed = {name: (str(why[0]), str(why[1])) for name, why in dict(facts.get("failed", {})).items()}
        survey = source.survey("" if again else str(facts.get("signature", "")))
        if survey is None:
            return Changes(failed=failed, facts=facts)
        failed = {} if again else failed
        plan = compared(known, survey.files, {name: stamp for name, (stamp, _) in failed.items()})
        same = survey.files.keys() - plan.changed.keys() - known.keys()
        return Changes(survey, plan, {name: why for name, why in failed.items() if name in same}, facts)

    def carry_out(
        self,
        collection: Collection,
        source: CollectionSource,
        changes: Changes,
        report: Report = lambda _, __, ___: None,
        stop: Stop = lambda: False,
        check: Check = lambda: None,
    ) -> Outcome:
        """Do what the changes ask for, and note what the source says of itself."""
        survey, plan, index = changes.survey, changes.plan, self.ports.index
        if not plan.is_idle and changes.facts.get("signature"):
            # Whoever finds the work half done must not take the index for that of the older signature.
            index.note(collection.id, {**changes.facts, "signature": ""})
        reading = _Reading(collection.id, plan, dict(changes.failed))
        work = Upkeep(index, collection.id, plan, reading.spoiled)
        finished = work.carry_out(reading.outcomes(source, check), stop, report)
        failed: dict[str, Failed] = {}
        if survey is not None:
            failed = {one.document: one for one in survey.failed}
            facts = {
                "project": self.ports.sources.project,
                "name": survey.about.name,
                "version": survey.about.version,
                "description": survey.about.description,
                "signature": survey.signature if finished else "",
                "failed": {name: list(why) for name, why in reading.failed.items()},
            }
            if facts != changes.facts:
                index.note(collection.id, facts)
        failed |= {name: Failed(name, reason) for name, (_, reason) in reading.failed.items()}
        return Outcome(
            collection.alias, work.added, work.updated, len(plan.gone), tuple(failed.values()), finished
        )

    def facts(self, corpus: str) -> Mapping[str, Any]:
        """What was noted of a collection; nothing before its first sync."""
        with self.ports.index.reading() as snapshot:
            return snapshot.corpus_facts(corpus) or {}


@frozen
class _Reading:
    """Reads the changed documents of a collection; notes stamp and reason of those that fail."""

    corpus: str
    plan: IndexPlan
    failed: dict[str, tuple[str, str]]

    def outcomes(self, source: CollectionSource, check: Check) -> Iterator[Read]:
        """Read every changed document."""
        for found in source.read(list(self.plan.changed)) if self.plan.changed else ():
            check()
            if isinstance(found, Failed):
                yield self._fail(found.document, found.reason, found.passing)
            elif self.plan.has(found.document, found.digest):
                yield Unchanged(found.document, found.stamp)
            else:
                try:
                    made: Read = entry_of(self.corpus, found)
                except Exception as error:  # a text that our own code cannot take apart costs no other one
                    made = self._fail(found.document, f"it cannot be taken apart ({type(error).__name__})")
                yield made

    def spoiled(self, entry: IndexEntry, error: Exception) -> Read:
        """A document that cannot be tokenised or embedded."""
        return self._fail(entry.key, f"it cannot be indexed ({type(error).__name__})")

    def _fail(self, document: str, reason: str, passing: bool = False) -> Read:
        file = self.plan.changed.get(document)
        self.failed[document] = ("" if file is None else file.stamp, reason)
        return Unchanged(document, "") if passing else Gone(document)
