"""Bringing the index of a collection up to date, by state and then by content.

A document that fails is told, not counted; its old version goes only when the document has gone or changed.
What the index has is asked for before the survey that says what is gone: then what another process adds
meanwhile is never taken for gone. Before an answer `bring_up_to_date` does it as far as that is quick.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import asdict, evolve, frozen

from context_pack.documents.model import Collection, DocumentText, Failed, Outcome, Survey
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


@frozen
class IndexFreshness:
    """Whether the index lags behind its sources, and the warnings for the caller."""

    stale: bool = False
    warnings: tuple[str, ...] = ()


@frozen
class Changes:
    """What the index of a collection lacks, and what was noted of the collection before."""

    survey: Survey
    plan: IndexPlan
    failed: Mapping[str, tuple[str, str]]
    """Documents that failed before and have not changed since: stamp and reason."""
    facts: Mapping[str, Any]


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
                changes = self._changes(collection, source, again=True)
                assert changes is not None, "a source without a signature is always surveyed"
                return self._carry_out(collection, source, changes, report, stop, check)
        except Failure as failure:
            return _failed(collection, failure)

    def planned(self, collection: Collection) -> Outcome:
        """What a sync would do, without a fetch and without writing."""
        try:
            source = self.ports.sources.open(collection)
            changes = self._changes(collection, source, again=True)
            assert changes is not None
            plan = changes.plan
            unread = [text for text in source.read(list(plan.changed)) if isinstance(text, Failed)]
        except Failure as failure:
            return _failed(collection, failure)
        changed = plan.changed.keys() - {one.document for one in unread}
        updated = len(changed & plan.known.keys())
        failed = (*changes.survey.failed, *unread)
        return Outcome(collection.alias, len(changed) - updated, updated, len(plan.gone), failed)

    def bring_up_to_date(
        self, collections: Sequence[Collection], check: Check = lambda: None, problems: Sequence[str] = ()
    ) -> IndexFreshness:
        """Bring these collections up to date as far as that is quick, and say how fresh they are.

        The `problems` of their configuration are among the warnings.
        """
        stale, warnings = False, list[str]()
        for collection in collections:
            try:
                stale |= not self._is_brought_up_to_date(collection, check)
            except Failure as failure:
                is_remote = not (collection.shared or collection.where.is_local)
                if is_remote and self._facts(collection.id):
                    continue  # what was fetched before answers
                words = f'collection "{collection.alias}": {failure.message}'
                if is_remote and failure.code is Code.NOT_FOUND:
                    words = f'collection "{collection.alias}" was never fetched: call documents_sync first'
                warnings.append(words)
        warnings += self.ports.index.notices()
        return IndexFreshness(stale, (*problems, *dict.fromkeys(warnings)))

    def _is_brought_up_to_date(self, collection: Collection, check: Check) -> bool:
        """Whether the index is as the source now; False where the background has to make it so."""
        source = self.ports.sources.open(collection, check=check)
        changes = self._changes(collection, source)
        if changes is not None:
            if changes.plan.is_left_to(self.ports.background, TASK, FEW_DOCUMENTS):
                return False
            self._carry_out(collection, source, changes, check=check)
        return True

    def _changes(
        self, collection: Collection, source: CollectionSource, again: bool = False
    ) -> Changes | None:
        """Compare source and index; None where the source is as it was.

        `again` looks at every source, and at documents that failed before and have not changed since.
        """
        facts = self._facts(collection.id)
        remembered = {} if again else facts
        known = self.ports.index.known(collection.id)
        survey = source.survey(str(remembered.get("signature", "")))
        if survey is None:
            return None
        failed = {name: (stamp, reason) for name, (stamp, reason) in remembered.get("failed", {}).items()}
        plan = compared(known, survey.files, {name: stamp for name, (stamp, _) in failed.items()})
        # What is in a folder that cannot be listed now may well be there.
        unseen = tuple(one.document for one in survey.failed if one.passing)
        plan = evolve(plan, gone=tuple(key for key in plan.gone if not key.startswith(unseen)))
        same = survey.files.keys() - plan.changed.keys() - known.keys()
        return Changes(survey, plan, {name: why for name, why in failed.items() if name in same}, facts)

    def _carry_out(
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
        failed = dict(changes.failed)

        def fail(document: str, reason: str, passing: bool = False) -> Read:
            file = plan.changed.get(document)
            failed[document] = ("" if file is None else file.stamp, reason)
            return Unchanged(document, "") if passing else Gone(document)

        def spoiled(entry: IndexEntry, error: Exception) -> Read:
            return fail(entry.key, f"it cannot be indexed ({type(error).__name__})")

        def outcomes() -> Iterator[Read]:
            for text in source.read(list(plan.changed)) if plan.changed else ():
                check()
                if isinstance(text, Failed):
                    yield fail(text.document, text.reason, text.passing)
                elif plan.has(text.document, text.digest):
                    yield Unchanged(text.document, text.stamp)
                else:
                    try:
                        outcome: Read = _entry_of(collection.id, text)
                    except Exception as error:  # a text that our own code cannot take apart costs no other
                        outcome = fail(text.document, f"it cannot be taken apart ({type(error).__name__})")
                    yield outcome

        work = Upkeep(index, collection.id, plan, spoiled)
        finished = work.carry_out(outcomes(), stop, report)
        facts = {
            "project": self.ports.sources.project,
            **asdict(survey.about),
            "signature": survey.signature if finished else "",
            "failed": {name: list(why) for name, why in failed.items()},
        }
        if facts != changes.facts:
            index.note(collection.id, facts)
        by_name = {one.document: one for one in survey.failed}
        by_name |= {name: Failed(name, reason) for name, (_, reason) in failed.items()}
        return Outcome(
            collection.alias, work.added, work.updated, len(plan.gone), tuple(by_name.values()), finished
        )

    def _facts(self, corpus: str) -> Mapping[str, Any]:
        """What was noted of a collection; nothing before its first sync."""
        with self.ports.index.reading() as snapshot:
            return snapshot.corpus_facts(corpus) or {}


def _entry_of(corpus: str, text: DocumentText) -> IndexEntry:
    """The document as the index stores it."""
    title, pieces = chunks(text.text, text.document)
    size = len(text.text)
    return IndexEntry(corpus, text.document, text.digest, text.stamp, title, size, text.text, pieces=pieces)


def _failed(collection: Collection, failure: Failure) -> Outcome:
    """The outcome of a collection of which nothing can be had."""
    return Outcome(collection.alias, failed=(Failed(collection.where.name, failure.message),))
