"""Packs to show as pages."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from sample_packs import sample_pack

from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Reason
from context_pack.kernel.text import LineRange
from context_pack.packs.anchors import SourceText
from context_pack.packs.following import unreadable
from context_pack.packs.model import CodeLocation, Diagram, Pack, Ref, Section
from context_pack.packs.states import Resolution, State
from context_pack_adapters.page.page import render_html

NOW = datetime(2026, 2, 18, 12, 0, 0, tzinfo=UTC)
SOURCE = "\n".join(f"line_{number} = {number}" for number in range(1, 101))


def pack(*sections: Section, **fields: Any) -> Pack:
    """A draft with these sections."""
    times = {"created_at": NOW - timedelta(days=1), "updated_at": NOW - timedelta(hours=1)}
    facts = {**times, "expires_at": NOW + timedelta(days=12), "revision": 7, "sections": sections}
    return sample_pack(**{**facts, **fields})


def ref(key: str, path: str = "src/app.py", start: int = 42, end: int = 45, **fields: Any) -> Ref:
    """A ref to some lines."""
    return Ref(key, RelativePath(path), LineRange(start, end), **fields)


def at(state: State, found: CodeLocation | None = None, source: str = SOURCE) -> Callable[[Ref], Resolution]:
    """A resolver that finds every ref in that state."""

    def resolve(one: Ref) -> Resolution:
        if state is State.STALE:
            return unreadable(Reason.MISSING)
        if state is State.UNKNOWN:
            return unreadable(Reason.IO)
        if state is State.AMBIGUOUS:
            return Resolution(state, reason="ambiguous, lines 3-4, 8-9")
        place = found or CodeLocation(one.path, one.lines)
        reason = "changed" if state is State.CHANGED else None
        excerpt = SourceText(place.path, source).cut(place.lines.start, place.lines.end)
        return Resolution(state, place, reason, excerpt)

    return resolve


def page(shown: Pack, resolve: Callable[[Ref], Resolution] | None = None) -> str:
    """The page of a pack whose refs are exact unless said otherwise."""
    return render_html(shown, resolve or at(State.EXACT), NOW)


FULL = pack(
    Section(
        "flow",
        "The flow",
        "How **it** goes.",
        (
            ref("loose"),
            ref("beta", group="zeta", title="Beta ref", why="Because of beta"),
            ref("alpha", group="alpha"),
        ),
        (Diagram("graph", "A graph", "flowchart LR\n  A --> B", "To see it"),),
    ),
    Section("rest", "The rest"),
    name="my-pack",
    title="A title",
    brief="A brief",
    tags=("one", "two"),
)
