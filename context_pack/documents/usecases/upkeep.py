"""Bringing several collections up to date, one after the other, and forgetting those that nobody names."""

from __future__ import annotations

from collections.abc import Iterable

from context_pack.documents.domain.model import Collection, Outcome
from context_pack.documents.ports import Check
from context_pack.documents.usecases.shelf import Shelf
from context_pack.documents.usecases.sync import Report, never, quiet
from context_pack.retrieval.ports import Stop


def sync_all(
    shelf: Shelf,
    collections: Iterable[Collection],
    *,
    fetch: bool = True,
    report: Report = quiet,
    stop: Stop = never,
    check: Check = lambda: None,
) -> list[Outcome]:
    """Bring these collections up to date; what fails in one does not keep the others."""
    outcomes = []
    for collection in collections:
        if stop():
            break
        outcome = shelf.syncing.sync(collection, fetch=fetch, report=report, stop=stop, check=check)
        outcomes.append(outcome)
        shelf.currency.forget(collection)
    forget_unnamed(shelf)
    return outcomes


def forget_unnamed(shelf: Shelf) -> None:
    """Drop what the index has of this project's collections that are configured no more."""
    catalogue = shelf.catalogue()
    if catalogue.problems or not catalogue.project:
        return  # a file that cannot be read names nothing, and that is no reason to forget everything
    configured = {collection.id for collection in catalogue.collections.values()}
    with shelf.ports.index.reading() as snapshot:
        gone = [
            corpus
            for corpus in snapshot.counts()
            if corpus not in configured
            and (snapshot.corpus_facts(corpus) or {}).get("project") == catalogue.project
        ]
    for corpus in gone:
        shelf.ports.index.forget(corpus)
