"""Syncs several collections, one after the other, and drops those no longer configured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import evolve

from context_pack.documents.domain.model import Collection, Outcome
from context_pack.documents.ports import Check
from context_pack.documents.usecases.shelf import DocumentShelf
from context_pack.retrieval.model import KnownEntry
from context_pack.retrieval.ports import Stop
from context_pack.retrieval.upkeep import Report


def sync_all(
    shelf: DocumentShelf,
    collections: Iterable[Collection],
    *,
    fetch: bool = True,
    report: Report = lambda _, __, ___: None,
    stop: Stop = lambda: False,
    check: Check = lambda: None,
) -> list[Outcome]:
    """Bring these collections up to date; what fails in one does not keep the others.

    A worker that does one large collection goes on with the others by itself: then what the index has now is
    compared with what it had, whoever has done it.
    """
    outcomes, chosen = [], list(collections)
    known = shelf.ports.index.known
    before = {one.id: known(one.id) for one in chosen} if shelf.ports.background is not None else {}
    for collection in chosen:
        if stop():
            break
        outcome = shelf.syncing.sync(collection, fetch=fetch, report=report, stop=stop, check=check)
        if collection.id in before:
            outcome = _counted(outcome, before[collection.id], known(collection.id))
        outcomes.append(outcome)
        shelf.freshness.forget(collection)
    forget_unnamed(shelf)
    return outcomes


def under_every_name(shelf: DocumentShelf, outcomes: Iterable[Outcome]) -> list[Outcome]:
    """The outcomes of all collections, with those that have several names under each of them."""
    known = shelf.catalogue().collections
    named = list(outcomes)
    done = {known[one.collection].id: one for one in named if one.collection in known}
    every = [evolve(done[one.id], collection=alias) for alias, one in known.items() if one.id in done]
    return [*every, *(one for one in named if one.collection not in known)]


def _counted(outcome: Outcome, before: Mapping[str, KnownEntry], after: Mapping[str, KnownEntry]) -> Outcome:
    """The outcome with counts from comparing the index before and after."""
    return evolve(
        outcome,
        added=len(after.keys() - before.keys()),
        updated=sum(before[name].digest != after[name].digest for name in after.keys() & before.keys()),
        removed=len(before.keys() - after.keys()),
    )


def forget_unnamed(shelf: DocumentShelf) -> None:
    """Drop what the index has of this project's collections that are configured no more."""
    catalogue, project = shelf.catalogue(), shelf.ports.sources.project
    if catalogue.problems:
        return  # a file that cannot be read names nothing, and that is no reason to forget everything
    configured = {collection.id for collection in catalogue.collections.values()}
    with shelf.ports.index.reading() as snapshot:
        gone = [
            corpus
            for corpus in snapshot.counts()
            if corpus not in configured and (snapshot.corpus_facts(corpus) or {}).get("project") == project
        ]
    for corpus in gone:
        shelf.ports.index.forget(corpus)
