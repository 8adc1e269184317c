"""Markdown files with YAML front matter: the part of YAML that is read, and the part that is written.

Read: one document of mappings, lists and scalars under the YAML 1.2 core schema, so that timestamps and
`yes` stay text. Tags, anchors, aliases, duplicate keys, non-text keys and deep nesting are refused; the
parser's events are taken one by one, so no input can make this recurse or grow. Written: strings that any
YAML 1.1 or 1.2 reader could take for something else are quoted, so that every reader gets equal values
back. What the values mean, and which may be there, is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

MAX_DEPTH = 16

_FENCE = re.compile(rb"^---\r?$", re.MULTILINE)
_BOM = b"\xef\xbb\xbf"

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL = {word: value for value, word in ((True, "true"), (False, "false"))}
_BOOL |= {form: value for word, value in _BOOL.items() for form in (word.title(), word.upper())}
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
# Infinities and NaN are left as text: no field can hold one, and JSON could not say it.
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,2})?")

# Certainly a plain string for every reader: words that begin with a letter, single spaces between them.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./+-]*(?: [A-Za-z0-9_./(][A-Za-z0-9_./()+,;-]*)*")
_AMBIGUOUS = frozenset(
    ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "nan", "inf", "infinity"]
)
_ESCAPED = re.compile('["\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
# A block keeps its text as it stands unless a line has blanks where editors and readers disagree about them.
_NO_BLOCK = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]|^[ \n]| $| \n|\n\n$"
)


class Malformed(ValueError):
    """The file is not what it should be; the text says why without quoting the file."""


def split(data: bytes) -> bytes:
    """The bytes between the first line, which is `---`, and the next such line."""
    data = data.removeprefix(_BOM)
    opening = _FENCE.match(data)
    if opening is None:
        raise Malformed("the first line is not '---'")
    closing = _FENCE.search(data, opening.end())
    if closing is None:
        raise Malformed("the front matter has no closing '---' line")
    return data[opening.end() : closing.start()]


def parse(front: bytes) -> dict[str, Any]:
    """The mapping that the front matter spells."""
    import yaml

    try:
        text = front.decode("utf-8")
    except UnicodeDecodeError:
        raise Malformed("the front matter is not UTF-8") from None
    try:
        value = _Reader(text).document()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark is not None else ""
        # Only the parser's own words, never its excerpt of the file.
        raise Malformed(f"not valid YAML: {getattr(error, 'problem', None) or 'unreadable'}{where}") from None
    if not isinstance(value, dict):
        raise Malformed("the front matter is not a mapping")
    return value


class _Reader:
    """Builds plain values from the parser's events, with a stack of its own."""

    def __init__(self, text: str) -> None:
        import yaml

        loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
        self._next = loader(text).get_event
        self._yaml = yaml

    def document(self) -> Any:
        """The one document of the stream."""
        yaml = self._yaml
        self._next()
        if not isinstance(self._next(), yaml.DocumentStartEvent):
            raise Malformed("the front matter is empty")
        value = self._value()
        self._next()
        if not isinstance(self._next(), yaml.StreamEndEvent):
            raise Malformed("the front matter holds more than one document")
        return value

    def _value(self) -> Any:
        """The next value, with everything in it."""
        yaml = self._yaml
        scalar, mapping, sequence = yaml.ScalarEvent, yaml.MappingStartEvent, yaml.SequenceStartEvent
        root: list[Any] = []
        stack: list[_Open] = []
        place = _Open(root, None)
        while True:
            event = self._next()
            kind = type(event)
            if kind is scalar:
                _refuse_marks(event)
                if place.wants_key:
                    place.take_key(event)
                else:
                    place.put(_scalar(event))
            elif kind is mapping or kind is sequence:
                _refuse_marks(event)
                if place.wants_key:
                    raise Malformed(f"a key is not text, line {event.start_mark.line + 1}")
                if len(stack) >= MAX_DEPTH:
                    raise Malformed(f"nested deeper than {MAX_DEPTH} levels")
                stack.append(place)
                place = _Open(None, {}) if kind is mapping else _Open([], None)
            elif kind is yaml.AliasEvent:
                raise Malformed(f"an alias, line {event.start_mark.line + 1}; write the value out")
            else:
                done, place = place, stack.pop()
                place.put(done.items if done.fields is None else done.fields)
            if root:
                return root[0]


