"""Searches an index, each question with one embedder.

The semantic embedder answers when every piece in the scope has a vector of it; until then the fast one does,
while a worker embeds, or where there is none a search embeds a little first. An embedder that fails costs a
warning, never the answer: the fast embedder is left, or the keyword search.

Embedding goes in small steps: it can end at any moment and goes on where it stopped. A text that the embedder
does not take (too long for its model) is embedded by its beginning, and one of which no part is taken gets a
vector of zeros, near to nothing: no text keeps a collection from being complete.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attrs import evolve, field, frozen

from context_pack.retrieval.model import Progress, Question, Ranked, Ranking, Scope
from context_pack.retrieval.ports import (
    OTHER_VECTORS,
    Background,
    Embedder,
    EmbedderFailed,
    Kind,
    SearchIndex,
    Snapshot,
    Stop,
    TextRefused,
    Vector,
)
from context_pack.retrieval.ranking import AskedQuestion, answered, nearest_entries

# About two seconds of work: few enough writes, and little lost when it is cut short.
_KEPT_AT_ONCE = 64
STEP = 32
_PROBE = "A short text that every embedder takes."
_LEAST_CHARACTERS = 64

BUDGET = 0.3
"""Seconds that a search spends embedding before it answers, where no worker embeds."""
HANDFUL, HANDFUL_SECONDS = 100, 4.0
"""So many texts are embedded before the answer, worker or not, but not for longer than this."""
BUDGET_STEP = 4
"""Texts that are embedded at once meanwhile: they take about 0.2 s."""


def budget_beside(background: Background | None) -> float:
    """The embedding budget of a search in seconds: 0 where a worker embeds."""
    return BUDGET if background is None else 0.0


DOUBTFUL = 0.25
"""Below this relevance the fast embedder's best hit is hardly one."""


@frozen
class Searching:
    """Questions to one index, each answered by the best embedder that is ready."""

    index: SearchIndex
    fast: Embedder
    semantic: Embedder | None = None
    monotonic: Callable[[], float] = field(kw_only=True)
    budget: float = field(default=BUDGET, kw_only=True)
    shortened: Callable[[str], str] = field(default=str, kw_only=True)
    """What the semantic embedder is given of a piece."""

    def ask(self, questions: Sequence[Question]) -> list[Ranking]:
        """The answers in order; the queries are embedded together."""
        scopes = dict.fromkeys(each.scope for each in questions if not each.plain)
        warnings = [self._embed_a_little(scope) for scope in scopes]
        with self.index.reading() as snapshot:
            asked = [(each, *self._state(snapshot, each)) for each in questions]
            complete = {at: each.query for at, (each, ready, _) in enumerate(asked) if ready}
            meant, warning = self._vectors(snapshot, self.semantic, complete, "query")
            others = {at: each.query for at, each in enumerate(questions) if at not in meant}
            hashed, failure = self._vectors(snapshot, self.fast, others, "query")
            told = next(filter(None, (failure, warning, *warnings)), None)
            answers = []
            for at, (question, _, progress) in enumerate(asked):
                if self.semantic is not None and at in meant:
                    one = AskedQuestion(question, self.semantic, meant[at], None, told)
                else:
                    one = AskedQuestion(question, self.fast, hashed.get(at), progress, told)
                answers.append(answered(snapshot, one))
            return answers

    def related(
        self, corpus: str, key: str, chunk: str | None = None, limit: int = 5, same_document: bool = False
    ) -> Ranking:
        """The best piece of each entry near an entry or a passage, in its corpus."""
        with self.index.reading() as snapshot:
            whole = Scope(corpora=(corpus,))
            scope = whole if same_document else evolve(whole, without=(corpus, key))
            progress = self._lacking(snapshot, whole)
            embedder = self.fast if self.semantic is None or progress is not None else self.semantic
            warning = None
            if chunk is None:
                vector = snapshot.centroid(embedder.id, corpus, key)
            else:
                vectors, warning = self._vectors(snapshot, embedder, {0: chunk}, "passage")
                if not vectors and embedder is not self.fast:
                    embedder = self.fast
                    vectors, _ = self._vectors(snapshot, embedder, {0: chunk}, "passage")
                vector = vectors.get(0)
            hits: tuple[Ranked, ...] = ()
            if vector is not None:
                hits = nearest_entries(snapshot, embedder, vector, scope, limit, chunk)
            return Ranking(hits, len(hits), embedder.id, progress, "vector", warning)

    def fill(
        self, scope: Scope, stop: Stop, report: Callable[[Progress], None] = lambda _: None
    ) -> Progress | None:
        """Embed what has no semantic vector yet, until all have one or `stop` says so; how far it came.

        Without a semantic embedder there is nothing to do, and no progress.

        Raises:
            EmbedderFailed: the semantic embedder cannot go on; what it did is kept.
        """
        if self.semantic is None:
            return None
        return fill(self.index, self.semantic, scope, stop, report, self.shortened)

    def _embed_a_little(self, scope: Scope) -> str | None:
        """Embed for the budget's time, or longer where only a handful lacks; why it could not be."""
        if self.semantic is None:
            return None
        with self.index.reading() as snapshot:
            lacking = self._lacking(snapshot, scope)
        few = lacking is not None and lacking.total - lacking.done <= HANDFUL
        if lacking is None or not (few or self.budget > 0):
            return None
        end = self.monotonic() + max(self.budget, HANDFUL_SECONDS if few else 0.0)
        try:
            fill(
                self.index, self.semantic, scope, lambda: self.monotonic() >= end,
                shortened=self.shortened, step=BUDGET_STEP,
            )  # fmt: skip
        except EmbedderFailed as failed:
            return str(failed)
        return None

    def _state(self, snapshot: Snapshot, question: Question) -> tuple[bool, Progress | None]:
        """Whether the semantic embedder answers a question, and how far it has come if it will later."""
        if self.semantic is None or question.plain:
            return False, None
        lacking = self._lacking(snapshot, question.scope)
        # Where nothing is to be found, no model is loaded for it.
        anything = snapshot.progress(self.semantic.id, question.scope).total > 0
        return lacking is None and anything, lacking

    def _lacking(self, snapshot: Snapshot, scope: Scope) -> Progress | None:
        """How far the semantic embedder has come in a scope; None where it is complete, or not there."""
        if self.semantic is None:
            return None
        # What is left out of a search does not change which embedder is ready for the corpus.
        progress = snapshot.progress(self.semantic.id, evolve(scope, without=None))
        return progress if progress.done < progress.total else None

    def _vectors(
        self, snapshot: Snapshot, embedder: Embedder | None, texts: Mapping[int, str], kind: Kind
    ) -> tuple[dict[int, Vector], str | None]:
        """The vectors of these texts, made together; none, and why, where they cannot be compared."""
        if embedder is None or not texts:
            return {}, None
        try:
            vectors = dict(zip(texts, embedder.embed(list(texts.values()), kind), strict=True))
        except EmbedderFailed as failed:
            return {}, str(failed)
        dimension = len(next(iter(vectors.values())))
        if embedder is self.semantic and snapshot.dimension(embedder.id) not in (0, dimension):
            self.index.renew(embedder.id, dimension)
            return {}, OTHER_VECTORS
        return vectors, None


