"""Edits to a YAML file that leave everything else in it as it is: comments, line ends, other fields.

A field's lines go from the one that begins with its name to the next such line. They are replaced, and the
result is given out only if it reads back as the old value with exactly the asked changes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from context_pack.kernel.yaml_documents import Malformed, decoded, dump, load

_FIELD = re.compile(r"""^(["']?)([\w.-]+)\1[ \t]*:(?=\s)""", re.MULTILINE)
_SIGN = re.compile(r"(?:^|(?<=\s))#", re.MULTILINE)
_LINE_END = re.compile(r"[ \t\r]*$", re.MULTILINE)
MOST_SIGNS, MOST_CHARS = 50, 20_000
"""A field with more `#`, or a longer one that has some, is taken for commented, and so left alone."""


class _Field(NamedTuple):
    """A field of a text: where its lines are, and where its value begins."""

    name: str
    start: int
    value: int
    end: int


def commented_fields(data: bytes) -> frozenset[str]:
    """The top fields of a text that `load` reads which have a comment among their lines."""
    text = decoded(data)
    return frozenset(field.name for field in _fields(text) if _comment_of(text[field.start : field.end]))


def revise(
    data: bytes, changes: Mapping[str, Any], order: Sequence[str] = (), finite: bool = True
) -> bytes | None:
    """The text of a mapping with these fields set, or removed where the value is None.

    A new field comes behind the last of those that `order` has before it. None when that cannot be done
    safely.
    """
    try:
        before, text = load(data, finite=finite), decoded(data)
        for name, value in changes.items():
            text = _changed(text, name, value, order)
        after = (data[: len(data) - len(data.removeprefix(b"\xef\xbb\xbf"))]) + text.encode()
        wanted = {name: value for name, value in {**before, **changes}.items() if value is not None}
        return after if load(after, finite=finite) == wanted else None
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


def _comment_of(lines: str) -> str:
    """The first comment among the lines of a field: what can be taken away without changing its value."""
    value = _value(lines)
    most = MOST_SIGNS if len(lines) <= MOST_CHARS else -1
    for number, sign in enumerate(_SIGN.finditer(lines)):
        end = _LINE_END.search(lines, sign.start()).start()  # type: ignore[union-attr]
        if number > most or _value(lines[: sign.start()] + lines[end:]) == value:
            return lines[sign.start() : end]
    return ""


def _value(lines: str) -> Any:
    """The value that lines spell by themselves; None where they spell none."""
    try:
        return load(lines, finite=False)
    except Malformed:
        return None


def _changed(text: str, name: str, value: Any, order: Sequence[str]) -> str:
    """The text with one field set or removed."""
    fields = list(_fields(text))
    newline = "\r\n" if "\r\n" in text[: text.find("\n") + 1] else "\n"
    lines = "" if value is None else dump({name: value}).replace("\n", newline)
    here = next((field for field in fields if field.name == name), None)
    if here is None:
        above = order[: order.index(name)] if name in order else ()
        ends = {field.name: field.end for field in fields}
        at = max([ends[each] for each in above if each in ends] or [0, *ends.values()])
        gap = newline if lines and at and text[at - 1] != "\n" else ""
        return text[:at] + gap + lines + text[at:]
    old = text[here.start : here.end]
    comment = _comment_of(old) if isinstance(value, str) and old.count("\n") <= 1 else ""
    if comment:  # only the value, its comment stays
        head, tail = text[here.start : here.value], old[old.rindex(comment) :]
        lines = f"{head} {json.dumps(value, ensure_ascii=False)} {tail}"
    return text[: here.start] + lines + text[here.end :]