class _Open:
    """A list or mapping that is being filled."""

    __slots__ = ("fields", "items", "key", "wants_key")

    def __init__(self, items: list[Any] | None, fields: dict[str, Any] | None) -> None:
        self.items = items
        self.fields = fields
        self.key = ""
        self.wants_key = fields is not None

    def take_key(self, event: Any) -> None:
        """Remember the key of the value that comes next."""
        assert self.fields is not None
        line = event.start_mark.line + 1
        if not isinstance(_scalar(event), str):
            raise Malformed(f"a key is not text, line {line}")
        if event.value in self.fields:
            raise Malformed(f"a key appears twice, line {line}")
        self.key, self.wants_key = event.value, False

    def put(self, value: Any) -> None:
        """Add a value at its place."""
        if self.fields is None:
            assert self.items is not None
            self.items.append(value)
        else:
            self.fields[self.key] = value
            self.wants_key = True


def _refuse_marks(event: Any) -> None:
    if event.tag is not None or event.anchor is not None:
        raise Malformed(f"a tag or an anchor, line {event.start_mark.line + 1}; plain values only")


def _scalar(event: Any) -> Any:
    """What a scalar means under the YAML 1.2 core schema."""
    text: str = event.value
    if not event.implicit[0]:
        return text
    first = text[:1]
    if first in "-+.0123456789" and first:
        return _number(text)
    if text in _NULL:
        return None
    return _BOOL.get(text, text)


def _number(text: str) -> Any:
    """An int or a float, or the text itself: a value that long is none that any field could hold."""
    if len(text) > 40:
        return text
    if _INT.fullmatch(text):
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def render(record: Mapping[str, Any], body: str) -> bytes:
    """A whole file: fence, front matter, fence, body.

    Raises:
        UnicodeEncodeError: a text holds half of a character.
    """
    lines = ["---"]
    _write_mapping(record, "", lines)
    lines += ["---", body]
    return "\n".join(lines).encode("utf-8")


def _write_mapping(record: Mapping[str, Any], indent: str, lines: list[str], dash: str = "") -> None:
    """Write the entries; a `dash` stands in the last columns of the first line's indent."""
    start = indent[: len(indent) - len(dash)] + dash
    for key, value in record.items():
        head = f"{start}{_text(key)}:"
        start = indent
        if isinstance(value, str):
            lines.append(f"{head} {_block(value, indent + '  ') or _text(value)}")
        elif isinstance(value, Mapping) and value:
            lines.append(head)
            _write_mapping(value, indent + "  ", lines)
        elif isinstance(value, Sequence) and value:
            lines.append(head)
            _write_list(value, indent, lines)
        else:
            lines.append(f"{head} {_atom(value)}")


def _write_list(values: Sequence[Any], indent: str, lines: list[str]) -> None:
    for value in values:
        if isinstance(value, Mapping) and value:
            _write_mapping(value, indent + "  ", lines, dash="- ")
        else:
            lines.append(f"{indent}- {_text(value) if isinstance(value, str) else _atom(value)}")


def _atom(value: Any) -> str:
    """A value that is neither text nor a filled collection."""
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Mapping | Sequence) and not value:
        return "{}" if isinstance(value, Mapping) else "[]"
    raise TypeError(f"no front matter for {type(value).__name__}")


def _text(value: str) -> str:
    """A string on one line, plain if nobody can misread it."""
    if _PLAIN.fullmatch(value) and value.lower() not in _AMBIGUOUS:
        return value
    return f'"{_ESCAPED.sub(_escape, value)}"'


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char)
    if 0xD800 <= code <= 0xDFFF:
        return char  # left for the encoder to refuse
    return _SHORT.get(char) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def _block(value: str, indent: str) -> str | None:
    """Several lines as a literal block, where it keeps them exactly; else None."""
    if "\n" not in value or _NO_BLOCK.search(value):
        return None
    kept = value.endswith("\n")
    body = "\n".join(indent + line if line else "" for line in value.removesuffix("\n").split("\n"))
    return f"{'|' if kept else '|-'}\n{body}"
