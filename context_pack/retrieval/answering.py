"""From a question with its vector to an answer, within one state of the index.

Every distance is a true cosine distance by the one embedder that the answer names, for what only the keyword
search found as well, and a distance that is too far leaves a hit out, whichever search found it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from attrs import frozen

from context_pack.retrieval.fusion import (
    DEPTH,
    Shares,
    calibrated,
    fused,
    relevances,
    shares,
)
from context_pack.retrieval.model import (
    FoundPiece,
    Mode,
    PieceHit,
    Progress,
    Question,
    Ranked,
    Ranking,
    Scope,
)
from context_pack.retrieval.neighbours import without_repeats
from context_pack.retrieval.ports import Embedder, Snapshot, Vector
from context_pack.retrieval.words import tokens

# How far down the words are looked for the scores of what a sentence encoder found; hashed vectors find what
# stands at the top there.
_REACH = 10 * DEPTH

FLOOR = 0.05
"""Below this relevance a candidate is not counted in the total."""
# What shares no word with the query and is no nearer than anything else has not been found.
# The nearest of a thousand passages by chance has a hashed cosine of 0.15.
_NOTHING = 0.03


@frozen
class AskedQuestion:
    """A question with the embedder that answers it and the vector of its query, if one could be made."""

    question: Question
    embedder: Embedder
    vector: Vector | None
    semantic: Progress | None = None
    warning: str | None = None


class _Candidates(NamedTuple):
    """What was found by piece, relevances with the best first, and whether words found more."""

    relevances: Mapping[int, float]
    distances: Mapping[int, float]
    shares: Shares
    more: bool


def answered(snapshot: Snapshot, asked: AskedQuestion) -> Ranking:
    """Join, measure and cut the hits of both searches."""
    question, embedder = asked.question, asked.embedder
    mode: Mode = "keyword" if asked.vector is None else "hybrid" if question.hybrid else "vector"
    found = _candidates(snapshot, asked, mode)
    if (most := question.max_distance) is not None:
        near = {piece: each for piece, each in found.relevances.items() if found.distances[piece] <= most}
        found = found._replace(relevances=near)
    hits = _shown(snapshot, found, question.limit)
    total = max(len(hits), sum([relevance >= FLOOR for relevance in found.relevances.values()]))
    return Ranking(hits, total, embedder.id, asked.semantic, mode, asked.warning, found.more, embedder.weight)


def _candidates(snapshot: Snapshot, asked: AskedQuestion, mode: Mode) -> _Candidates:
    """What either search found, each hit with its score in the other search too."""
    question, embedder, vector = asked.question, asked.embedder, asked.vector
    words = tokens(question.query) if mode != "vector" else []
    reach = DEPTH if _is_lexical(embedder) else _REACH
    worded = snapshot.keyword(words, question.scope, reach) if words else ()
    near: Sequence[PieceHit] = ()
    named: Sequence[int] = ()
    if vector is not None:
        depth = DEPTH if mode == "hybrid" else DEPTH + question.limit
        near = snapshot.nearest(embedder.id, vector, question.scope, depth)
        named = snapshot.named(question.names, question.scope, DEPTH) if question.names else ()
    cosines = dict(near)
    keyword = dict(worded[:DEPTH]) | {piece: score for piece, score in worded[DEPTH:] if piece in cosines}
    unmeasured = list(dict.fromkeys(piece for piece in (*keyword, *named) if piece not in cosines))
    if vector is not None and unmeasured:
        cosines.update(snapshot.cosines(embedder.id, vector, unmeasured))
    found = shares(keyword, cosines, _floor(embedder, near))
    order = fused(found, embedder.weight if keyword else 1.0)
    scores = relevances(
        order,
        keyword,
        cosines,
        weight={"hybrid": embedder.weight, "vector": 1.0, "keyword": 0.0}[mode],
        ideal=snapshot.ideal(words) if keyword else 0.0,
        unrelated=unrelated(embedder),
    )
    kept = {
        piece: score
        for piece, score in zip(order, scores, strict=True)
        if score >= _NOTHING or piece in keyword or piece in named or mode == "vector" or question.nearest
    }
    distances = {piece: 1.0 - cosines.get(piece, 0.0) for piece in kept}
    return _Candidates(kept, distances, found, len(worded) == reach)


def _shown(snapshot: Snapshot, found: _Candidates, limit: int) -> tuple[Ranked, ...]:
    """The first hits with their text, neighbours without what they repeat of each other."""
    hits: list[Ranked] = []
    seen: list[FoundPiece] = []
    pieces = list(found.relevances)
    for at in range(0, len(pieces), max(limit, 1)):
        fresh = snapshot.found(pieces[at : at + limit])
        kept = without_repeats([*seen, *fresh])[len(seen) :]
        seen += fresh
        for one in kept:
            if one is not None:
                words, meaning = found.shares[one.piece]
                distance, relevance = found.distances[one.piece], found.relevances[one.piece]
                hits.append(Ranked(one, distance, relevance, words, meaning))
        if len(hits) >= limit:
            break
    return tuple(hits[:limit])


def nearest_entries(
    snapshot: Snapshot, embedder: Embedder, vector: Vector, scope: Scope, limit: int, but: str | None
) -> tuple[Ranked, ...]:
    """The nearest piece of each entry; a piece that says what `but` says is left out."""
    depth, least = DEPTH, unrelated(embedder)
    while True:
        near = snapshot.nearest(embedder.id, vector, scope, depth)
        scores = dict(near)
        best: dict[tuple[str, str], Ranked] = {}
        for one in snapshot.found(list(scores)):
            if but is None or one.text.strip() != but.strip():
                cosine = scores[one.piece]
                hit = Ranked(one, 1.0 - cosine, calibrated(cosine, least))
                best.setdefault((one.corpus, one.key), hit)
        if len(best) >= limit or len(near) < depth:
            return tuple(best.values())[:limit]
        # Long entries took all the places: look deeper.
        depth *= 4


def _is_lexical(embedder: Embedder) -> bool:
    """Whether its vectors are of the words themselves, so that texts without a word in common are at 0."""
    return getattr(embedder, "unrelated", None) == 0


def _floor(embedder: Embedder, near: Sequence[PieceHit]) -> float:
    """The cosine that counts as 0: for hashed vectors 0, else that of the worst hit."""
    if _is_lexical(embedder):
        # Vectors of the words themselves say what the words say: stretching their small differences over
        # the whole scale would set them against the better search.
        return 0.0
    # A sentence encoder puts all texts near each other: what tells them apart begins with the last of them.
    return min((score for _, score in near), default=0.0)


def unrelated(embedder: Embedder) -> float:
    """The cosine that an embedder gives to texts that have nothing to do with each other."""
    return float(getattr(embedder, "unrelated", None) or 0.0)
