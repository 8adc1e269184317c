"""Bringing the index of a collection up to date, by state and then by content.

What the index remembers is asked for before the source is looked at, so that what another process adds
meanwhile is never taken for gone. Documents are stored whole, a few at a time, with the state they were read
in: whoever is killed on the way has lost a few, and the next run goes on from there. A document that fails is
told, not counted; its old version goes only when the document has gone or changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve

from context_pack.documents.domain.comparing import compared, is_small, state_of
from context_pack.documents.domain.model import Changes, Collection, Failed, Outcome, Survey
from context_pack.documents.ports import Check, DocumentPorts, Source
from context_pack.documents.usecases.storing import Storing
from context_pack.kernel.errors import Failure
from context_pack.retrieval.ports import Stop

ERRAND = "documents"

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
        state = self.facts(corpus).get("state")

        def done() -> bool:
            now = self.facts(corpus).get("state")
            return worker is None or not worker.running(ERRAND) or (bool(now) and now != state)

        if worker is not None and worker.start(ERRAND):
            self._ports.turns.until(done, check)
        outcome = self._attempt(collection, False, report, stop, check, False)
        assert outcome is not None
        return outcome

    def digests(self, corpus: str) -> dict[str, str]:
        """The content of each document that the index has, by its name."""
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
        return compared(known, survey, {} if again else before, facts)

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
        work = Storing(self._ports, collection.id, changes)
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


def _failures(facts: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    return {name: (str(why[0]), str(why[1])) for name, why in dict(facts.get("failed", {})).items()}
