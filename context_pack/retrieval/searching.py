"""Asking an index: which embedder answers, what both legs find, and what is shown of it.

The semantic embedder answers when every piece in the scope has a vector of it; until then the fast one does,
and the pieces that the question brought up are embedded within a budget. An embedder that fails costs a
warning, never the answer: the other leg, or the other embedder, is left. Every distance is a true cosine
distance by the one embedder that the answer names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from attrs import evolve, field, frozen

from context_pack.kernel.errors import Failure
from context_pack.retrieval.filling import fill, fill_within
from context_pack.retrieval.fusion import DEPTH, calibrated, fused, relevances
from context_pack.retrieval.model import Found, Hit, Progress, Scope
from context_pack.retrieval.neighbours import without_repeats
from context_pack.retrieval.ports import Embedder, EmbedderFailed, SearchIndex, Snapshot, Stop, Vector
from context_pack.retrieval.words import tokens

FLOOR = 0.05
"""Below this relevance a candidate is not counted in the total."""

BUDGET = 0.3
# How many of a question's candidates are worth embedding before it is answered.
_WORTH_EMBEDDING = 40

Mode = Literal["hybrid", "vector", "keyword"]


@frozen
class Question:
    """What is asked, where, and how much of the answer is wanted."""

    query: str
    scope: Scope = field(factory=Scope)
    limit: int = 10
    max_distance: float | None = None
    hybrid: bool = True


@frozen
class Ranked:
    """One piece of an answer, with its true cosine distance and its relevance."""

    found: Found
    distance: float
    relevance: float


@frozen
class Ranking:
    """An answer: its hits, how many candidates there were, and the embedder that measured the distances."""

    hits: tuple[Ranked, ...] = ()
    total: int = 0
    embedder: str = ""
    semantic: Progress | None = None
    """How far the semantic embedder has come, until it is complete."""
    mode: Mode = "hybrid"
    warning: str | None = None


@frozen
class _Asked:
    """A question with the embedder that answers it and the vector of its query, if one could be made."""

    question: Question
    embedder: Embedder
    vector: Vector | None
    semantic: Progress | None = None
    warning: str | None = None


@frozen
class Searching:
    """Questions to one index, answered by the best embedder that is ready."""

    index: SearchIndex
    fast: Embedder
    semantic: Embedder | None = None
    monotonic: Callable[[], float] = field(kw_only=True)
    budget: float = field(default=BUDGET, kw_only=True)

    def ask(self, questions: Sequence[Question]) -> list[Ranking]:
        """The answers in order; the queries are embedded together."""
        with self.index.reading() as snapshot:
            asked = self._prepared(snapshot, questions)
            _announce(snapshot, asked)
            answers = [self._answer(snapshot, one) for one in asked]
            missing = self._missing(snapshot, asked, answers)
        if not missing:
            return answers
        complete, warning = self._embedded(missing, questions[0].query)
        if complete:
            with self.index.reading() as snapshot:
                return [self._answer(snapshot, one) for one in self._prepared(snapshot, questions)]
        return [evolve(one, warning=one.warning or warning) for one in answers] if warning else answers

    def related(
        self, corpus: str, key: str, chunk: str | None = None, limit: int = 5, same_document: bool = False
    ) -> Ranking | None:
        """The best piece of each entry near an entry or a passage, in its corpus; None without that entry."""
        with self.index.reading() as snapshot:
            if snapshot.entry(corpus, key) is None:
                return None
            whole = Scope(corpora=(corpus,))
            scope = whole if same_document else evolve(whole, without=(corpus, key))
            embedder, progress = self._chosen(snapshot, whole)
            vector, warning = None, None
            if chunk is not None:
                embedder, vector, warning = self._embed_one(embedder, chunk)
            else:
                vector = snapshot.centroid(embedder.id, corpus, key)
            hits = () if vector is None else self._near(snapshot, embedder, vector, scope, limit, chunk)
            return Ranking(hits, len(hits), embedder.id, progress, "vector", warning)

    def fill(self, scope: Scope, stop: Stop, report: Callable[[Progress], None]) -> Progress:
        """Embed what has no semantic vector yet, until all have one or `stop` says so; how far it came.

        Raises:
            EmbedderFailed: the semantic embedder cannot go on; what it did is kept.
        """
        if self.semantic is None:
            with self.index.reading() as snapshot:
                return snapshot.progress(self.fast.id, scope)
        return fill(self.index, self.semantic, scope, stop, report)

    def _prepared(self, snapshot: Snapshot, questions: Sequence[Question]) -> list[_Asked]:
        """Each question with its embedder and its vector."""
        chosen = [self._chosen(snapshot, question.scope) for question in questions]
        vectors: dict[int, Vector] = {}
        warning: str | None = None
        if self.semantic is not None:
            ready = [at for at, (embedder, _) in enumerate(chosen) if embedder is self.semantic]
            try:
                vectors.update(_embedded(self.semantic, questions, ready))
            except EmbedderFailed as failed:
                warning = str(failed)
                chosen = [(self.fast, progress) for _, progress in chosen]
        left = [at for at in range(len(questions)) if at not in vectors]
        try:
            vectors.update(_embedded(self.fast, questions, left))
        except EmbedderFailed as failed:
            warning = str(failed)
        return [
            _Asked(question, embedder, vectors.get(at), progress, warning)
            for at, (question, (embedder, progress)) in enumerate(zip(questions, chosen, strict=True))
        ]

    def _chosen(self, snapshot: Snapshot, scope: Scope) -> tuple[Embedder, Progress | None]:
        """The embedder that answers in a scope, and how far the semantic one is when it does not."""
        if self.semantic is None:
            return self.fast, None
        # What is left out of a search does not change which embedder is ready for the corpus.
        progress = snapshot.progress(self.semantic.id, evolve(scope, without=None))
        return (self.semantic, None) if progress.done >= progress.total else (self.fast, progress)

    def _answer(self, snapshot: Snapshot, asked: _Asked) -> Ranking:
        """What both legs find, joined, measured and cut to the limit."""
        question, embedder = asked.question, asked.embedder
        words = tokens(question.query) if question.hybrid or asked.vector is None else []
        keyword = snapshot.keyword(words, question.scope, DEPTH) if words else ()
        vector: Sequence[Hit] = ()
        if asked.vector is not None:
            depth = DEPTH if question.hybrid else DEPTH + question.limit
            vector = snapshot.nearest(embedder.id, asked.vector, question.scope, depth)
        order = fused(keyword, vector, embedder.weight)
        cosines = {hit.piece: hit.score for hit in vector}
        if asked.vector is not None:
            unmeasured = [piece for piece in order if piece not in cosines]
            cosines.update(snapshot.cosines(embedder.id, asked.vector, unmeasured))
        scores = relevances(
            order,
            {hit.piece: hit.score for hit in keyword},
            cosines,
            weight=embedder.weight if asked.vector is not None else 0.0,
            ideal=snapshot.ideal(words) if keyword else 0.0,
            unrelated=unrelated(embedder),
        )
        mode: Mode = "keyword" if asked.vector is None else "hybrid" if question.hybrid else "vector"
        near = [
            (piece, 1.0 - cosines.get(piece, 0.0), score)
            for piece, score in zip(order, scores, strict=True)
            if question.max_distance is None or 1.0 - cosines.get(piece, 0.0) <= question.max_distance
        ]
        total = sum(score >= FLOOR for _, _, score in near)
        hits = self._shown(snapshot, near, question.limit)
        return Ranking(hits, max(total, len(hits)), embedder.id, asked.semantic, mode, asked.warning)

    def _shown(
        self, snapshot: Snapshot, near: Sequence[tuple[int, float, float]], limit: int
    ) -> tuple[Ranked, ...]:
        """The first hits with their text, neighbours without what they repeat of each other."""
        hits: list[Ranked] = []
        for at in range(0, len(near), max(limit, 1)):
            rows = near[at : at + limit]
            found = snapshot.found([piece for piece, _, _ in rows])
            measured = {piece: (distance, score) for piece, distance, score in rows}
            hits += [Ranked(one, *measured[one.piece]) for one in found]
            kept = without_repeats([hit.found for hit in hits])
            hits = [evolve(hit, found=one) for hit, one in zip(hits, kept, strict=True) if one is not None]
            if len(hits) >= limit:
                break
        return tuple(hits[:limit])

    def _missing(
        self, snapshot: Snapshot, asked: Sequence[_Asked], answers: Sequence[Ranking]
    ) -> dict[int, str]:
        """What the answers show that has no semantic vector yet, best first, with what to embed for it."""
        if self.semantic is None or all(one.semantic is None for one in asked):
            return {}
        pieces = dict.fromkeys(
            hit.found.piece
            for one, answer in zip(asked, answers, strict=True)
            if one.semantic is not None
            for hit in answer.hits[:_WORTH_EMBEDDING]
        )
        missing = snapshot.unembedded(self.semantic.id, list(pieces))
        return {piece: missing[piece] for piece in pieces if piece in missing}

    def _embedded(self, missing: dict[int, str], query: str) -> tuple[bool, str | None]:
        """Embed what is missing within the budget; whether all of it is embedded now, or what hindered it."""
        assert self.semantic is not None
        try:
            # A query gives up sooner than documents do: whoever waits learns from it whether to go on.
            self.semantic.embed([query], "query")
            done = fill_within(self.index, self.semantic, missing, self.monotonic, self.budget)
            self.index.wanted([piece for piece in missing if piece not in done])
        except EmbedderFailed as failed:
            return False, str(failed)
        except Failure:
            # The answer is there already; the background has the same work and reports what hinders it.
            return False, None
        return len(done) == len(missing), None

    def _embed_one(self, embedder: Embedder, text: str) -> tuple[Embedder, Vector | None, str | None]:
        """A passage by the embedder, by the fast one when that fails, or by none."""
        warning: str | None = None
        for one in dict.fromkeys((embedder, self.fast)):
            try:
                return one, one.embed([text], "document")[0], warning
            except EmbedderFailed as failed:
                warning = str(failed)
        return self.fast, None, warning

    def _near(
        self,
        snapshot: Snapshot,
        embedder: Embedder,
        vector: Vector,
        scope: Scope,
        limit: int,
        chunk: str | None,
    ) -> tuple[Ranked, ...]:
        """The nearest piece of each entry."""
        depth = DEPTH
        while True:
            near = snapshot.nearest(embedder.id, vector, scope, depth)
            best: dict[tuple[str, str], tuple[Found, float]] = {}
            for one, hit in zip(snapshot.found([hit.piece for hit in near]), near, strict=True):
                if chunk is None or one.text.strip() != chunk.strip():
                    best.setdefault((one.corpus, one.key), (one, hit.score))
            if len(best) >= limit or len(near) < depth:
                break
            depth *= 4
        first = sorted(best.values(), key=lambda row: (-row[1], row[0].piece))[:limit]
        return tuple(
            Ranked(one, 1.0 - cosine, calibrated(cosine, unrelated(embedder))) for one, cosine in first
        )


def _announce(snapshot: Snapshot, asked: Sequence[_Asked]) -> None:
    """Tell the index which vectors it will be asked for, so that it can compare them together."""
    for embedder in {one.embedder.id for one in asked}:
        vectors = [one.vector for one in asked if one.embedder.id == embedder and one.vector is not None]
        if len(vectors) > 1:
            snapshot.expect(embedder, vectors)


def unrelated(embedder: Embedder) -> float:
    """The cosine that an embedder gives to texts that have nothing to do with each other."""
    return float(getattr(embedder, "unrelated", 0.0))


def _embedded(embedder: Embedder, questions: Sequence[Question], which: Sequence[int]) -> dict[int, Vector]:
    """The vectors of these questions' queries, made together."""
    if not which:
        return {}
    made = embedder.embed([questions[at].query for at in which], "query")
    return dict(zip(which, made, strict=True))
