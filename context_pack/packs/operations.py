"""The operations on a pack: what each takes, which part it is about, and what it makes of the pack.

Operations name no pack, because one call may carry many of them. In optional texts None is "as it is" and ""
is "nothing". A ref to code that is not there is allowed in a draft, and answered with a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from attrs import evolve, frozen

from context_pack.kernel.errors import Failure, invalid
from context_pack.kernel.text import LAST_LINE, LineRange
from context_pack.kernel.times import MAX_MINUTES, expiry, extended
from context_pack.packs import values
from context_pack.packs.anchors import NAME_CHARS
from context_pack.packs.changes import drop_part, put, put_ref, section_of, with_section, without
from context_pack.packs.commands import (
    ACTION,
    BRIEF,
    KEY,
    TAGS,
    TITLE,
    TTL,
    WANTED_TITLE,
    WHY,
    by_action,
    checked,
    ttl_required,
)
from context_pack.packs.definitions import Place, find_definition
from context_pack.packs.model import Diagram, Pack, Ref, Section
from context_pack.packs.resolving import Resolver
from context_pack.toolkit.arguments import arg, integer, text

Part = Section | Ref | Diagram
Change = Callable[[Pack], Pack]


class Operation:
    """One change of what a pack holds."""

    edits = True
    """Whether it changes the content, which a finalized pack keeps."""

    def planned(self, _: Resolver, __: datetime, /) -> Change:
        """What it makes of a pack; whatever it must look at is read now, before the pack is locked."""
        return self.applied

    def applied(self, pack: Pack) -> Pack:
        """The pack after it."""
        raise NotImplementedError

    def part(self, pack: Pack) -> Part | None:
        """The part of the changed pack that it is about; None if it is gone, or it is about none."""
        section_key, ref_key, diagram_key = (
            getattr(self, name, "") for name in ("section_key", "ref_key", "diagram_key")
        )
        section = pack.section(section_key)
        if section is None or not (ref_key or diagram_key):
            return section
        return section.ref(ref_key) if ref_key else section.diagram(diagram_key)


@frozen(kw_only=True)
class UpsertSection(Operation):
    """Add a section, or change its title, text or place."""

    action: str = arg(ACTION, "upsert_section", default="upsert_section")
    section_key: str = arg(KEY, "Section key, e.g. token-flow")
    section_title: str = checked(WANTED_TITLE, "Section heading", values.one_line)
    section_description: str | None = arg(
        text(0, values.DESCRIPTION_CHARS), "Markdown under the heading; '' clears it", default=None
    )
    section_order: int | None = arg(integer(), "Its place, from 0", default=None)

    def applied(self, pack: Pack) -> Pack:
        """The section keeps its parts, and its place unless one is given."""
        old = pack.section(self.section_key) or Section(self.section_key, self.section_title)
        description = old.description if self.section_description is None else self.section_description
        section = evolve(old, title=self.section_title, description=description)
        if self.section_order is None:
            return with_section(pack, section)
        rest = without(pack.sections, section.key)
        at = max(0, min(self.section_order, len(rest)))
        return evolve(pack, sections=[*rest[:at], section, *rest[at:]])


@frozen(kw_only=True)
class DeleteSection(Operation):
    """Remove a section and what is in it."""

    action: str = arg(ACTION, "delete_section", default="delete_section")
    section_key: str = arg(KEY, "Section key")

    def applied(self, pack: Pack) -> Pack:
        """The pack without it."""
        section_of(pack, self.section_key)
        return evolve(pack, sections=without(pack.sections, self.section_key))


@frozen(kw_only=True)
class UpsertRef(Operation):
    """Anchor lines of a file, or a definition by its name, in a section; what is not given stays."""

    action: str = arg(ACTION, "upsert_ref", default="upsert_ref")
    section_key: str = arg(KEY, "Section key")
    ref_key: str = arg(KEY, "Ref key")
    path: str | None = checked(
        text(1, values.PATH_CHARS, blank=False),
        "File, relative to the source root",
        values.path,
        default=None,
    )
    line_start: int | None = arg(integer(1, LAST_LINE), "First line, from 1", default=None)
    line_end: int | None = arg(integer(1, LAST_LINE), "Last line, included", default=None)
    symbol: str | None = checked(
        text(1, NAME_CHARS, blank=False), "Or a definition: Class.method", values.one_line, default=None
    )
    ref_title: str | None = checked(TITLE, "Ref heading", values.one_line, default=None)
    ref_why: str | None = checked(WHY, "Why these lines matter", values.one_line, default=None)
    group: str | None = checked(text(0, values.GROUP_CHARS), "Groups refs", values.one_line, default=None)

    def __attrs_post_init__(self) -> None:
        place = {"path": self.path, "line_start": self.line_start, "line_end": self.line_end}
        missing = [name for name, value in place.items() if value is None]
        if self.symbol is not None and not {"line_start", "line_end"} <= {*missing}:
            raise invalid("give either 'symbol' or lines, not both", "symbol")
        if self.symbol is None and missing:
            raise invalid(f"'{missing[0]}' is required, or a 'symbol'", missing[0])
        self._place()  # refuses lines that cannot be

    def _place(self) -> Place | None:
        """The place that is given; None for that of a definition."""
        if self.path is None or self.line_start is None or self.line_end is None:
            return None
        return values.path(self.path), LineRange(self.line_start, self.line_end)

    def planned(self, resolver: Resolver, _: datetime, /) -> Change:
        """Put the anchored ref; a definition is looked for, and words that are not given stay.

        Raises:
            Failure: `invalid_data` for a name that no definition has, or several.
        """
        file = None if self.path is None else values.path(self.path)
        path, lines = self._place() or find_definition((self.symbol or "").strip(), file, resolver)
        words: dict[str, Any] = {"title": self.ref_title, "why": self.ref_why, "group": self.group}
        ref = resolver.anchored(Ref(self.ref_key, path, lines, **words))
        kept = [name for name, text in words.items() if text is None]
        return lambda pack: put_ref(pack, self.section_key, ref, kept)


@frozen(kw_only=True)
class DeleteRef(Operation):
    """Remove a ref."""

    action: str = arg(ACTION, "delete_ref", default="delete_ref")
    section_key: str = arg(KEY, "Section key")
    ref_key: str = arg(KEY, "Ref key")

    def applied(self, pack: Pack) -> Pack:
        """The pack without it."""
        return drop_part(pack, self.section_key, "ref", self.ref_key)


@frozen(kw_only=True)
class UpsertDiagram(Operation):
    """Put a Mermaid diagram into a section; a reason that is not given stays."""

    action: str = arg(ACTION, "upsert_diagram", default="upsert_diagram")
    section_key: str = arg(KEY, "Section key")
    diagram_key: str = arg(KEY, "Diagram key")
    title: str = checked(WANTED_TITLE, "Diagram heading", values.one_line)
    mermaid: str = arg(text(1, values.MERMAID_CHARS, blank=False), "Mermaid source")
    diagram_why: str | None = checked(WHY, "Why the diagram matters", values.one_line, default=None)

    def applied(self, pack: Pack) -> Pack:
        """The diagram stays where it stands."""
        section = section_of(pack, self.section_key)
        old = section.diagram(self.diagram_key) or Diagram(self.diagram_key, self.title, self.mermaid)
        why = old.why if self.diagram_why is None else self.diagram_why
        diagram = evolve(old, title=self.title, mermaid=self.mermaid, why=why)
        return with_section(pack, evolve(section, diagrams=put(section.diagrams, diagram)))


@frozen(kw_only=True)
class DeleteDiagram(Operation):
    """Remove a diagram."""

    action: str = arg(ACTION, "delete_diagram", default="delete_diagram")
    section_key: str = arg(KEY, "Section key")
    diagram_key: str = arg(KEY, "Diagram key")

    def applied(self, pack: Pack) -> Pack:
        """The pack without it."""
        return drop_part(pack, self.section_key, "diagram", self.diagram_key)


@frozen(kw_only=True)
class SetMeta(Operation):
    """Change title, brief or tags."""

    action: str = arg(ACTION, "set_meta", default="set_meta")
    title: str | None = checked(TITLE, "Title; '' clears it", values.one_line, default=None)
    brief: str | None = checked(BRIEF, "Brief; '' clears it", values.one_line, default=None)
    tags: tuple[str, ...] | None = checked(
        TAGS, "All tags, in place of the old ones", values.tags, default=None
    )

    def __attrs_post_init__(self) -> None:
        if self.title is None and self.brief is None and self.tags is None:
            raise invalid("'title', 'brief' or 'tags' is required; give what should change", "title")

    def applied(self, pack: Pack) -> Pack:
        """The pack with what is given."""
        given: dict[str, Any] = {"title": self.title, "brief": self.brief, "tags": self.tags}
        return evolve(pack, **{name: value for name, value in given.items() if value is not None})


@frozen(kw_only=True)
class TouchTtl(Operation):
    """Set or extend the time to live."""

    edits = False
    action: str = arg(ACTION, "touch_ttl", default="touch_ttl")
    ttl_minutes: int | None = arg(*TTL, default=None)
    extend_minutes: int | None = arg(integer(1, MAX_MINUTES), "Minutes to add", default=None)

    def __attrs_post_init__(self) -> None:
        if self.ttl_minutes is not None and self.extend_minutes is not None:
            raise invalid("give either 'ttl_minutes' or 'extend_minutes', not both", "extend_minutes")
        if self.ttl_minutes is None and self.extend_minutes is None:
            raise touch_required()

    def planned(self, _: Resolver, now: datetime, /) -> Change:
        """Put the end off, or set it."""
        minutes, more = self.ttl_minutes, self.extend_minutes or 0
        if minutes is not None:
            return lambda pack: evolve(pack, expires_at=expiry(now, minutes))
        return lambda pack: evolve(pack, expires_at=extended(pack.expires_at, more, now))


def touch_required() -> Failure:
    """The refusal of a `touch_ttl` that gives no minutes."""
    return ttl_required("give it to set the time to live, or 'extend_minutes' to add to it")


OPERATIONS: Mapping[str, type[Operation]] = by_action(
    UpsertSection, DeleteSection, UpsertRef, DeleteRef, UpsertDiagram, DeleteDiagram, SetMeta, TouchTtl
)