def fill(
    index: SearchIndex,
    embedder: Embedder,
    scope: Scope,
    stop: Stop,
    report: Callable[[Progress], None] = lambda _: None,
    shortened: Callable[[str], str] = str,
    step: int = STEP,
) -> Progress:
    """Embed what lacks a vector, or so many characters of it, until nothing does or `stop` says so.

    What has a name comes first, then what is new.

    Raises:
        EmbedderFailed: the embedder cannot go on; what it did before is kept.
    """
    progress = _progress(index, embedder, scope)
    before: set[int] = set()
    while progress.done < progress.total and not stop():
        lacking = index.lacking(embedder.id, scope, _KEPT_AT_ONCE)
        # Pieces that still lack what was just kept went away meanwhile: asking for them again would never
        # end.
        todo = {piece: shortened(text) for piece, text in lacking.items() if piece not in before}
        if not todo:
            break
        before = set(lacking)
        _embed(index, embedder, todo, stop, step)
        progress = _progress(index, embedder, scope)
        report(progress)
    return progress


def _embed(index: SearchIndex, embedder: Embedder, todo: Mapping[int, str], stop: Stop, step: int) -> None:
    """Embed in steps, and keep what was made however it ends."""
    # Texts of one length are embedded together without padding; the whole step is kept at once anyway.
    pieces = sorted(todo, key=lambda piece: len(todo[piece]))
    made: dict[int, Vector] = {}
    try:
        for at in range(0, len(pieces), step):
            if at and stop():
                break
            texts = [todo[piece] for piece in pieces[at : at + step]]
            made |= zip(pieces[at : at + step], _vectors(embedder, texts, "document"), strict=True)
    finally:
        if made:
            index.keep(embedder.id, made)


def _vectors(embedder: Embedder, texts: list[str], kind: Kind) -> list[Vector]:
    """The vectors of these texts; where the embedder does not take one of them, each is tried alone."""
    try:
        return list(embedder.embed(texts, kind))
    except Exception as error:
        if isinstance(error, EmbedderFailed) and not isinstance(error, TextRefused):
            raise
    if len(texts) > 1:
        half = len(texts) // 2
        return _vectors(embedder, texts[:half], kind) + _vectors(embedder, texts[half:], kind)
    # Is it this text, or does the embedder refuse whatever it is given? Then this raises.
    (probe,) = embedder.embed([_PROBE], kind)
    (text,) = texts
    if len(text) > _LEAST_CHARACTERS:
        return _vectors(embedder, [text[: len(text) // 2]], kind)
    return [[0.0] * len(probe)]


def _progress(index: SearchIndex, embedder: Embedder, scope: Scope) -> Progress:
    with index.reading() as snapshot:
        return snapshot.progress(embedder.id, scope)
