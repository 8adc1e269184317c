"""From an operation, as it was asked for, to a planned change of a pack.

Everything that can be wrong with an operation by itself is found here, before any pack is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import singledispatch

from attrs import evolve, frozen

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.ttl import expiry, extended
from context_pack.packs.domain import changes, values
from context_pack.packs.domain.lifecycle import Deed
from context_pack.packs.domain.model import Diagram, Pack, Ref, Section
from context_pack.packs.usecases import commands

Part = Section | Ref | Diagram
Anchoring = Callable[[Ref], Ref]
_SOME_DAY = datetime(2000, 1, 1, tzinfo=UTC)


@frozen
class Plan:
    """A change of a pack, what kind of deed it is, and which part of the pack it is about."""

    change: Callable[[Pack, datetime], Pack]
    deed: Deed = Deed.EDIT
    part: Callable[[Pack], Part | None] = lambda _: None


def as_it_is(ref: Ref) -> Ref:
    """An anchoring that does nothing: for checking a plan without reading a file."""
    return ref


@singledispatch
def planned(operation: object, _: Anchoring = as_it_is) -> Plan:
    """The plan of an operation.

    Raises:
        Failure: `invalid_data` or `ttl_required`.
    """
    raise invalid(f"{type(operation).__name__} is no operation on a pack")


@planned.register
def _(operation: commands.UpsertSection, _: Anchoring = as_it_is) -> Plan:
    key = values.key(operation.section_key, "section_key")
    title = _title(operation.section_title, "section_title")
    text = operation.section_description
    if text is not None:
        text = values.block(text, "section_description") or ""
        values.bounded(text, "section_description", values.DESCRIPTION_CHARS)
    order = operation.section_order
    if order is not None and (not isinstance(order, int) or isinstance(order, bool)):
        raise invalid("'section_order' must be an integer", "section_order")
    scope = operation.section_scope
    if scope is not None:
        scope = values.scope(scope, "section_scope") if values.string(scope, "section_scope").strip() else ""
    return Plan(
        lambda pack, _: changes.put_section(pack, key, title, text, order, scope),
        part=lambda pack: pack.section(key),
    )


@planned.register
def _(operation: commands.DeleteSection, _: Anchoring = as_it_is) -> Plan:
    key = values.key(operation.section_key, "section_key")
    return Plan(lambda pack, _: changes.drop_section(pack, key))


@planned.register
def _(operation: commands.UpsertRef, anchored: Anchoring = as_it_is) -> Plan:
    section_key = values.key(operation.section_key, "section_key")
    ref = anchored(
        Ref(
            values.key(operation.ref_key, "ref_key"),
            values.path(operation.path),
            values.lines(operation.line_start, operation.line_end),
            optional_line(operation.ref_title, "ref_title", values.TITLE_CHARS),
            optional_line(operation.ref_why, "ref_why", values.WHY_CHARS),
            optional_line(operation.group, "group", values.GROUP_CHARS),
        )
    )
    return Plan(
        lambda pack, _: changes.promise_ref(pack, section_key, ref),
        part=lambda pack: changes.section_of(pack, section_key).ref(ref.key),
    )


@planned.register
def _(operation: commands.DeleteRef, _: Anchoring = as_it_is) -> Plan:
    section_key = values.key(operation.section_key, "section_key")
    key = values.key(operation.ref_key, "ref_key")
    return Plan(lambda pack, _: changes.drop_ref(pack, section_key, key))


@planned.register
def _(operation: commands.UpsertDiagram, _: Anchoring = as_it_is) -> Plan:
    section_key = values.key(operation.section_key, "section_key")
    mermaid = values.bounded(
        values.required_block(operation.mermaid, "mermaid"), "mermaid", values.MERMAID_CHARS
    )
    diagram = Diagram(
        values.key(operation.diagram_key, "diagram_key"),
        _title(operation.title, "title"),
        mermaid,
        optional_line(operation.diagram_why, "diagram_why", values.WHY_CHARS),
    )
    return Plan(
        lambda pack, _: changes.put_diagram(pack, section_key, diagram),
        part=lambda pack: changes.section_of(pack, section_key).diagram(diagram.key),
    )


@planned.register
def _(operation: commands.DeleteDiagram, _: Anchoring = as_it_is) -> Plan:
    section_key = values.key(operation.section_key, "section_key")
    key = values.key(operation.diagram_key, "diagram_key")
    return Plan(lambda pack, _: changes.drop_diagram(pack, section_key, key))


@planned.register
def _(operation: commands.SetMeta, _: Anchoring = as_it_is) -> Plan:
    if operation.title is None and operation.brief is None and operation.tags is None:
        raise invalid("'title', 'brief' or 'tags' is required; give what should change", "title")
    title = optional_line(operation.title, "title", values.TITLE_CHARS)
    brief = optional_line(operation.brief, "brief", values.BRIEF_CHARS)
    tags = None if operation.tags is None else tags_of(operation.tags)
    return Plan(lambda pack, _: changes.set_meta(pack, title, brief, tags))


@planned.register
def _(operation: commands.TouchTtl, _: Anchoring = as_it_is) -> Plan:
    minutes, more = operation.ttl_minutes, operation.extend_minutes
    if minutes is not None and more is not None:
        raise invalid("give either 'ttl_minutes' or 'extend_minutes', not both", "extend_minutes")
    if minutes is not None:
        expiry(_SOME_DAY, minutes)
        return Plan(lambda pack, now: evolve(pack, expires_at=expiry(now, minutes)), Deed.TOUCH)
    if more is None:
        raise ttl_required("or 'extend_minutes' to add to the time that is left")
    extended(_SOME_DAY, more, _SOME_DAY)
    return Plan(lambda pack, now: evolve(pack, expires_at=extended(pack.expires_at, more, now)), Deed.TOUCH)


def ttl_required(hint: str) -> Failure:
    """The refusal of a call that does not say how long a pack is to live."""
    return Failure(Code.TTL_REQUIRED, f"'ttl_minutes' is required: {hint}", {"field": "ttl_minutes"})


def tags_of(given: tuple[str, ...]) -> tuple[str, ...]:
    """Tags within their bounds."""
    tags = values.tags(given)
    if len(tags) > values.TAGS_MOST:
        raise invalid(f"'tags' must have at most {values.TAGS_MOST} items", "tags")
    return tuple(values.bounded(tag, "tags", values.TAG_CHARS) for tag in tags)


def _title(value: str, field: str) -> str:
    return values.bounded(values.required_line(value, field), field, values.TITLE_CHARS)


def optional_line(value: str | None, field: str, most: int) -> str | None:
    """An optional text: None when not given, empty when cleared."""
    return None if value is None else values.bounded(values.one_line(value, field) or "", field, most)
