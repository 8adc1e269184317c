"""Embeds pieces for semantic search, in small steps: it can end at any moment and goes on where it stopped.

A text that the embedder does not take (too long for its model) is embedded by its beginning, and one of which
no part is taken gets a vector of zeros, near to nothing: no text keeps a collection from being complete.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from context_pack.retrieval.model import Progress, Scope
from context_pack.retrieval.ports import (
    Embedder,
    EmbedderFailed,
    Kind,
    SearchIndex,
    Stop,
    TextRefused,
    Vector,
)

# About two seconds of work: few enough writes, and little lost when it is cut short.
_KEPT_AT_ONCE = 64
STEP = 32
_PROBE = "A short text that every embedder takes."
_LEAST_CHARACTERS = 64


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
