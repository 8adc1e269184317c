"""Asking collections: one question, several at once, or what is like a document."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from context_pack.documents.domain.model import Collection
from context_pack.documents.ports import Check
from context_pack.documents.usecases.commands import MAX_QUERY, FindRelated, Query, Search, SearchBatch
from context_pack.documents.usecases.freshness import Standing
from context_pack.documents.usecases.shelf import NOTHING_CONFIGURED, Shelf
from context_pack.documents.usecases.sync import TASK
from context_pack.kernel.errors import Failure, invalid
from context_pack.retrieval.model import Progress, Scope
from context_pack.retrieval.ports import Stop
from context_pack.retrieval.searching import Question, Ranked, Ranking, Searching
from context_pack.retrieval.upkeep import embed_rest


@frozen
class Hit:
    """A ranked passage and the collection it is in."""

    collection: Collection
    ranked: Ranked


@frozen
class Answered:
    """What was found for one question, or why nothing could be."""

    query: str
    hits: tuple[Hit, ...] = ()
    error: str | None = None
    embedder: str = ""
    """What measured the distances; empty where nothing was asked."""


@frozen
class Found:
    """Answers, and what an answer says of the index behind them."""

    answers: tuple[Answered, ...]
    embedder: str
    stale: bool = False
    semantic: Progress | None = None
    warning: str | None = None


class Finder:
    """Searches the collections of a shelf."""

    def __init__(self, shelf: Shelf, monotonic: Callable[[], float]) -> None:
        ports = shelf.ports
        self._shelf = shelf
        self._searching = Searching(ports.index, ports.fast, ports.semantic, monotonic=monotonic)

    def search(self, command: Search, check: Check = lambda: None) -> Found:
        """The passages that answer one question."""
        collections = self._shelf.chosen(command.collections)
        standing = self._shelf.bring(collections, check)
        return self._ask(
            [(command.query, collections)],
            [],
            standing,
            command.limit,
            command.max_distance,
            command.hybrid,
        )

    def batch(self, command: SearchBatch, check: Check = lambda: None) -> Found:
        """The passages that answer each question; a bad one fails alone."""
        good: list[tuple[str, list[Collection]]] = []
        order: list[Answered | None] = []
        for query in command.queries:
            try:
                good.append((_checked(query), self._shelf.chosen(query.collections)))
                order.append(None)
            except Failure as failure:
                order.append(Answered(query.query, error=failure.message))
        wanted = {one.id: one for _, collections in good for one in collections}
        standing = self._shelf.bring(list(wanted.values()), check)
        return self._ask(good, order, standing, command.limit, command.max_distance, command.hybrid)

    def related(self, command: FindRelated, check: Check = lambda: None) -> tuple[Collection, str, Found]:
        """What is like a document or a text, within the document's collection.

        Raises:
            Failure: `not_found`.
        """
        collection = self._shelf.find(command.collection)
        standing = self._shelf.bring([collection], check)
        document = self._shelf.document(collection, command.document, command.collection).key
        ranking = self._searching.related(
            collection.id, document, command.chunk, command.limit, command.same_document
        )
        if ranking is None:
            found = Found((Answered(""),), self._shelf.ports.fast.id, standing.stale)
            return collection, document, _told(found, standing, self._shelf.ports.warning)
        answered = Answered("", _hits(ranking, [collection]))
        return collection, document, self._found((answered,), [ranking], standing)

    def fill(
        self, scope: Scope, stop: Stop, report: Callable[[Progress], None] = lambda _: None
    ) -> Progress | None:
        """Embed what has no semantic vector yet; None without a semantic embedder.

        Raises:
            EmbedderFailed: it cannot go on; what it did is kept.
        """
        if self._shelf.ports.semantic is None:
            return None
        return self._searching.fill(scope, stop, report)

    def _ask(
        self,
        good: Sequence[tuple[str, list[Collection]]],
        order: Sequence[Answered | None],
        standing: Standing,
        limit: int,
        max_distance: float | None,
        hybrid: bool,
    ) -> Found:
        """Ask the good questions together and put the answers among the bad ones."""
        questions = [
            Question(query, Scope(corpora=tuple(one.id for one in collections)), limit, max_distance, hybrid)
            for query, collections in good
            if collections
        ]
        rankings = self._searching.ask(questions) if questions else []
        asked = iter(rankings)
        answers = []
        for query, collections in good:
            ranking = next(asked) if collections else None
            if ranking is None:
                answers.append(Answered(query))
            else:
                answers.append(Answered(query, _hits(ranking, collections), embedder=ranking.embedder))
        told = iter(answers)
        merged = [next(told) if one is None else one for one in order] if order else answers
        return self._found(tuple(merged), rankings, standing)

    def _found(self, answers: tuple[Answered, ...], rankings: Sequence[Ranking], standing: Standing) -> Found:
        progress = next((one.semantic for one in rankings if one.semantic is not None), None)
        embed_rest(self._shelf.ports.background, TASK, progress)
        embedder = rankings[0].embedder if rankings else self._shelf.ports.fast.id
        found = Found(answers, embedder, standing.stale, progress)
        words = [one.warning for one in rankings] or [
            None if self._shelf.catalogue().collections else NOTHING_CONFIGURED
        ]
        return _told(found, standing, self._shelf.ports.warning, *words)


def _checked(query: Query) -> str:
    """The words of a question.

    Raises:
        Failure: `invalid_data` for none, or too many.
    """
    if not query.query.strip():
        raise invalid("'query' must not be blank", "query")
    if len(query.query) > MAX_QUERY:
        raise invalid(f"'query' must have at most {MAX_QUERY} characters", "query")
    return query.query


def _hits(ranking: Ranking, collections: Sequence[Collection]) -> tuple[Hit, ...]:
    by_id = {collection.id: collection for collection in collections}
    return tuple(Hit(by_id[ranked.found.corpus], ranked) for ranked in ranking.hits)


def _told(found: Found, standing: Standing, *words: str | None) -> Found:
    """The answer with every warning in one line."""
    warnings = dict.fromkeys(filter(None, (*words, *standing.warnings)))
    return Found(found.answers, found.embedder, found.stale, found.semantic, "; ".join(warnings) or None)
