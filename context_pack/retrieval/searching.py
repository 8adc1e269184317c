"""Searches an index: chooses the embedder, and notes what should be embedded next.

The semantic embedder answers when every piece in the scope has a vector of it; until then the fast one does,
with the help of what is embedded so far. The pieces that a question brought up are first in line for the
background, or embedded within a budget where there is none. An embedder that fails costs a warning, never the
answer: the other search, or the other embedder, is left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ParamSpec, TypeVar

from attrs import evolve, field, frozen

from context_pack.kernel.errors import Failure
from context_pack.retrieval.answering import FLOOR, AskedQuestion, answered, nearest_entries, with_warning
from context_pack.retrieval.filling import fill, fill_within
from context_pack.retrieval.model import Mode, Progress, Question, Ranked, Ranking, Scope
from context_pack.retrieval.ports import (
    DAMAGED,
    OTHER_VECTORS,
    Background,
    Embedder,
    EmbedderFailed,
    LoadsModel,
    SearchIndex,
    Snapshot,
    Stop,
    Vector,
)

__all__ = ["DOUBTFUL", "FLOOR", "Mode", "Question", "Ranked", "Ranking", "Searching", "retry_if_damaged"]

BUDGET = 0.3
"""Seconds that a search may spend embedding for the next one, where no worker embeds."""


def budget_beside(background: Background | None) -> float:
    """The embedding budget of a search in seconds: 0 where a worker embeds."""
    return BUDGET if background is None else 0.0


DOUBTFUL = 0.25
"""Below this relevance the fast embedder's best hit is hardly one."""
# How many of a question's candidates are worth embedding before it is answered.
_WORTH_EMBEDDING = 40

T = TypeVar("T")
P = ParamSpec("P")


def retry_if_damaged(ask: Callable[P, T]) -> Callable[P, T]:
    """Wraps a search so that it is retried once, on the new index, if the index was damaged.

    What is asked so only reads: asking twice changes nothing.
    """

    def asked(*given: P.args, **named: P.kwargs) -> T:
        try:
            return ask(*given, **named)
        except Failure as failure:
            if failure.details.get("reason") != DAMAGED:
                raise
        return ask(*given, **named)

    return asked


class _DimensionChanged(Exception):
    """The semantic embedder's vectors have another length than those in the index."""

    def __init__(self, dimension: int) -> None:
        super().__init__(dimension)
        self.dimension = dimension


