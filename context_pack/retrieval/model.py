"""The values that go into an index and come out of it, what a search is asked and what it answers.

A corpus (a collection, the code of a project, its discoveries) holds entries; an entry (a document, a source
file, a note) is replaced as a whole and holds pieces; a piece is what is ranked and shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from attrs import field, frozen


@frozen
class Piece:
    """One passage that can be found: `text` stands verbatim in the entry at lines `start` to `end`."""

    text: str
    start: int = 1
    end: int = 1
    heading: str = ""
    """The nearest preceding heading, or the name of a function or class."""
    context: str = ""
    """What is embedded before the text: the entry's title and the heading path."""
    names: str = ""
    """What weighs more in a keyword search: title, headings, path, symbol names."""
    facts: Mapping[str, Any] = field(factory=dict)
    """What the feature wants back with the piece; plain JSON."""


@frozen
class IndexEntry:
    """One document with its pieces: stored, replaced and forgotten as a whole."""

    corpus: str
    key: str
    digest: str
    """Hex SHA-256 of the content: the same digest needs no new pieces."""
    stamp: str = ""
    """The signature of the file's state (size, times, inode): the same stamp needs no reading."""
    title: str = ""
    size: int = 0
    """In characters."""
    text: str = ""
    """The whole content where the feature wants it back; may be empty."""
    kind: str = ""
    module: str = ""
    pieces: tuple[Piece, ...] = ()
    facts: Mapping[str, Any] = field(factory=dict)


class KnownEntry(NamedTuple):
    """What the index remembers of an entry, enough to see whether it changed."""

    digest: str
    stamp: str


@frozen
class Summary:
    """An entry without its text."""

    corpus: str
    key: str
    title: str
    size: int


@frozen
class Scope:
    """Which pieces a search may see; filters apply before ranking. None and "" do not filter."""

    corpora: tuple[str, ...] | None = None
    kinds: tuple[str, ...] | None = None
    module: str | None = None
    without: tuple[str, str] | None = None
    """All but this entry (corpus, key)."""


PieceHit = tuple[int, float]
"""A piece and its score in one search: BM25 (higher is better) or cosine."""


@frozen
class FoundPiece:
    """A piece as it is shown."""

    piece: int
    corpus: str
    key: str
    title: str
    index: int
    """Its place among the pieces of its entry, from 1."""
    total: int
    text: str
    start: int
    end: int
    heading: str = ""
    kind: str = ""
    module: str = ""
    facts: Mapping[str, Any] = field(factory=dict)
    entry_facts: Mapping[str, Any] = field(factory=dict)


@frozen
class Progress:
    """How many pieces have a vector of an embedder."""

    done: int
    total: int


Mode = Literal["hybrid", "vector", "keyword"]


@frozen
class Question:
    """What is asked, where, and how much of the answer is wanted."""

    query: str
    scope: Scope = field(factory=Scope)
    limit: int = 10
    max_distance: float | None = None
    hybrid: bool = True
    plain: bool = False
    """Whether the fast embedder answers even where there is another, as is best for code."""
    nearest: bool = False
    """Whether the nearest pieces are candidates however far they are; the caller ranks them."""
    names: tuple[str, ...] = ()
    """What is defined by one of these names is a candidate, wherever words and vectors have it."""


class Ranked(NamedTuple):
    """One piece of an answer: its true cosine distance, its relevance, and its shares of the best scores."""

    found: FoundPiece
    distance: float
    relevance: float
    words: float = 0.0
    meaning: float = 0.0


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
    more: bool = False
    """Whether more pieces have words of the query than were looked at: then `total` is a lower bound."""
    weight: float = 0.0
    """The share of the vectors in the order."""
