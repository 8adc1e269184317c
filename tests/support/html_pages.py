"""Packs to show as pages, and a page as an HTML parser sees it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from typing import Any

from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Reason
from context_pack.kernel.text import LineRange
from context_pack.packs.anchors import SourceText
from context_pack.packs.following import unreadable
from context_pack.packs.model import CodeLocation, Diagram, Pack, Ref, Section, Status
from context_pack.packs.states import Resolution, State
from context_pack_adapters.page.page import render_html

NOW = datetime(2026, 2, 18, 12, 0, 0, tzinfo=UTC)
SOURCE = "\n".join(f"line_{number} = {number}" for number in range(1, 101))
VOID = {"meta", "link", "br", "hr", "img", "source"}


def pack(*sections: Section, **fields: Any) -> Pack:
    """A draft with these sections."""
    facts: dict[str, Any] = {
        "id": "pk_abcdefgh",
        "status": Status.DRAFT,
        "tags": (),
        "revision": 7,
        "created_at": NOW - timedelta(days=1),
        "updated_at": NOW - timedelta(hours=1),
        "expires_at": NOW + timedelta(days=12),
    }
    return Pack(**{**facts, "sections": sections, **fields})


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


class Structure(HTMLParser):
    """A page as a parser sees it; fails on an element that is not closed where it should be."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(markup)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def values(self, name: str) -> list[str]:
        """Every value of an attribute."""
        return [value for _, key, value in self.attributes if key == name]


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
