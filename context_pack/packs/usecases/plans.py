"""From an operation, as it was asked for, to a planned change of a pack.

What the schema of an operation cannot say (one line, either this or that) is checked here, before a file or a
pack is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from attrs import evolve, frozen

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.text import LineRange
from context_pack.kernel.times import expiry, extended
from context_pack.packs.domain import changes, values
from context_pack.packs.domain.model import Diagram, Pack, Ref, Section
from context_pack.packs.usecases import commands
from context_pack.packs.usecases.pointing import Place, located
from context_pack.packs.usecases.resolving import Resolver

T = TypeVar("T")
Part = Section | Ref | Diagram


@frozen
class ChangePlan:
    """A change of a pack, given the time and the anchored ref, and the part of the pack that it is about.

    `point` makes and anchors the ref, if there is one; it may look where a definition is.
    One that only `touches` the time to live is not an edit: a finalized pack allows it.
    """

    change: Callable[[Pack, datetime, Any], Pack]
    touches: bool = False
    part: Callable[[Pack], Part | None] = lambda _: None
    """None if it is gone: a later operation of a batch may have removed it."""
    point: Callable[[Resolver], Ref] | None = None


def planned(operation: object) -> ChangePlan:
    """The plan of an operation.

    Raises:
        Failure: `invalid_data` or `ttl_required`.
    """
    plan = next((plan for kind, plan in _PLANS.items() if isinstance(operation, kind)), None)
    if plan is None:
        raise invalid(f"{type(operation).__name__} is no operation on a pack")
    return plan(operation)


def _upsert_section(operation: commands.UpsertSection) -> ChangePlan:
    key, title = operation.section_key, values.required_line(operation.section_title, "section_title")
    text = operation.section_description
    if text is not None:
        text = values.block(text, "section_description") or ""
    order, scope = operation.section_order, operation.section_scope
    if scope is not None:
        scope = values.scope(scope, "section_scope") if scope.strip() else ""
    return ChangePlan(
        lambda pack, *_: changes.put_section(pack, key, title, text, order, scope),
        part=lambda pack: pack.section(key),
    )


def _delete_section(operation: commands.DeleteSection) -> ChangePlan:
    key = operation.section_key
    return ChangePlan(lambda pack, *_: changes.drop_section(pack, key))


def _upsert_ref(operation: commands.UpsertRef) -> ChangePlan:
    section_key, key = operation.section_key, operation.ref_key
    title = optional_line(operation.ref_title, "ref_title")
    why = optional_line(operation.ref_why, "ref_why")
    group = optional_line(operation.group, "group")
    place = _place(operation)
    kept = [name for name, text in (("title", title), ("why", why), ("group", group)) if text is None]
    return ChangePlan(
        lambda pack, _, ref: changes.put_ref(pack, section_key, ref, kept),
        part=lambda pack: (section := pack.section(section_key)) and section.ref(key),
        point=lambda resolver: resolver.anchored(Ref(key, *place(resolver), title, why, group)),
    )


def _place(operation: commands.UpsertRef) -> Callable[[Resolver], Place]:
    """Where a ref is to point: at lines of a file, or at a definition that has to be found."""
    if operation.symbol is None:
        path = values.path(_wanted(operation.path, "path"))
        start, end = _wanted(operation.line_start, "line_start"), _wanted(operation.line_end, "line_end")
        lines = LineRange(start, end)
        return lambda _: (path, lines)
    if operation.line_start is not None or operation.line_end is not None:
        raise invalid("give either 'symbol' or lines, not both", "symbol")
    symbol = values.required_line(operation.symbol, "symbol")
    within = None if operation.path is None else values.path(operation.path)
    return lambda resolver: located(symbol, within, resolver)


def _wanted(value: T | None, field: str) -> T:
    if value is None:
        raise invalid(f"'{field}' is required, or a 'symbol'", field)
    return value


def _delete_ref(operation: commands.DeleteRef) -> ChangePlan:
    section_key, key = operation.section_key, operation.ref_key
    return ChangePlan(lambda pack, *_: changes.drop_part(pack, section_key, "ref", key))


def _upsert_diagram(operation: commands.UpsertDiagram) -> ChangePlan:
    section_key = operation.section_key
    diagram = Diagram(
        operation.diagram_key,
        values.required_line(operation.title, "title"),
        values.required_block(operation.mermaid, "mermaid"),
        optional_line(operation.diagram_why, "diagram_why"),
    )
    kept = ["why"] if operation.diagram_why is None else []
    return ChangePlan(
        lambda pack, *_: changes.put_diagram(pack, section_key, diagram, kept),
        part=lambda pack: (section := pack.section(section_key)) and section.diagram(diagram.key),
    )


def _delete_diagram(operation: commands.DeleteDiagram) -> ChangePlan:
    section_key, key = operation.section_key, operation.diagram_key
    return ChangePlan(lambda pack, *_: changes.drop_part(pack, section_key, "diagram", key))


def _set_meta(operation: commands.SetMeta) -> ChangePlan:
    if operation.title is None and operation.brief is None and operation.tags is None:
        raise invalid("'title', 'brief' or 'tags' is required; give what should change", "title")
    title = optional_line(operation.title, "title")
    brief = optional_line(operation.brief, "brief")
    tags = None if operation.tags is None else values.tags(operation.tags)
    return ChangePlan(lambda pack, *_: changes.set_meta(pack, title, brief, tags))


def _touch_ttl(operation: commands.TouchTtl) -> ChangePlan:
    minutes, more = operation.ttl_minutes, operation.extend_minutes
    if minutes is not None and more is not None:
        raise invalid("give either 'ttl_minutes' or 'extend_minutes', not both", "extend_minutes")
    if minutes is not None:
        return ChangePlan(lambda pack, now, _: evolve(pack, expires_at=expiry(now, minutes)), touches=True)
    if more is None:
        raise touch_required()
    return ChangePlan(
        lambda pack, now, _: evolve(pack, expires_at=extended(pack.expires_at, more, now)), touches=True
    )


_PLANS: dict[type, Callable[[Any], ChangePlan]] = {
    commands.UpsertSection: _upsert_section,
    commands.DeleteSection: _delete_section,
    commands.UpsertRef: _upsert_ref,
    commands.DeleteRef: _delete_ref,
    commands.UpsertDiagram: _upsert_diagram,
    commands.DeleteDiagram: _delete_diagram,
    commands.SetMeta: _set_meta,
    commands.TouchTtl: _touch_ttl,
}


def ttl_required(hint: str) -> Failure:
    """The refusal of a call that does not say how long a pack is to live."""
    return Failure(Code.TTL_REQUIRED, f"'ttl_minutes' is required: {hint}", {"field": "ttl_minutes"})


def touch_required() -> Failure:
    """The refusal of a `touch_ttl` that gives no minutes."""
    return ttl_required("give it to set the time to live, or 'extend_minutes' to add to it")


def optional_line(value: str | None, field: str) -> str | None:
    """An optional text: None when not given, empty when cleared."""
    return None if value is None else values.one_line(value, field) or ""
