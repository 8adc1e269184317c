"""Operations on a pack: checked, pointed at code and carried out; and a definition's lines from its name.

What the schema of an operation cannot say (one line, either this or that) is checked here, before a file or
a pack is looked at. A ref to code that is not there is allowed in a draft, and answered with a warning that
says what is near; a name that no definition has, or several, gives no lines and is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeVar

from attrs import evolve

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


def checked(operation: Any) -> Any:
    """The operation with its texts trimmed.

    Raises:
        Failure: `invalid_data` or `ttl_required`.
    """
    match operation:
        case commands.UpsertSection(section_description=text, section_scope=scope):
            if text is not None:
                text = values.block(text, "section_description") or ""
            if scope is not None:
                scope = values.scope(scope, "section_scope") if scope.strip() else ""
            title = values.required_line(operation.section_title, "section_title")
            return evolve(operation, section_title=title, section_description=text, section_scope=scope)
        case commands.UpsertRef():
            _place(operation)
            return evolve(
                operation,
                ref_title=optional_line(operation.ref_title, "ref_title"),
                ref_why=optional_line(operation.ref_why, "ref_why"),
                group=optional_line(operation.group, "group"),
            )
        case commands.UpsertDiagram():
            return evolve(
                operation,
                title=values.required_line(operation.title, "title"),
                mermaid=values.required_block(operation.mermaid, "mermaid"),
                diagram_why=optional_line(operation.diagram_why, "diagram_why"),
            )
        case commands.SetMeta(title=title, brief=brief, tags=tags):
            if title is None and brief is None and tags is None:
                raise invalid("'title', 'brief' or 'tags' is required; give what should change", "title")
            return evolve(
                operation,
                title=optional_line(title, "title"),
                brief=optional_line(brief, "brief"),
                tags=None if tags is None else values.tags(tags),
            )
        case commands.TouchTtl(ttl_minutes=minutes, extend_minutes=more):
            if minutes is not None and more is not None:
                raise invalid("give either 'ttl_minutes' or 'extend_minutes', not both", "extend_minutes")
            if minutes is None and more is None:
                raise touch_required()
        case commands.DeleteSection() | commands.DeleteRef() | commands.DeleteDiagram():
            pass
        case _:
            raise invalid(f"{type(operation).__name__} is no operation on a pack")
    return operation


def pointed(operation: Any, resolver: Resolver) -> Ref | None:
    """The anchored ref that an operation makes; looks where a definition is, if need be."""
    if not isinstance(operation, commands.UpsertRef):
        return None
    path, lines = _place(operation)
    if operation.symbol is not None:
        path, lines = located(operation.symbol.strip(), path, resolver)
    assert path is not None
    assert lines is not None
    texts = (operation.ref_title, operation.ref_why, operation.group)
    return resolver.anchored(Ref(operation.ref_key, path, lines, *texts))


def changed(pack: Pack, operation: Any, now: datetime, ref: Ref | None) -> Pack:
    """The pack after a checked operation, with the ref that it makes."""
    match operation:
        case commands.UpsertSection():
            text, scope = operation.section_description, operation.section_scope
            key, title = operation.section_key, operation.section_title
            return changes.put_section(pack, key, title, text, operation.section_order, scope)
        case commands.UpsertRef() if ref is not None:
            given = {"title": operation.ref_title, "why": operation.ref_why, "group": operation.group}
            kept = [name for name, text in given.items() if text is None]
            return changes.put_ref(pack, operation.section_key, ref, kept)
        case commands.UpsertDiagram(diagram_why=why):
            diagram = Diagram(operation.diagram_key, operation.title, operation.mermaid, why)
            return changes.put_diagram(pack, operation.section_key, diagram, ["why"] if why is None else [])
        case commands.DeleteSection():
            return changes.drop_section(pack, operation.section_key)
        case commands.DeleteRef():
            return changes.drop_part(pack, operation.section_key, "ref", operation.ref_key)
        case commands.DeleteDiagram():
            return changes.drop_part(pack, operation.section_key, "diagram", operation.diagram_key)
        case commands.SetMeta():
            return changes.set_meta(pack, operation.title, operation.brief, operation.tags)
        case commands.TouchTtl(ttl_minutes=int(minutes)):
            return evolve(pack, expires_at=expiry(now, minutes))
    return evolve(pack, expires_at=extended(pack.expires_at, operation.extend_minutes, now))


def part_of(pack: Pack, operation: Any) -> Part | None:
    """The part of the pack that an operation is about; None if it is gone, or the operation is about none."""
    match operation:
        case commands.UpsertSection():
            return pack.section(operation.section_key)
        case commands.UpsertRef():
            section = pack.section(operation.section_key)
            return section and section.ref(operation.ref_key)
        case commands.UpsertDiagram():
            section = pack.section(operation.section_key)
            return section and section.diagram(operation.diagram_key)
    return None


def _place(operation: commands.UpsertRef) -> tuple[RelativePath | None, LineRange | None]:
    """Where a ref is to point: lines of a file, or nothing but perhaps a file if a definition is named."""
    if operation.symbol is None:
        path = values.path(_wanted(operation.path, "path"))
        start, end = _wanted(operation.line_start, "line_start"), _wanted(operation.line_end, "line_end")
        return path, LineRange(start, end)
    if operation.line_start is not None or operation.line_end is not None:
        raise invalid("give either 'symbol' or lines, not both", "symbol")
    values.required_line(operation.symbol, "symbol")
    return (None if operation.path is None else values.path(operation.path)), None


def _wanted(value: T | None, field: str) -> T:
    if value is None:
        raise invalid(f"'{field}' is required, or a 'symbol'", field)
    return value


def ttl_required(hint: str) -> Failure:
    """The refusal of a call that does not say how long a pack is to live."""
    return Failure(Code.TTL_REQUIRED, f"'ttl_minutes' is required: {hint}", {"field": "ttl_minutes"})


def touch_required() -> Failure:
    """The refusal of a `touch_ttl` that gives no minutes."""
    return ttl_required("give it to set the time to live, or 'extend_minutes' to add to it")


def optional_line(value: str | None, field: str) -> str | None:
    """An optional text: None when not given, empty when cleared."""
    return None if value is None else values.one_line(value, field) or ""
