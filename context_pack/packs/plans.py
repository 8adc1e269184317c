"""Planned changes of a pack from the operations that were asked for, and a definition's lines from its name.

What the schema of an operation cannot say (one line, either this or that) is checked here, before a file or
a pack is looked at. A ref to code that is not there is allowed in a draft, and answered with a warning that
says what is near; a name that no definition has, or several, gives no lines and is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from attrs import evolve, frozen

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Reason, near_paths
from context_pack.kernel.syntax import Definition, DefinitionKind, name_parts, named
from context_pack.kernel.text import MAX_LINES, MOST_NEAR, LineRange, close
from context_pack.kernel.times import expiry, extended
from context_pack.packs import changes, commands, values
from context_pack.packs.anchors import SourceText
from context_pack.packs.following import Text
from context_pack.packs.model import Diagram, Pack, Ref, Section
from context_pack.packs.resolving import Resolver
from context_pack.packs.states import WORDS

Place = tuple[RelativePath, LineRange]
_TYPES = frozenset({DefinitionKind.INTERFACE, DefinitionKind.TYPE})
_OVERLOAD = re.compile(r"^\s*@(?:\w+\.)*overload\b", re.MULTILINE)
_DOCSTRING = re.compile(r'\n\s*(?:"""(?s:.*?)"""|\'\'\'(?s:.*?)\'\'\')')


def located(symbol: str, path: RelativePath | None, resolver: Resolver) -> Place:
    """The file and lines of the definition of that name, in a file or in the tree.

    Raises:
        Failure: `invalid_data`, field `symbol` or `path`; `details.near` names what is near.
    """
    texts, complete = resolver.defining(symbol) if path is None else ([_text(path, resolver)], True)
    places = _definitions(symbol, texts)
    parts = name_parts(symbol)
    if not places and complete:
        names = {name for text in texts for name in text.names}
        if path is None:
            names |= resolver.names_like(symbol)
        near = close(symbol, names) or sorted(name for name in names if name_parts(name)[-1] == parts[-1])
        raise _refusal(f"nothing called '{symbol}' is defined in {path or 'the project'}", near)
    near = [f"{each.qualified} in {text.path}, lines {each.start}-{each.end}" for text, each in places]
    if len(places) > 1:
        raise _refusal(f"'{symbol}' is defined {len(places)} times; give path and lines", near)
    if not complete:
        times = "found once" if places else "not found"
        raise _refusal(f"'{symbol}' was {times} before the time was over, with files left; give 'path'", near)
    ((text, found),) = places
    if found.end - found.start >= MAX_LINES:
        raise invalid(f"'{symbol}' has more than {MAX_LINES} lines; give lines of it", "symbol")
    return text.path, LineRange(found.start, found.end)


def _definitions(symbol: str, texts: Sequence[Text]) -> list[tuple[Text, Definition]]:
    places = [(text, each) for text in texts for each in named(text.definitions, symbol)]
    parts = name_parts(symbol)
    places = [(text, each) for text, each in places if name_parts(each.qualified) == parts] or places
    return _with_bodies(places) if len(places) > 1 else places


def definition_count(symbol: str, resolver: Resolver) -> int:
    """How many definitions of the tree have that name."""
    return len(_definitions(symbol, resolver.defining(symbol)[0]))


def _with_bodies(places: list[tuple[Text, Definition]]) -> list[tuple[Text, Definition]]:
    """Those of some definitions of a name that do something: not stubs and declarations; all if none does."""
    rest = [(text, each) for text, each in places if not _is_stub(each, text.source.lines)] or places
    return [(text, each) for text, each in rest if each.kind not in _TYPES] or rest


def _is_stub(definition: Definition, lines: Sequence[str]) -> bool:
    """Whether a definition is only a head, an `@overload`, or has `...` in place of a body."""
    above = "\n".join(lines[definition.start - 1 : definition.line - 1])
    text = _DOCSTRING.sub("", "\n".join(lines[definition.line - 1 : definition.end]))
    code, head = "".join(text.split()).removesuffix("..."), "".join(definition.signature.split())
    return _OVERLOAD.search(above) is not None or code.rstrip(":;,") == head.rstrip(":;,")


def warning_of(ref: Ref, resolver: Resolver) -> str | None:
    """A warning if the lines of a ref do not exist, with near suggestions; else None."""
    text = resolver.files.text(ref.path)
    if isinstance(text, SourceText):
        if ref.lines.end <= text.count:
            return None
        end = text.count
        start = ref.lines.start if ref.lines.start <= end else max(1, end - ref.lines.count + 1)
        near = f"; did you mean {start}-{end}?" if end else ""
        return f"lines {ref.lines} do not exist: {ref.path} has {end} line{'' if end == 1 else 's'}{near}"
    if text is not Reason.MISSING:
        return f"{ref.path} cannot be shown: {WORDS[text]}"
    return f"{ref.path} does not exist{_did_you_mean(near_paths(ref.path, resolver.names()))}"


def _text(path: RelativePath, resolver: Resolver) -> Text:
    found = resolver.files.parsed(path)
    if isinstance(found, Text):
        return found
    near = near_paths(path, resolver.names()) if found is Reason.MISSING else []
    words = f"'path' cannot be read: {WORDS[found]}{_did_you_mean(near)}"
    raise invalid(words, "path", near=near)


def _did_you_mean(near: Sequence[str]) -> str:
    return f"; did you mean {' or '.join(near)}?" if near else ""


def _refusal(words: str, near: Sequence[str]) -> Failure:
    return invalid(f"{words}{_did_you_mean(near[:MOST_NEAR])}", "symbol", near=list(near[:MOST_NEAR]))


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
