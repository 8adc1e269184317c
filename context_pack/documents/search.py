"""Searches collections: one question, several at once, or documents like another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from context_pack.documents.commands import (
    MAX_QUERY,
    BatchQuestion,
    FindRelated,
    SearchBatch,
    SearchDocuments,
)
from context_pack.documents.model import Catalogue, Collection
from context_pack.documents.ports import Check
from context_pack.documents.shelf import NOTHING_CONFIGURED, DocumentShelf
from context_pack.documents.sync import TASK, IndexFreshness
from context_pack.kernel.errors import Failure, invalid
from context_pack.retrieval.model import Progress, Question, Ranked, Ranking, Scope
from context_pack.retrieval.searching import Searching, budget_beside
from context_pack.retrieval.upkeep import embed_rest

AHEAD = 3
"""How many times as many passages are looked at as are wanted, so that other sections come in."""


@frozen
class RankedPassage:
    """A ranked passage and the collection it is in."""

    collection: Collection
    ranked: Ranked


@frozen
class Answered:
    """The passages for one question, or why nothing could be searched."""

    query: str
    hits: tuple[RankedPassage, ...] = ()
    error: str | None = None
    embedder: str = ""
    """The embedder that measured the distances; empty where nothing was searched."""


@frozen
class SearchAnswers:
    """Answers, and what an answer says of the index behind them."""

    answers: tuple[Answered, ...]
    embedder: str
    stale: bool = False
    semantic: Progress | None = None
    warning: str | None = None


class Finder:
    """Searches the collections of a shelf."""

    def __init__(self, shelf: DocumentShelf, monotonic: Callable[[], float]) -> None:
        ports = self._ports = shelf.ports
        self._shelf = shelf
        budget = budget_beside(ports.background)
        self._searching = Searching(
            ports.index, ports.fast, ports.semantic, monotonic=monotonic, budget=budget
        )
        self.fill = self._searching.fill

    def search(self, command: SearchDocuments, check: Check = lambda: None) -> SearchAnswers:
        """The passages that answer one question."""
        catalogue = self._shelf.catalogue()
        question = (command.query, self._shelf.chosen(command.collections, catalogue))
        return self._answered([question], command, check, catalogue)

    def batch(self, command: SearchBatch, check: Check = lambda: None) -> SearchAnswers:
        """The passages that answer each question; a bad one fails alone."""
        catalogue = self._shelf.catalogue()
        questions: list[tuple[str, list[Collection] | Failure]] = []
        for one in command.queries:
            try:
                questions.append((_checked(one), self._shelf.chosen(one.collections, catalogue)))
            except Failure as failure:
                questions.append((one.query, failure))
        return self._answered(questions, command, check, catalogue)

    def related(
        self, command: FindRelated, check: Check = lambda: None
    ) -> tuple[Collection, str, SearchAnswers]:
        """What is like a document or a text, within the document's collection.

        Raises:
            Failure: `not_found`.
        """
        collection, entry, freshness = self._shelf.document(command.collection, command.document, check)
        ranking = self._searching.related(
            collection.id, entry.key, command.chunk, command.limit, command.same_document
        )
        answered = Answered("", _passages(ranking.hits, [collection]))
        return collection, entry.key, self._described([answered], [ranking], freshness)

    def _answered(
        self,
        questions: Sequence[tuple[str, list[Collection] | Failure]],
        command: SearchDocuments | SearchBatch,
        check: Check,
        catalogue: Catalogue,
    ) -> SearchAnswers:
        """Search the valid questions together; invalid ones keep their error in their place."""
        valid = [(query, where) for query, where in questions if not isinstance(where, Failure)]
        searched = {one.id: one for _, where in valid for one in where}
        freshness = self._shelf.bring_up_to_date(list(searched.values()), check, catalogue.problems)
        rankings = self._searching.ask(
            [
                Question(
                    query,
                    Scope(corpora=tuple(one.id for one in where)),
                    command.limit * AHEAD,
                    command.max_distance,
                    command.hybrid,
                )
                for query, where in valid
            ]
        )
        rest, answers = iter(rankings), []
        for query, where in questions:
            if isinstance(where, Failure):
                answers.append(Answered(query, error=where.message))
            else:
                ranking = next(rest)
                hits = _passages(_by_section(ranking.hits)[: command.limit], where)
                answers.append(Answered(query, hits, embedder=ranking.embedder))
        if not catalogue.collections:
            freshness = IndexFreshness(freshness.stale, (NOTHING_CONFIGURED, *freshness.warnings))
        return self._described(answers, rankings, freshness)

    def _described(
        self, answers: Sequence[Answered], rankings: Sequence[Ranking], freshness: IndexFreshness
    ) -> SearchAnswers:
        """The answers with what is to be said of the index, and every warning in one line."""
        ports = self._ports
        progress = next((one.semantic for one in rankings if one.semantic is not None), None)
        trouble = embed_rest(ports.background, TASK, progress)
        warnings = [ports.warning, *(one.warning for one in rankings), trouble, *freshness.warnings]
        embedder = rankings[0].embedder if rankings else ports.fast.id
        warning = "; ".join(dict.fromkeys(filter(None, warnings))) or None
        return SearchAnswers(tuple(answers), embedder, freshness.stale, progress, warning)


def _checked(question: BatchQuestion) -> str:
    """The words of a question.

    Raises:
        Failure: `invalid_data` for none, or too many.
    """
    if not question.query.strip():
        raise invalid("'query' must not be blank", "query")
    if len(question.query) > MAX_QUERY:
        raise invalid(f"'query' must have at most {MAX_QUERY} characters", "query")
    return question.query


def _by_section(hits: Sequence[Ranked]) -> list[Ranked]:
    """The best passage of each section first, then the others; relevance never rises."""
    best = {
        (hit.found.corpus, hit.found.key, *hit.found.facts.get("path", ())): hit for hit in reversed(hits)
    }
    first = {hit.found.piece for hit in best.values()}
    ordered: list[Ranked] = []
    for hit in sorted(hits, key=lambda hit: hit.found.piece not in first):
        lowest = min(hit.relevance, ordered[-1].relevance) if ordered else hit.relevance
        ordered.append(hit._replace(relevance=lowest))
    return ordered


def _passages(hits: Sequence[Ranked], collections: Sequence[Collection]) -> tuple[RankedPassage, ...]:
    # A source may have two names: the first one asked for is shown.
    by_id = {collection.id: collection for collection in reversed(collections)}
    return tuple(RankedPassage(by_id[hit.found.corpus], hit) for hit in hits)
