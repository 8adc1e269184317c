"""Whether a context still describes its folder: the stored fingerprint against those of the folder now."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from attrs import frozen

from context_pack.contexts.domain.fingerprint import Method


class State(StrEnum):
    """How far a context can be relied on."""

    FRESH = "fresh"
    STALE = "stale"
    MISSING = "missing"


@frozen
class Freshness:
    """A stored fingerprint beside the computed one that it was compared with."""

    state: State
    stored: str
    computed: str
    method: Method


def compared(stored: str, stat: str, content: Callable[[], str | None]) -> Freshness:
    """Fresh when the stored value equals either fingerprint; contents count only when `stat` differs."""
    if stored == stat:
        return Freshness(State.FRESH, stored, stat, Method.STAT)
    if stored == content():
        return Freshness(State.FRESH, stored, stored, Method.CONTENT)
    return Freshness(State.STALE, stored, stat, Method.STAT)
