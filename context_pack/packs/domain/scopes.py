"""Scopes that sections name: folders whose written context a section relies on, and how that context stands.

A scope is `.` or a relative path. Whether its context is fresh is asked of others; here is only what a legend
says about it: fresh scopes are not worth a word, and what is not known is not told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from context_pack.packs.domain.model import Pack


class ScopeState(StrEnum):
    """How the context of a scope stands to its folder."""

    FRESH = "fresh"
    STALE = "stale"
    MISSING = "missing"


Scopes = Mapping[str, ScopeState]
"""The state of each scope; one that is not there is not known."""
NOTHING_KNOWN: Scopes = {}


def scopes_in(pack: Pack) -> Sequence[str]:
    """The scopes that the sections name, each once, in reading order."""
    return list(dict.fromkeys(section.scope for section in pack.sections if section.scope is not None))


def outdated(pack: Pack, scopes: Scopes) -> str:
    """The scopes whose context cannot be relied on, in words; empty when there are none."""
    states = [(scope, scopes.get(scope, ScopeState.FRESH)) for scope in scopes_in(pack)]
    return ", ".join(
        scope if state is ScopeState.STALE else f"{scope} ({state})"
        for scope, state in states
        if state is not ScopeState.FRESH
    )
