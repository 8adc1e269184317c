"""Where the fields of a YAML file stand in its text, and how to change some without touching the rest.

A field is changed by replacing its own lines, or only its value's characters where that is one line;
comments, blank lines, quoting and order of everything else stay as somebody wrote them. Nothing here knows
which fields may be changed. What cannot be done this way raises `CannotEdit`; whoever calls reads the result
back and compares, so that no edit is ever believed blindly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from context_pack.kernel.yaml_text import yaml_text
from context_pack_adapters.stores.yaml_core import tolerant

_MARKS = re.compile(r"(?:[&!]\S*\s+)+")
BLOCK_STYLES = ("|", ">")


class CannotEdit(ValueError):
    """The text is laid out in a way that cannot be changed safely."""


class FieldSpan(NamedTuple):
    """One field of a mapping: where its key, its value and its last character stand."""

    key: str
    at: int
    column: int
    value_at: int
    end: int
    style: str
    """Empty for a plain or quoted text, `|` or `>` for a block, `block` or `flow` for a list or mapping."""
    fields: Sequence[FieldSpan] | None
    scalars: Sequence[tuple[int, int, str]]
    """The texts in it (begin, end, style), in which a `#` is no comment."""

    def child(self, key: str) -> FieldSpan | None:
        """The field of that name in it."""
        return next((entry for entry in self.fields or () if entry.key == key), None)


def top_of(text: str) -> FieldSpan:
    """The whole document as an entry without a key; the text must be YAML already known to be a mapping."""
    import yaml

    def read(readable: str, _: object) -> FieldSpan:
        parser = getattr(yaml, "CBaseLoader", yaml.BaseLoader)(readable)
        parser.get_event()
        parser.get_event()
        return _Positions(parser, yaml).entry("", 0, 0)

    return tolerant(text, read)


class _Positions:
    """Follows the parser's events; depth is bounded by the reader that has accepted the text before."""

    def __init__(self, parser: Any, yaml: Any) -> None:
        self._parser = parser
        self._yaml = yaml

    def entry(self, key: str, at: int, column: int) -> FieldSpan:
        """The value that comes next, as the entry of a key."""
        event = self._parser.get_event()
        start, end = event.start_mark.index, event.end_mark.index
        if not isinstance(event, self._yaml.CollectionStartEvent):
            style = getattr(event, "style", None)
            kind = style if style in BLOCK_STYLES else ""
            return FieldSpan(key, at, column, start, end, kind, None, ((start, end, kind),))
        mapping = isinstance(event, self._yaml.MappingStartEvent)
        parts: list[FieldSpan] = []
        scalars: list[tuple[int, int, str]] = []
        while not isinstance(self._parser.peek_event(), self._yaml.CollectionEndEvent):
            mark, name = self._parser.peek_event().start_mark, ""
            if mapping:
                named = self._parser.get_event()
                name = named.value
                scalars.append((mark.index, named.end_mark.index, ""))
            parts.append(self.entry(name, mark.index, mark.column))
            scalars += parts[-1].scalars
            end = parts[-1].end
        closing = self._parser.get_event()
        if event.flow_style:
            end = closing.end_mark.index
        style = "flow" if event.flow_style else "block"
        return FieldSpan(
            key, at, column, start, end, style, tuple(parts) if mapping else None, tuple(scalars)
        )


def has_comment(text: str, entry: FieldSpan) -> bool:
    """Whether there is a comment among the lines of a field."""
    at = entry.at
    stop = _line_end(text, entry.end)
    for begin, end, style in sorted(entry.scalars):
        if "#" in text[at:begin]:
            return True
        if style in BLOCK_STYLES and "#" in text[begin : text.find("\n", begin)]:
            return True
        at = max(at, end)
    return "#" in text[at:stop]


