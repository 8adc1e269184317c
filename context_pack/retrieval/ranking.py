"""From a question with its vector to an answer, within one state of the index.

Keyword search and vector search are joined into one order by a weighted sum of both scores, each as a share
of the best in this query; the weight belongs to the embedder, and so does the floor that its cosines count
from. What is shown as relevance is absolute instead, so that it can be compared between queries: the share of
the keyword score that the query could reach, and the cosine from that of unrelated texts to 1.

Every distance is a true cosine distance by the one embedder that the answer names, for what only the keyword
search found as well, and a distance that is too far leaves a hit out, whichever search found it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from context_pack.retrieval.model import Mode, PieceHit, Progress, Question, Ranked, Ranking, Scope
from context_pack.retrieval.ports import Embedder, Snapshot, Vector
from context_pack.retrieval.words import tokens

DEPTH = 100
"""How many hits of each search are joined."""
# How far down the words are looked for the scores of what a sentence encoder found; hashed vectors find what
# stands at the top there.
_REACH = 10 * DEPTH
FLOOR = 0.05
"""Below this relevance a candidate is not counted in the total."""
# What shares no word with the query and is no nearer than anything else has not been found.
# The nearest of a thousand passages by chance has a hashed cosine of 0.15.
_NOTHING = 0.03


class AskedQuestion(NamedTuple):
    """A question with the embedder that answers it and the vector of its query, if one could be made."""

    question: Question
    embedder: Embedder
    vector: Vector | None
    semantic: Progress | None = None
    warning: str | None = None


class _Candidate(NamedTuple):
    """A piece that was found: its shares of the best scores, its distance and its relevance."""

    words: float
    meaning: float
    distance: float = 1.0
    relevance: float = 0.0


def answered(snapshot: Snapshot, asked: AskedQuestion) -> Ranking:
    """Join, measure and cut the hits of both searches."""
    question, embedder = asked.question, asked.embedder
    mode: Mode = "keyword" if asked.vector is None else "hybrid" if question.hybrid else "vector"
    candidates, more = _candidates(snapshot, asked, mode)
    if (most := question.max_distance) is not None:
        candidates = {piece: each for piece, each in candidates.items() if each.distance <= most}
    hits: dict[tuple[str, str, str], Ranked] = {}
    for found in snapshot.found(list(candidates)[: 2 * question.limit]):
        each = candidates[found.piece]
        # What an entry says several times in the same words is shown once.
        said = (found.corpus, found.key, found.text)
        hits.setdefault(said, Ranked(found, each.distance, each.relevance, each.words, each.meaning))
    shown = tuple(hits.values())[: question.limit]
    total = max(len(shown), sum([each.relevance >= FLOOR for each in candidates.values()]))
    return Ranking(shown, total, embedder.id, asked.semantic, mode, asked.warning, more, embedder.weight)


def _candidates(snapshot: Snapshot, asked: AskedQuestion, mode: Mode) -> tuple[dict[int, _Candidate], bool]:
    """What either search found, the best first, each with its score in the other search too."""
    question, embedder, vector = asked.question, asked.embedder, asked.vector
    lexical = getattr(embedder, "unrelated", None) == 0  # vectors of the words themselves
    words = tokens(question.query) if mode != "vector" else []
    reach = DEPTH if lexical else _REACH
    worded = snapshot.keyword(words, question.scope, reach) if words else ()
    near: Sequence[PieceHit] = ()
    named: Sequence[int] = ()
    if vector is not None:
        depth = DEPTH if mode == "hybrid" else DEPTH + question.limit
        near = snapshot.nearest(embedder.id, vector, question.scope, depth)
        named = snapshot.named(question.names, question.scope, DEPTH) if question.names else ()
    cosines = dict(near)
    keyword = dict(worded[:DEPTH]) | {piece: score for piece, score in worded[DEPTH:] if piece in cosines}
    unmeasured = [piece for piece in dict.fromkeys((*keyword, *named)) if piece not in cosines]
    if vector is not None and unmeasured:
        cosines.update(snapshot.cosines(embedder.id, vector, unmeasured))
    # A sentence encoder puts all texts near each other: what tells them apart begins with the last of them.
    # Stretching the small differences of hashed vectors so would set them against the better search.
    floor = 0.0 if lexical else min((score for _, score in near), default=0.0)
    shares = _shares(keyword, cosines, floor)
    weight = embedder.weight if keyword else 1.0
    order = sorted(shares, key=lambda piece: _sum(weight, *shares[piece]), reverse=True)
    absolute = {"hybrid": embedder.weight, "vector": 1.0, "keyword": 0.0}[mode]
    ideal = snapshot.ideal(words) if keyword else 0.0
    candidates: dict[int, _Candidate] = {}
    lowest = 1.0  # a relevance is never more than the one before it
    for piece in order:
        meaning = _calibrated(embedder, cosines[piece]) if piece in cosines else 0.0
        said = min(keyword.get(piece, 0.0) / ideal, 1.0) if ideal > 0 else 0.0
        lowest = min(lowest, _sum(absolute, said, meaning))
        found = piece in keyword or piece in named or mode == "vector" or question.nearest
        if found or lowest >= _NOTHING:
            candidates[piece] = _Candidate(*shares[piece], 1.0 - cosines.get(piece, 0.0), lowest)
    return candidates, len(worded) == reach


def _shares(
    keyword: Mapping[int, float], cosines: Mapping[int, float], floor: float
) -> dict[int, tuple[float, float]]:
    """What each piece has of the best score by words and of the best cosine, in the order of pieces."""
    most = max(keyword.values(), default=0.0)
    span = max(cosines.values(), default=floor) - floor
    words = {piece: score / most for piece, score in keyword.items()} if most > 0 else {}
    meanings = {piece: (each - floor) / span for piece, each in cosines.items() if each > floor}
    pieces = sorted(keyword.keys() | cosines.keys())
    return {piece: (words.get(piece, 0.0), meanings.get(piece, 0.0)) for piece in pieces}


def _sum(weight: float, words: float, meaning: float) -> float:
    return weight * meaning + (1 - weight) * words


def nearest_entries(
    snapshot: Snapshot, embedder: Embedder, vector: Vector, scope: Scope, limit: int, but: str | None
) -> tuple[Ranked, ...]:
    """The nearest piece of each entry; a piece that says what `but` says is left out."""
    depth = DEPTH
    while True:
        near = dict(snapshot.nearest(embedder.id, vector, scope, depth))
        best: dict[tuple[str, str], Ranked] = {}
        for one in snapshot.found(list(near)):
            if but is None or one.text.strip() != but.strip():
                cosine = near[one.piece]
                hit = Ranked(one, 1.0 - cosine, _calibrated(embedder, cosine))
                best.setdefault((one.corpus, one.key), hit)
        if len(best) >= limit or len(near) < depth:
            return tuple(best.values())[:limit]
        # Long entries took all the places: look deeper.
        depth *= 4


def _calibrated(embedder: Embedder, cosine: float) -> float:
    """A cosine counted from that of unrelated texts (0) to that of the same text (1)."""
    unrelated = float(getattr(embedder, "unrelated", None) or 0.0)
    return min(max((cosine - unrelated) / (1.0 - unrelated), 0.0), 1.0)
