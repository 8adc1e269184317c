"""What a search is asked and what it answers."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen

from context_pack.retrieval.model import Found, Progress, Scope

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
