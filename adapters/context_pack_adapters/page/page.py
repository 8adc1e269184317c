"""The page of one pack: what must be looked at again, contents, then sections in the author's order.

The page is self-contained by construction and by order: its content security policy lets a browser run
nothing and load nothing, and the template escapes every text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from itertools import groupby
from typing import Any

from attrs import frozen
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from context_pack.kernel.languages import language_of
from context_pack.kernel.text import counted
from context_pack.kernel.times import format_instant, human, is_expired, remaining_seconds
from context_pack.packs.claims import claims_of, doubts_of
from context_pack.packs.model import CodeLocation, Diagram, Pack, Ref, Section
from context_pack.packs.states import Resolution, State
from context_pack_adapters.page.diagrams import Drawing, Undrawn, draw
from context_pack_adapters.page.markup import coloured, numbered, prose, spans, style_defs, visible

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
SIGNS: Mapping[State, str] = {
    State.EXACT: "\u2713",
    State.UNANCHORED: "\u25cb",
    State.MOVED: "\u2192",
    State.CHANGED: "\u0394",
    State.AMBIGUOUS: "?",
    State.STALE: "\u2715",
    State.UNKNOWN: "\u2026",
}
NEED_ATTENTION = frozenset({State.CHANGED, State.AMBIGUOUS, State.STALE, State.UNKNOWN})


@frozen
class RefCard:
    """A ref, what became of it, and its id in the page."""

    ref: Ref
    resolution: Resolution
    id: str

    @property
    def title(self) -> str:
        """The title of the ref, else its key."""
        return self.ref.title or self.ref.key

    @property
    def place(self) -> CodeLocation:
        """Where the code stands now, else where it was promised."""
        return self.resolution.found or CodeLocation(self.ref.path, self.ref.lines)

    @property
    def moved_from(self) -> str | None:
        """Where the code stood, if that was elsewhere."""
        before = CodeLocation(self.ref.path, self.ref.lines)
        return None if self.place == before else f"{before.path}:{before.lines}"

    @property
    def reason(self) -> str:
        """Why the code has to be looked at again."""
        if self.resolution.state is State.CHANGED:
            change = self.resolution.difference
            return str(change) if change is not None else "the code is no longer what was anchored"
        return (self.resolution.reason or "the code was not found").removeprefix("ambiguous, ")

    @property
    def needs_attention(self) -> bool:
        """Whether the code shown is not the code promised, or none is shown."""
        return self.resolution.state in NEED_ATTENTION

    @property
    def code(self) -> Markup | None:
        """The code as it is now, with the file's line numbers."""
        excerpt, place = self.resolution.excerpt, self.place
        if excerpt is None or self.resolution.found is None:
            return None
        return numbered(excerpt, language_of(str(place.path)), place.lines.start, self.id)

    @property
    def diff(self) -> Markup | None:
        """What changed since the ref was anchored."""
        change = self.resolution.difference
        return None if change is None else coloured("\n".join(change.diff), "diff")

    @property
    def former(self) -> Markup | None:
        """What a ref was anchored to whose code is not found."""
        text = self.resolution.former
        return None if text is None else coloured(text, language_of(str(self.ref.path)))


@frozen
class Figure:
    """A diagram with its picture, or the reason why it has none, and its id in the page."""

    diagram: Diagram
    drawing: Drawing | Undrawn
    id: str


@frozen
class Chapter:
    """A section: its refs as the author ordered them, in runs of one group, and its diagrams."""

    section: Section
    groups: tuple[tuple[str | None, tuple[RefCard, ...]], ...]
    figures: tuple[Figure, ...]

    @property
    def cards(self) -> tuple[RefCard, ...]:
        """Every ref of the section."""
        return tuple(card for _, cards in self.groups for card in cards)


def render_html(pack: Pack, resolve: Callable[[Ref], Resolution], now: datetime) -> str:
    """The whole page of a pack, with what became of each ref, and the time of that check."""
    chapters = _chapters(pack, resolve)
    cards = [card for chapter in chapters for card in chapter.cards]
    states = Counter(card.resolution.state for card in cards)
    claims, bare = claims_of(pack)
    written = [claim for claim in claims if claim.refs[0].spellings]
    links = {card.ref: card for card in cards}
    diagrams = sum(len(chapter.figures) for chapter in chapters)
    facts = [counted(len(cards), "ref"), counted(diagrams, "diagram")]
    if written:
        facts += [counted(len(written), "claim"), f"{counted(bare, 'statement')} without code"]
    left = human(remaining_seconds(pack.expires_at, now))
    values: dict[str, Any] = {
        "pack": pack,
        "chapters": chapters,
        "doubts": [
            (doubt.claim.sentence, [links[ref] for ref, _ in doubt.refs])
            for doubt in doubts_of(written, resolve)
        ],
        "attention": [card for card in cards if card.needs_attention and not card.ref.spellings],
        "states": [(state, states[state]) for state in State if states[state]],
        "holds": ", ".join(facts),
        "left": "expired" if is_expired(pack.expires_at, now) else f"{left} left",
        "now": now,
    }
    return _environment().get_template("page.html.j2").render(values)


def _chapters(pack: Pack, resolve: Callable[[Ref], Resolution]) -> list[Chapter]:
    """The pack in reading order, each ref resolved once and each diagram drawn once.

    Keys hold no dot and no upper case letter, so the ids of sections, refs and lines cannot meet.
    """
    sections = pack.sections
    drawings = iter(draw([diagram.mermaid for section in sections for diagram in section.diagrams]))
    chapters = []
    for section in sections:
        cards = (RefCard(ref, resolve(ref), f"{section.key}.{ref.key}") for ref in section.refs)
        groups = tuple((group, tuple(run)) for group, run in groupby(cards, lambda card: card.ref.group))
        figures = tuple(
            Figure(diagram, next(drawings), f"{section.key}.{diagram.key}.D") for diagram in section.diagrams
        )
        chapters.append(Chapter(section, groups, figures))
    return chapters


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__, "."),
        autoescape=True,
        finalize=visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"prose": prose, "spans": spans, "moment": _moment}
    environment.globals |= {"policy": POLICY, "signs": SIGNS, "style_defs": style_defs, "counted": counted}
    return environment


def _moment(value: datetime) -> Markup:
    exact = format_instant(value, whole_seconds=True)
    return Markup('<time datetime="{}">{} {} UTC</time>').format(exact, exact[:10], exact[11:16])