def set_value(text: str, entry: FieldSpan, value: Any) -> str:
    """The text with a field's value replaced, or the field removed when the value is None.

    A text in place of one on one line is quoted, and what follows on its line stays; else whole lines change.
    """
    if isinstance(value, str) and not entry.style:
        marks = _MARKS.match(text[entry.value_at : entry.end])
        before = marks[0] if marks is not None else ""
        return f"{text[: entry.value_at]}{before}{json.dumps(value, ensure_ascii=False)}{text[entry.end :]}"
    begin = text.rfind("\n", 0, entry.at) + 1
    if text[begin : entry.at].strip(" "):
        return _set_inline(text, entry, value)
    end = _line_end(text, entry.end)
    if text[entry.end : end].strip():
        raise CannotEdit("something follows on the last line")
    if value is None:
        return text[:begin] + text[_past_break(text, end) :]
    return text[:begin] + _lines(text, entry.key, value, entry.column).removesuffix(_break(text)) + text[end:]


def _set_inline(text: str, entry: FieldSpan, value: Any) -> str:
    """A field among others on one line: its value as JSON, which is YAML too."""
    if value is None:
        raise CannotEdit("a field among others on one line")
    return text[: entry.value_at] + json.dumps(value, ensure_ascii=False) + text[entry.end :]


def add_field(text: str, mapping: FieldSpan, key: str, value: Any, after: Sequence[str]) -> str:
    """The text with a new field, placed behind the last field of `after` that is there, else at the end."""
    if mapping.style != "block" or not mapping.fields:
        raise CannotEdit("the fields do not stand on lines of their own")
    before = [entry for entry in mapping.fields if entry.key in after] or list(mapping.fields)
    last = before[-1]
    lines = _lines(text, key, value, last.column)
    end = _line_end(text, last.end)
    if last.style in BLOCK_STYLES:
        # A block's end is the beginning of the next line; blank lines may belong to it.
        return text[:end] + ("" if text[:end].endswith("\n") else _break(text)) + lines + text[end:]
    rest = _past_break(text, end)
    return (
        text[:end] + _break(text) + (lines if rest > end else lines.removesuffix(_break(text))) + text[rest:]
    )


def _lines(text: str, key: str, value: Any, column: int) -> str:
    """A field as whole lines, indented, with the text's own line ends."""
    plain = block_of(key, value)
    return "".join(
        f"{' ' * column}{line}" if line.strip() else line for line in plain.splitlines(True)
    ).replace("\n", _break(text))


def block_of(key: str, value: Any) -> str:
    """A field as lines of YAML that every reader understands alike."""
    return yaml_text({key: value}, lists="")


def fields_of(top: FieldSpan) -> Iterator[tuple[str, FieldSpan]]:
    """Every field as its name, those of a mapping in it as `a.b`."""
    for entry in top.fields or ():
        yield entry.key, entry
        for inner in entry.fields or ():
            yield f"{entry.key}.{inner.key}", inner


def changed(record: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The record as it should be after the changes."""
    after = dict(record)
    for name, value in changes.items():
        outer, dot, inner = name.partition(".")
        if not dot:
            _put(after, name, value)
            continue
        held = dict(after[outer]) if isinstance(after.get(outer), dict) else {}
        _put(held, inner, value)
        _put(after, outer, held or None)
    return after


def _put(record: dict[str, Any], name: str, value: Any) -> None:
    if value is None:
        record.pop(name, None)
    else:
        record[name] = value


def _line_end(text: str, at: int) -> int:
    """The end of the line that a place is on, before its break; right behind a break is the line before."""
    if at > 0 and text[at - 1] == "\n":
        return at
    end = text.find("\n", at)
    if end < 0:
        return len(text)
    return end - 1 if end > at and text[end - 1] == "\r" else end


def _past_break(text: str, at: int) -> int:
    if text.startswith("\r\n", at):
        return at + 2
    return at + 1 if text.startswith("\n", at) else at


def _break(text: str) -> str:
    """How the text ends its lines."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"