@frozen
class Searching:
    """Questions to one index, answered by the best embedder that is ready."""

    index: SearchIndex
    fast: Embedder
    semantic: Embedder | None = None
    monotonic: Callable[[], float] = field(kw_only=True)
    budget: float = field(default=BUDGET, kw_only=True)
    shortened: Callable[[str], str] = field(default=str, kw_only=True)
    """What the semantic embedder is given of a piece."""

    def ask(self, questions: Sequence[Question]) -> list[Ranking]:
        """The answers in order; the queries are embedded together."""
        answers, warning = self._renewing(lambda searching: searching._ask(questions))
        return [with_warning(one, warning) for one in answers] if warning else answers

    def _renewing(self, ask: Callable[[Searching], T]) -> tuple[T, str | None]:
        """Search; if the vectors no longer compare, drop them, search again and warn."""
        try:
            return ask(self), None
        except _DimensionChanged as changed:
            assert self.semantic is not None
            try:
                self.index.renew(self.semantic.id, changed.dimension)
                return ask(self), OTHER_VECTORS
            except (Failure, _DimensionChanged):
                return ask(evolve(self, semantic=None)), OTHER_VECTORS

    def _ask(self, questions: Sequence[Question]) -> list[Ranking]:
        with self.index.reading() as snapshot:
            asked = self._prepared(snapshot, questions)
            answers = [answered(snapshot, one) for one in asked]
            missing = self._missing(snapshot, asked, answers)
        done = self._embedded_next(missing) if missing else 0
        if done and any(one.semantic and one.semantic.total - one.semantic.done <= done for one in asked):
            with self.index.reading() as snapshot:
                return [answered(snapshot, one) for one in self._prepared(snapshot, questions)]
        return answers

    def related(
        self, corpus: str, key: str, chunk: str | None = None, limit: int = 5, same_document: bool = False
    ) -> Ranking | None:
        """The best piece of each entry near an entry or a passage, in its corpus; None without that entry."""
        answer, warning = self._renewing(
            lambda searching: searching._related(corpus, key, chunk, limit, same_document)
        )
        return with_warning(answer, warning) if answer is not None and warning else answer

    def _related(
        self, corpus: str, key: str, chunk: str | None, limit: int, same_document: bool
    ) -> Ranking | None:
        with self.index.reading() as snapshot:
            if snapshot.entry(corpus, key) is None:
                return None
            whole = Scope(corpora=(corpus,))
            scope = whole if same_document else evolve(whole, without=(corpus, key))
            embedder, progress = self._chosen(snapshot, whole)
            vector, warning = None, None
            if chunk is not None:
                embedder, vector, warning = self._embed_one(embedder, chunk)
                if vector is not None:
                    self._compare(snapshot, embedder, vector)
            else:
                vector = snapshot.centroid(embedder.id, corpus, key)
            hits: tuple[Ranked, ...] = ()
            if vector is not None:
                hits = nearest_entries(snapshot, embedder, vector, scope, limit, chunk)
            return Ranking(hits, len(hits), embedder.id, progress, "vector", warning)

    def fill(self, scope: Scope, stop: Stop, report: Callable[[Progress], None]) -> Progress:
        """Embed what has no semantic vector yet, until all have one or `stop` says so; how far it came.

        Raises:
            EmbedderFailed: the semantic embedder cannot go on; what it did is kept.
        """
        if self.semantic is None:
            with self.index.reading() as snapshot:
                return snapshot.progress(self.fast.id, scope)
        return fill(self.index, self.semantic, scope, stop, report, self.shortened)

    def _prepared(self, snapshot: Snapshot, questions: Sequence[Question]) -> list[AskedQuestion]:
        """Each question with its embedder and its vector, and with the other's where both are asked."""
        chosen = [self._chosen(snapshot, question.scope) for question in questions]
        vectors: dict[Embedder | None, dict[int, Vector]] = {self.fast: {}, self.semantic: {}}
        warning: str | None = None
        if self.semantic is not None:
            ready = [at for at, (one, _) in enumerate(chosen) if one is self.semantic or self._has_model()]
            try:
                vectors[self.semantic] = _embedded(self.semantic, questions, ready)
            except EmbedderFailed as failed:
                warning = str(failed)
                chosen = [(self.fast, progress) for _, progress in chosen]
            for vector in vectors[self.semantic].values():
                self._compare(snapshot, self.semantic, vector)
        left = [at for at, (one, _) in enumerate(chosen) if one is self.fast or questions[at].both]
        try:
            vectors[self.fast] = _embedded(self.fast, questions, left)
        except EmbedderFailed as failed:
            warning = str(failed)
        asked = []
        for at, (question, (embedder, progress)) in enumerate(zip(questions, chosen, strict=True)):
            other = self.semantic if embedder is self.fast else self.fast
            beside = (other, vectors[other][at]) if other is not None and at in vectors[other] else None
            asked.append(
                AskedQuestion(question, embedder, vectors[embedder].get(at), progress, warning, beside)
            )
        return asked

    def _has_model(self) -> bool:
        """Whether an incomplete answer may ask the semantic embedder; it waits for no model to load."""
        return self.budget > 0 or not isinstance(self.semantic, LoadsModel) or self.semantic.ready()

    def _compare(self, snapshot: Snapshot, embedder: Embedder | None, vector: Vector) -> None:
        """Make sure that a semantic vector can be compared with those in the index.

        Raises:
            _DimensionChanged: they have another length.
        """
        if embedder is None or embedder is not self.semantic:
            return
        if snapshot.dimension(embedder.id) not in (0, len(vector)):
            raise _DimensionChanged(len(vector))

    def _chosen(self, snapshot: Snapshot, scope: Scope) -> tuple[Embedder, Progress | None]:
        """The embedder that answers in a scope, and how far the semantic one is when it does not."""
        if self.semantic is None:
            return self.fast, None
        # What is left out of a search does not change which embedder is ready for the corpus.
        progress = snapshot.progress(self.semantic.id, evolve(scope, without=None))
        return (self.semantic, None) if progress.done >= progress.total else (self.fast, progress)

    def _missing(
        self, snapshot: Snapshot, asked: Sequence[AskedQuestion], answers: Sequence[Ranking]
    ) -> dict[int, str]:
        """What lacks a semantic vector, with what to embed for it: what the answers show, best first."""
        waiting = [at for at, one in enumerate(asked) if one.semantic is not None and one.warning is None]
        if self.semantic is None or not waiting:
            return {}
        shown = dict.fromkeys(
            hit.found.piece for at in waiting for hit in answers[at].hits[:_WORTH_EMBEDDING]
        )
        texts = snapshot.unembedded(self.semantic.id, list(shown))
        missing = {piece: texts[piece] for piece in shown if piece in texts}
        for one in asked if self.budget > 0 else ():
            if one.semantic is not None and one.semantic.total - one.semantic.done <= _WORTH_EMBEDDING:
                # So little is left that the scope may be complete before the answer goes out.
                missing |= self.index.lacking(self.semantic.id, one.question.scope, _WORTH_EMBEDDING)
        return missing

    def _embedded_next(self, missing: Mapping[int, str]) -> int:
        """Embed within the budget and put the rest first in line; how many were embedded."""
        assert self.semantic is not None
        done: set[int] = set()
        try:
            if self.budget > 0:
                begun = {piece: self.shortened(text) for piece, text in missing.items()}
                done = fill_within(self.index, self.semantic, begun, self.monotonic, self.budget)
            self.index.wanted([piece for piece in missing if piece not in done])
        except (EmbedderFailed, Failure):
            # The answer is there already; whoever embeds next tells what hinders it.
            return 0
        return len(done)

    def _embed_one(self, embedder: Embedder, text: str) -> tuple[Embedder, Vector | None, str | None]:
        """A passage by the embedder, by the fast one when that fails, or by none."""
        warning: str | None = None
        for one in dict.fromkeys((embedder, self.fast)):
            try:
                return one, one.embed([text], "passage")[0], warning
            except EmbedderFailed as failed:
                warning = str(failed)
        return self.fast, None, warning


def _embedded(embedder: Embedder, questions: Sequence[Question], which: Sequence[int]) -> dict[int, Vector]:
    """The vectors of these questions' queries, made together."""
    if not which:
        return {}
    made = embedder.embed([questions[at].query for at in which], "query")
    return dict(zip(which, made, strict=True))
