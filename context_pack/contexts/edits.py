"""Edits to a `.context.yaml` that leave everything else in it as it is: comments, line ends, other fields.

A field's lines go from the one that begins with its name to the next such line, without the blank lines and
comments behind it. They are replaced, and the result is given out only if it reads back as the old value with
exactly the asked changes. Parsers of YAML drop comments, and quotes make a `#` hard to tell from one; so a
field has a comment unless it has no such sign, or stands exactly as this program writes it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from context_pack.contexts.model import FIELDS
from context_pack.kernel.yaml_documents import Malformed, decoded, dump, load

_FIELD = re.compile(r"""^(["']?)([\w.-]+)\1[ \t]*:(?=\s)""", re.MULTILINE)
_SIGN = re.compile(r"(?:^|\s)#", re.MULTILINE)
_ONE_LINE = re.compile(
    r"""[ \t]+(?:"[^"\\\n]*"|'[^'\n]*'|[^\s"'#&*!|>\[{][^\s#]*)(?P<comment>[ \t]+#[^\n]*\n?)"""
)
"""A value on one line, and the comment behind it."""


class _Field(NamedTuple):
    """A field of a text: where its lines are, and where its value begins."""

    name: str
    start: int
    value: int
    end: int


def commented_fields(data: bytes) -> frozenset[str]:
    """The top fields of a text that `load` reads which may have a comment among their lines."""
    text = decoded(data)
    return frozenset(
        field.name for field in _fields(text) if _may_be_commented(text[field.start : field.end])
    )


def revise(data: bytes, changes: Mapping[str, Any]) -> bytes | None:
    """The text of a context with these fields set, or removed where the value is None.

    A new field comes behind the last of those that the schema has before it. None when that cannot be done
    safely.
    """
    try:
        before, text = load(data, finite=False), decoded(data)
        for name, value in changes.items():
            text = _changed(text, name, value)
        after = (data[: len(data) - len(data.removeprefix(b"\xef\xbb\xbf"))]) + text.encode()
        wanted = {name: value for name, value in {**before, **changes}.items() if value is not None}
        return after if load(after, finite=False) == wanted else None
    except (Malformed, UnicodeEncodeError, TypeError):
        return None


def _fields(text: str) -> Iterator[_Field]:
    """The fields that begin at the start of a line, each without blank lines and comments behind it."""
    starts = list(_FIELD.finditer(text))
    for begun, following in zip(starts, [*starts[1:], None], strict=True):
        end = len(text) if following is None else following.start()
        yield _Field(begun[2], begun.start(), begun.end(), _content_end(text, begun.end(), end))


def _content_end(text: str, start: int, end: int) -> int:
    """Where the content ends that begins in the line of `start`: before blank lines and comments."""
    while text[end - 1 : end] == "\n":
        above = text.rfind("\n", start, end - 1) + 1
        line = text[above:end].strip()
        if not above or (line and not line.startswith("#")):
            break
        end = above
    return end


def _may_be_commented(lines: str) -> bool:
    """Whether the lines of a field may hold a comment."""
    if not _SIGN.search(lines):
        return False
    try:
        return lines.replace("\r\n", "\n").rstrip("\n") != dump(load(lines, finite=False)).rstrip("\n")
    except (Malformed, TypeError):  # it has an alias of another field, or is no mapping
        return True


def _changed(text: str, name: str, value: Any) -> str:
    """The text with one field set or removed.

    Raises:
        Malformed: a comment would be lost.
    """
    fields = list(_fields(text))
    newline = "\r\n" if "\r\n" in text[: text.find("\n") + 1] else "\n"
    lines = "" if value is None else dump({name: value}).replace("\n", newline)
    here = next((field for field in fields if field.name == name), None)
    if here is None:
        above = FIELDS[: FIELDS.index(name)]
        ends = {field.name: field.end for field in fields}
        at = max([ends[each] for each in above if each in ends] or [0, *ends.values()])
        gap = newline if lines and at and text[at - 1] != "\n" else ""
        return text[:at] + gap + lines + text[at:]
    if _may_be_commented(text[here.start : here.end]):
        line = _ONE_LINE.fullmatch(text, here.value, here.end)
        if line is None or not isinstance(value, str):
            raise Malformed("it has a comment")
        lines = f"{text[here.start : here.value]} {json.dumps(value, ensure_ascii=False)}{line['comment']}"
    return text[: here.start] + lines + text[here.end :]
