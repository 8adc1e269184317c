"""Bringing the index of a collection up to date, by state and then by content.

What the index remembers is asked for before the source is looked at, so that what another process adds
meanwhile is never taken for gone. Documents are stored whole, a few at a time, with the state they were read
in: whoever is killed on the way has lost a few, and the next run goes on from there. A document that fails is
told, not counted; its old version goes only when the document has gone or changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, evolve, field

from context_pack.documents.domain.model import Changes, Collection, Failed, Outcome, Survey, Text
from context_pack.documents.domain.sections import document_title, suffix_of
from context_pack.documents.ports import Check, DocumentPorts, Source
from context_pack.kernel.digest import sha256_hex
from context_pack.kernel.errors import Failure
from context_pack.retrieval.chunking import chunks
from context_pack.retrieval.model import Entry, Known
from context_pack.retrieval.ports import Stop

ERRAND = "documents"
SMALL_DOCUMENTS = 100
SMALL_BYTES = 1024 * 1024
BATCH_DOCUMENTS = 32
BATCH_CHARS = 400_000

Report = Callable[[int, int, str], None]
"""(documents done, documents to do, the one that was done last)."""


def quiet(_: int, __: int, ___: str) -> None:
    """Nobody listens."""


def never() -> bool:
    """Nobody stops."""
    return False


class Syncing:
    """Brings collections up to date."""

    def __init__(self, ports: DocumentPorts) -> None:
        self._ports = ports

    def sync(
        self,
        collection: Collection,
        *,
        fetch: bool = True,
        report: Report = quiet,
        stop: Stop = never,
        check: Check = lambda: None,
    ) -> Outcome:
        """Bring one collection up to date, alone among processes; what fails is in the outcome."""
        try:
            done = self._attempt(collection, fetch, report, stop, check, self._ports.background is not None)
            return self._delegated(collection, report, stop, check) if done is None else done
        except Failure as failure:
            return Outcome(collection.alias, failed=(Failed(collection.where.name, failure.message),))

    def _attempt(
        self, collection: Collection, fetch: bool, report: Report, stop: Stop, check: Check, leave: bool
    ) -> Outcome | None:
        """Do the work here and now; None if it is large and is to be left."""
        with (
            self._ports.turns.everywhere(collection.id, check),
            self._ports.sources.open(collection, fetch, check) as source,
        ):
            changes = self.changes(collection, source, again=True)
            if leave and not is_small(changes):
                return None
            return self.carry_out(collection, source, changes, report, stop, check)

    def _delegated(self, collection: Collection, report: Report, stop: Stop, check: Check) -> Outcome:
        """Let the worker do what is large, so that others are answered meanwhile, and do what is left."""
        worker, corpus = self._ports.background, collection.id
        before, state = self._digests(corpus), self.facts(corpus).get("state")

        def done() -> bool:
            now = self.facts(corpus).get("state")
            return worker is None or not worker.running(ERRAND) or (bool(now) and now != state)

        if worker is not None and worker.start(ERRAND):
            self._ports.turns.until(done, check)
        outcome = self._attempt(collection, False, report, stop, check, False)
        assert outcome is not None
        after = self._digests(corpus)
        return evolve(
            outcome,
            added=len(after.keys() - before.keys()),
            updated=sum(before[name] != after[name] for name in after.keys() & before.keys()),
            removed=len(before.keys() - after.keys()),
        )

    def _digests(self, corpus: str) -> dict[str, str]:
        return {name: known.digest for name, known in self._ports.index.known(corpus).items()}

    def look(self, collection: Collection, explain: bool = True) -> Changes:
        """What a sync would find, without writing anything; what cannot be read is among the failed."""
        with self._ports.sources.open(collection) as source:
            changes = self.changes(collection, source, again=True, explain=explain)
            survey = changes.survey
            assert survey is not None
            failed = [one for one in source.read([*changes.new, *changes.changed]) if isinstance(one, Failed)]
            gone = {one.document for one in failed}
            return evolve(
                changes,
                survey=evolve(survey, failed=(*survey.failed, *failed)),
                new=tuple(name for name in changes.new if name not in gone),
                changed=tuple(name for name in changes.changed if name not in gone),
            )

    def changes(
        self, collection: Collection, source: Source, again: bool = False, explain: bool = False
    ) -> Changes:
        """What the index lacks; `again` tries what failed before, whether or not it has changed."""
        index, corpus = self._ports.index, collection.id
        facts = self.facts(corpus)
        before = _failures(facts)
        state = str(facts.get("state", ""))
        survey = source.survey("" if again else str(facts.get("signature", "")), explain)
        if survey is None:
            return Changes(failed=before)
        if state and state == state_of(survey) and not (again and before):
            return Changes(survey, failed=before, facts=facts)
        # What is known is asked for before the look that counts: see above.
        known = index.known(corpus)
        survey = source.survey("", explain)
        assert survey is not None
        return self._compared(known, survey, {} if again else before, facts)

    @staticmethod
    def _compared(
        known: Mapping[str, Known],
        survey: Survey,
        before: Mapping[str, tuple[str, str]],
        facts: Mapping[str, Any],
    ) -> Changes:
        """What differs between what the index knows and what the source holds."""
        new, changed, size, kept = [], [], 0, {}
        for document, file in survey.files.items():
            was = known.get(document)
            if was is not None:
                if was.stamp == file.stamp:
                    continue
                changed.append(document)
            elif document in before and before[document][0] == file.stamp:
                kept[document] = before[document]
                continue
            else:
                new.append(document)
            size += file.size
        gone = tuple(document for document in known if document not in survey.files)
        digests = {document: known[document].digest for document in changed}
        return Changes(survey, tuple(new), tuple(changed), gone, size, digests, kept, facts)

    def carry_out(
        self,
        collection: Collection,
        source: Source,
        changes: Changes,
        report: Report = quiet,
        stop: Stop = never,
        check: Check = lambda: None,
    ) -> Outcome:
        """Do what the changes ask for."""
        survey = changes.survey
        if survey is None:
            told = tuple(Failed(name, reason) for name, (_, reason) in changes.failed.items())
            return Outcome(collection.alias, failed=told)
        if changes.count and changes.facts.get("state"):
            # Whoever finds the work half done must not take the index for the state it had before.
            self._ports.index.note(collection.id, {**changes.facts, "state": ""})
        work = _Work(self._ports, collection.id, changes)
        wanted = [*changes.new, *changes.changed]
        finished = True
        if changes.gone:
            self._ports.index.forget(collection.id, changes.gone)
        for number, found in enumerate(source.read(wanted) if wanted else (), start=1):
            check()
            work.take(found)
            report(number, len(wanted), found.document)
            if stop():
                finished = number == len(wanted)
                break
        work.flush()
        self._note(collection.id, changes, survey, {**changes.failed, **work.failed}, finished)
        failed = {
            **{one.document: one for one in survey.failed},
            **{name: Failed(name, reason) for name, (_, reason) in changes.failed.items()},
            **{name: Failed(name, reason) for name, (_, reason) in work.failed.items()},
        }
        return Outcome(
            collection.alias, work.added, work.updated, len(changes.gone), tuple(failed.values()), finished
        )

    def facts(self, corpus: str) -> Mapping[str, Any]:
        """What was noted of a collection; nothing before its first sync."""
        with self._ports.index.reading() as snapshot:
            return snapshot.corpus_facts(corpus) or {}

    def _note(
        self,
        corpus: str,
        changes: Changes,
        survey: Survey,
        failed: Mapping[str, tuple[str, str]],
        finished: bool,
    ) -> None:
        """Remember what the source says of itself and its state; an unchanged note is not written again."""
        state = state_of(survey) if finished else ""
        if state and state == changes.facts.get("state") and not changes.count:
            return
        about = survey.about
        facts = {
            "project": self._ports.sources.catalogue().project,
            "name": about.name,
            "version": about.version,
            "description": about.description,
            "signature": survey.signature if finished else "",
            "state": state,
            "failed": {name: list(why) for name, why in failed.items()},
        }
        self._ports.index.note(corpus, facts)


@define
class _Work:
    """One run over the documents of one collection."""

    ports: DocumentPorts
    corpus: str
    changes: Changes
    added: int = 0
    updated: int = 0
    failed: dict[str, tuple[str, str]] = field(factory=dict)
    _batch: list[Entry] = field(factory=list, init=False)
    _stamps: dict[str, str] = field(factory=dict, init=False)
    _chars: int = field(default=0, init=False)

    def take(self, found: Text | Failed) -> None:
        """Deal with one document that was read."""
        known = self.changes.digests.get(found.document)
        if isinstance(found, Failed):
            survey = self.changes.survey
            file = survey.files.get(found.document) if survey is not None else None
            self.failed[found.document] = ("" if file is None else file.stamp, found.reason)
            if known is not None and not found.passing:
                self.ports.index.forget(self.corpus, [found.document])
            return
        if known == found.digest:
            self._stamps[found.document] = found.stamp
        else:
            self._batch.append(entry_of(self.corpus, found))
            self._chars += len(found.text)
        if len(self._batch) + len(self._stamps) >= BATCH_DOCUMENTS or self._chars >= BATCH_CHARS:
            self.flush()

    def flush(self) -> None:
        """Store what was gathered; only what is stored is counted."""
        if self._stamps:
            self.ports.index.touch(self.corpus, self._stamps)
        if self._batch:
            self.ports.index.replace(self._batch)
            updated = sum(entry.key in self.changes.digests for entry in self._batch)
            self.updated += updated
            self.added += len(self._batch) - updated
        self._batch, self._stamps, self._chars = [], {}, 0


def entry_of(corpus: str, found: Text) -> Entry:
    """The document as the index stores it."""
    suffix, title = suffix_of(found.document), document_title(found.document, found.text)
    return Entry(
        corpus,
        found.document,
        found.digest,
        found.stamp,
        title,
        len(found.text),
        found.text,
        pieces=chunks(found.text, suffix=suffix, title=title, key=found.document),
    )


def is_small(changes: Changes) -> bool:
    """Whether the changes can be indexed while somebody waits."""
    return len(changes.new) + len(changes.changed) <= SMALL_DOCUMENTS and changes.size <= SMALL_BYTES


def state_of(survey: Survey) -> str:
    """One digest of all that a survey says: the same digest, nothing to do."""
    about = survey.about
    rows = [f"{document}\n{file.stamp}" for document, file in survey.files.items()]
    rows.sort()
    told = [f"{one.document}\n{one.reason}" for one in survey.failed]
    return sha256_hex("\n".join([about.name, about.version or "", about.description or "", *told, "", *rows]))


def _failures(facts: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    return {name: (str(why[0]), str(why[1])) for name, why in dict(facts.get("failed", {})).items()}
