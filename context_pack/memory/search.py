"""`context_search`: what a call may ask, and the search over everything that memory holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import evolve, frozen

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.memory.discovery import DiscoveryType, place_of_record, place_shown
from context_pack.memory.entries import CODE, CORPORA, DISCOVERY, NOTES
from context_pack.memory.excerpts import after_successors, parts_of, whole
from context_pack.memory.ports import MemoryPorts
from context_pack.memory.question_words import QuestionWords
from context_pack.memory.ranking import (
    AGAIN,
    AGAIN_OF_MANY,
    joined,
    ranked,
    ranked_notes,
    shown,
    with_own_places,
)
from context_pack.memory.refresh import TASK, Refresher, Tell
from context_pack.memory.stores import CodePlaces
from context_pack.retrieval.model import Progress, Question, Ranked, Ranking, Scope
from context_pack.retrieval.ranking import FLOOR
from context_pack.retrieval.searching import DOUBTFUL
from context_pack.retrieval.upkeep import embed_rest
from context_pack.toolkit.arguments import arg, array, choice, integer, text
from context_pack.toolkit.limits import DEFAULT_MAX_TOKENS, LEAST_TOKENS, MOST_TOKENS

LEAST_QUERY, MOST_QUERY = 3, 500
DEFAULT_LIMIT, MOST_LIMIT = 5, 20
WEIGHED = 200
"""How many hits are weighed before the best are shown: all that words and vectors bring up."""
WORDLESS_FLOOR, NEVER = DOUBTFUL, 2.0
ALL = "all"
TOO_SHORT = f"Query must be at least {LEAST_QUERY} characters"
NOTHING = "No embeddings found. Run initial session to generate context."
NOTHING_FALLBACK = "Use grep_codebase for text search"
EMBEDDER_FAILED = "Failed to generate query embedding"


@frozen
class ContextSearch:
    """The arguments of `context_search`."""

    query: str = arg(text(LEAST_QUERY, MOST_QUERY), "What to find")
    type: str = arg(choice(ALL, *DiscoveryType), "Only such discoveries", default=ALL)
    module: str | None = arg(text(0, 200), "Only this module", default=None)
    limit: int = arg(integer(1, MOST_LIMIT), "Most results", default=DEFAULT_LIMIT)
    sources: tuple[str, ...] = arg(array(choice(*CORPORA), 0, len(CORPORA)), "Only these", default=())
    max_tokens: int = arg(
        integer(LEAST_TOKENS, MOST_TOKENS),
        "Most tokens",
        name="maxTokens",
        default=DEFAULT_MAX_TOKENS,
    )


def check_query(query: object) -> None:
    """Refuse a text that is too short to be looked for, in the contract's own words.

    Raises:
        Failure: `invalid_data`.
    """
    if isinstance(query, str) and (len(query) < LEAST_QUERY or not query.strip()):
        raise Failure(Code.INVALID_DATA, TOO_SHORT)


@frozen
class FoundInMemory:
    """What was found, of how much (or of more), how it was found and how complete the index is."""

    hits: tuple[Ranked, ...]
    total: int
    milliseconds: int
    indexing: Progress | None = None
    semantic: Progress | None = None
    keyword_only: bool = False
    more: bool = False
    warnings: tuple[str, ...] = ()


@frozen
class MemorySearcher:
    """Searches discoveries, sessions, packs and code."""

    ports: MemoryPorts
    refresher: Refresher
    monotonic: Callable[[], float]
    places: CodePlaces

    def search(
        self,
        command: ContextSearch,
        check: Callable[[], None] = lambda: None,
        tell: Tell = lambda _, __: None,
        most: int | None = None,
    ) -> FoundInMemory:
        """The best matches, after indexing changes; `tell` gets the progress of a first index.

        `most` is for our own uses that want more hits than a call may ask for.

        Raises:
            Failure: `invalid_data`, `nothing_indexed`, `embedder_failed`, or what a store raises.
            Cancelled: the caller has withdrawn the call.
        """
        limit = command.limit if most is None else most
        start = self.monotonic()
        refreshed = self.refresher.refresh(check, tell)
        check()
        names = tuple(sorted(QuestionWords.of(command.query).names))
        scope = scope_of(command)
        question = Question(command.query, scope, max(limit, WEIGHED), plain=True, names=names)
        corpora = tuple(each for each in NOTES if each in (scope.corpora or CORPORA))
        of_notes = Question(command.query, evolve(scope, corpora=corpora), max(limit, WEIGHED), nearest=True)
        all_of_it, ranking = self.ports.searching.ask([question, of_notes])
        by_meaning = ranking.embedder != self.ports.searching.fast.id
        if trouble := embed_rest(self.ports.background, TASK, ranking.semantic):
            ranking = evolve(ranking, warning=ranking.warning or trouble)
        if not all_of_it.hits and not ranking.hits and refreshed.indexing is None and self._is_empty():
            raise Failure(Code.NOTHING_INDEXED, NOTHING, {"fallback": NOTHING_FALLBACK})
        # What is below the floor has nothing to do with the question: showing it would be no answer.
        floor = self._floor(all_of_it)
        again = AGAIN if limit <= MOST_LIMIT else AGAIN_OF_MANY
        weighed = ranked(all_of_it.hits, command.query, all_of_it.weight, again)
        kept = [each for each in weighed if each[0] >= floor or each[1].found.corpus != CODE]
        least = FLOOR if by_meaning else floor
        notes = ranked_notes(ranking.hits, command.query, ranking.weight, least, by_meaning)
        worth = after_successors(joined(kept, notes))
        worth = with_own_places(worth, command.query, limit, by_meaning) if most is None else worth
        hits = self._with_states(tuple(shown(self._whole(worth, limit))), check)
        if ranking.warning and not hits and self._has(question.scope):
            raise _failed(ranking.warning, refreshed.indexing)
        return FoundInMemory(
            hits,
            len(worth),
            round((self.monotonic() - start) * 1000),
            refreshed.indexing,
            ranking.semantic,
            ranking.warning is not None or ranking.mode == "keyword",
            all_of_it.more or ranking.more,
            (*refreshed.warnings, *filter(None, (ranking.warning or self.ports.warning,))),
        )

    def _whole(self, worth: Sequence[tuple[float, Ranked]], limit: int) -> list[tuple[float, Ranked]]:
        """The first so many hits, definitions whole."""
        wanted = [number for _, hit in worth[: 2 * limit] for number in parts_of(hit.found)]
        if not wanted:
            return list(worth[:limit])
        with self.ports.index.reading() as snapshot:
            return whole(worth, limit, {each.piece: each for each in snapshot.found(wanted)})

    def _with_states(self, hits: tuple[Ranked, ...], check: Callable[[], None]) -> tuple[Ranked, ...]:
        """The hits; discoveries that are about code say how it stands."""
        places = {
            n: place_of_record(code) for n, hit in enumerate(hits) if (code := _code_of(hit)) is not None
        }
        if not places:
            return hits
        states = dict(zip(places, self.places.states(list(places.values()), check), strict=True))
        return tuple(
            hit if n not in places else _about(hit, place_shown(places[n], states[n]))
            for n, hit in enumerate(hits)
        )

    def _is_empty(self) -> bool:
        with self.ports.index.reading() as snapshot:
            return not any(snapshot.counts().get(corpus) for corpus in CORPORA)

    def _floor(self, ranking: Ranking) -> float:
        """The relevance that a hit must have; where no word was found, hashes of its letters prove little."""
        if ranking.embedder != self.ports.searching.fast.id or any(hit.words for hit in ranking.hits):
            return FLOOR
        # An embedder that failed leaves the words; without those there is nothing to show.
        return NEVER if ranking.warning else WORDLESS_FLOOR

    def _has(self, scope: Scope) -> bool:
        """Whether there is anything to find in a scope."""
        with self.ports.index.reading() as snapshot:
            return snapshot.progress(self.ports.searching.fast.id, scope).total > 0


def _code_of(hit: Ranked) -> Any:
    """The code place stored with a discovery."""
    return hit.found.entry_facts.get("code") if hit.found.corpus == DISCOVERY else None


def _about(hit: Ranked, code: dict[str, Any]) -> Ranked:
    facts = {**hit.found.entry_facts, "code": code}
    return hit._replace(found=evolve(hit.found, entry_facts=facts))


def _failed(warning: str, indexing: Progress | None) -> Failure:
    """The failure when the embedder failed and keywords found nothing, perhaps as indexing is incomplete."""
    details: dict[str, object] = {"details": warning}
    if indexing is not None:
        details["indexing"] = {"done": indexing.done, "total": indexing.total}
    return Failure(Code.EMBEDDER_FAILED, EMBEDDER_FAILED, details)


def scope_of(command: ContextSearch) -> Scope:
    """The search scope of a call; a type means discoveries only.

    Raises:
        Failure: `invalid_data` for a type of what is not to be searched.
    """
    module = (command.module or "").strip() or None
    if command.type == ALL:
        return Scope(command.sources or CORPORA, module=module)
    if command.sources and DISCOVERY not in command.sources:
        raise invalid(f"'type' is one of discoveries; leave it out, or add '{DISCOVERY}' to sources", "type")
    return Scope((DISCOVERY,), (command.type,), module=module)
