"""`context_search`: what a call may ask, the search over all that memory holds, and what is shown of hits.

Long definitions are shown whole, code by the lines that match, what no longer holds last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from attrs import evolve, frozen

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.memory.discovery import DiscoveryType, place_of_record, place_shown
from context_pack.memory.entries import CODE, CORPORA, DISCOVERY, NOTES, OF, PART, SUPERSEDED_BY, WITHIN
from context_pack.memory.ports import CodePlaces, MemoryPorts
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
from context_pack.retrieval.model import FoundPiece, Progress, Question, Ranked, Ranking, Scope
from context_pack.retrieval.ranking import FLOOR
from context_pack.retrieval.searching import DOUBTFUL
from context_pack.retrieval.upkeep import embed_rest
from context_pack.retrieval.words import tokens
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


# -- what is shown of hits

SHORT_LINES = 8
"""What has no more lines is shown whole."""
HEAD_LINES, TELLING_LINES = 3, 5
GAP = "…"


def excerpt(text: str, words: Iterable[str]) -> str:
    """The head of a definition and the lines that hold most of the words, gaps marked; a short text whole."""
    lines = text.split("\n")
    if len(lines) <= SHORT_LINES:
        return text
    head, asked = _head(lines), frozenset(words)
    counts = {index: len(asked.intersection(tokens(lines[index]))) for index in range(head, len(lines))}
    best = sorted(filter(counts.get, counts), key=counts.__getitem__, reverse=True)[:TELLING_LINES]
    shown: list[str] = []
    for index, following in pairwise([*range(head), *sorted(best), len(lines)]):
        shown.append(lines[index])
        if following > index + 1:
            shown.append(GAP)
    return "\n".join(shown)


def _head(lines: list[str]) -> int:
    """How many lines the signature takes: up to the one that opens the body, decorators and comments too."""
    for index, line in enumerate(lines[:HEAD_LINES]):
        if line.rstrip().endswith((":", "{", "=>", "=", "do")):
            return index + 1
    return HEAD_LINES


MOST_SHOWN = 150
"""A longer definition is shown in the part that was found."""


def parts_of(found: FoundPiece) -> tuple[int, ...]:
    """The pieces of the definition that a hit is a part of; nothing for a hit that is whole."""
    if found.corpus != CODE or OF not in found.facts:
        return ()
    first = found.piece - int(found.facts[PART])
    return tuple(range(first, first + int(found.facts[OF])))


def whole(
    hits: Iterable[tuple[float, Ranked]], limit: int, pieces: Mapping[int, FoundPiece]
) -> list[tuple[float, Ranked]]:
    """The first so many hits, parts of a definition as all of it, and once, where that is short enough.

    Other parts have the lines of the whole in their facts.
    """
    shown: list[tuple[float, Ranked]] = []
    seen: set[tuple[int, ...]] = set()
    for relevance, hit in hits:
        if len(shown) == limit:
            break
        numbers = parts_of(hit.found)
        if numbers and numbers in seen:
            continue
        parts = [pieces[number] for number in numbers if number in pieces]
        if _is_one(hit.found, parts):
            first, last = parts[0].start, parts[-1].end
            if last - first < MOST_SHOWN:
                seen.add(numbers)
                hit = hit._replace(found=_joined(hit.found, parts))
            else:
                facts = {**hit.found.facts, WITHIN: (first, last)}
                hit = hit._replace(found=evolve(hit.found, facts=facts))
        shown.append((relevance, hit))
    return shown


def _is_one(found: FoundPiece, parts: Sequence[FoundPiece]) -> bool:
    """Whether these are the parts that a hit belongs to, all of them."""
    return (
        len(parts) > 1
        and len(parts) == found.facts[OF]
        and all((part.key, part.heading) == (found.key, found.heading) for part in parts)
    )


def _joined(found: FoundPiece, parts: Sequence[FoundPiece]) -> FoundPiece:
    """All parts as one, with the blank lines between them."""
    text = parts[0].text
    for before, part in pairwise(parts):
        text += "\n" * (part.start - before.end) + part.text
    return evolve(found, text=text, start=parts[0].start, end=parts[-1].end)


def after_successors(hits: Sequence[tuple[float, Ranked]]) -> list[tuple[float, Ranked]]:
    """The hits in their order, but for superseded discoveries: they follow their successors."""
    found = {hit.found.key: number for number, (_, hit) in enumerate(hits) if hit.found.corpus == DISCOVERY}
    if not found:
        return list(hits)

    def order(number: int) -> tuple[int, int]:
        """Where a hit goes: behind the last of its successors, the nearest one first."""
        place, steps, seen = number, 0, {number}
        while True:
            successor = hits[number][1].found.entry_facts.get(SUPERSEDED_BY)
            after = found.get(str(successor)) if successor is not None else None
            if after is None or after in seen:
                return place, steps
            number = after
            seen.add(number)
            place, steps = max(place, number), steps + 1

    return [hits[number] for number in sorted(range(len(hits)), key=order)]
