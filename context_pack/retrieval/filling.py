"""Embeds pieces for semantic search: all in the background, a few during a search.

Work is kept in small steps, so that it can end at any moment and go on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from context_pack.retrieval.model import Progress, Scope
from context_pack.retrieval.ports import Embedder, EmbedderFailed, Kind, SearchIndex, Stop

# About two seconds of work: few enough writes, and little lost when it is cut short.
_KEPT_AT_ONCE = 64
_STEP = 32


def fill(
    index: SearchIndex,
    embedder: Embedder,
    scope: Scope,
    stop: Stop,
    report: Callable[[Progress], None],
    shortened: Callable[[str], str] = str,
) -> Progress:
    """Embed what lacks a vector, or so many characters of it, until nothing does or `stop` says so.

    What was searched most comes first, then what has a name, then what is new.

    Raises:
        EmbedderFailed: the embedder cannot go on; what it did before is kept.
    """
    progress = _progress(index, embedder, scope)
    before: set[int] = set()
    while not stop():
        lacking = index.lacking(embedder.id, scope, _KEPT_AT_ONCE)
        # Pieces that still lack what was just kept went away meanwhile: asking for them again would never
        # end.
        todo = {piece: shortened(text) for piece, text in lacking.items() if piece not in before}
        if not todo:
            break
        before = set(lacking)
        _embed(index, embedder, todo, stop)
        progress = _progress(index, embedder, scope)
        report(progress)
    return progress


def fill_within(
    index: SearchIndex,
    embedder: Embedder,
    missing: Mapping[int, str],
    monotonic: Callable[[], float],
    budget: float,
) -> set[int]:
    """Embed these pieces in their order for as long as the budget lasts; those that were embedded.

    One text shows what a text costs; then as many go together as the rest of the budget is likely to pay.

    Raises:
        EmbedderFailed: the embedder cannot go on; what it did before is kept.
    """
    begun = last = monotonic()
    made: dict[int, object] = {}
    waiting, count = list(missing), 1
    try:
        while waiting and count:
            step = waiting[:count]
            made |= _vectors(embedder, {piece: missing[piece] for piece in step}, "passage")
            del waiting[:count]
            now = monotonic()
            count = _affordable(len(step), now - last, budget - (now - begun))
            last = now
    finally:
        if made:
            index.keep(embedder.id, made)
    return set(made)


def _affordable(count: int, seconds: float, left: float) -> int:
    """How many texts to embed next, if so many took so long and so much time is left."""
    if seconds <= 0:
        return _STEP
    return min(_STEP, int(count * max(left, 0.0) / seconds))


def _embed(index: SearchIndex, embedder: Embedder, todo: Mapping[int, str], stop: Stop) -> None:
    """Embed in steps, and keep what was made however it ends."""
    # Texts of one length are embedded together without padding; the whole step is kept at once anyway.
    pieces = sorted(todo, key=lambda piece: len(todo[piece]))
    made: dict[int, object] = {}
    try:
        for at in range(0, len(pieces), _STEP):
            if stop():
                break
            step = pieces[at : at + _STEP]
            made |= _vectors(embedder, {piece: todo[piece] for piece in step}, "document")
    finally:
        if made:
            index.keep(embedder.id, made)


def _vectors(embedder: Embedder, texts: Mapping[int, str], kind: Kind) -> dict[int, object]:
    """The vectors of these pieces; a text on which the embedder fails inside costs its own vector only."""
    try:
        return dict(zip(texts, embedder.embed(list(texts.values()), kind), strict=True))
    except EmbedderFailed:
        raise
    except Exception:
        if len(texts) == 1:
            return {}
        alone = [_vectors(embedder, {piece: text}, kind) for piece, text in texts.items()]
        return {piece: vector for made in alone for piece, vector in made.items()}


def _progress(index: SearchIndex, embedder: Embedder, scope: Scope) -> Progress:
    with index.reading() as snapshot:
        return snapshot.progress(embedder.id, scope)
