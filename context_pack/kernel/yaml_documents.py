"""YAML read and written, by PyYAML: the one module for packs, memory, contexts and bundles.

Read: values are built from the events of `yaml.parse` with a stack of our own, because PyYAML's C loader
kills the interpreter at some 50,000 brackets. Scalars are those of the YAML 1.2 core schema, so that
timestamps, `yes`, `on`, `12:30` and `1_000` stay text. Depth, digits and what aliases add are bounded.
Written: by PyYAML's emitter; what a reader of YAML 1.1 or 1.2 could take for something else is quoted.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

MAX_DEPTH = 100
MOST_DIGITS = 3_000
"""Python refuses to write longer whole numbers."""
ALIASED = 10
"""How many times larger than its text a value may be, once aliases are written out."""

_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_TAG = "tag:yaml.org,2002:"
_TAGS = {None, "!", *(_TAG + name for name in ("null", "bool", "int", "float", "str", "seq", "map"))}
_WORDS: dict[str, Any] = dict.fromkeys(["", "~", "null", "Null", "NULL"])
_WORDS |= dict.fromkeys(["true", "True", "TRUE"], True) | dict.fromkeys(["false", "False", "FALSE"], False)
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_NUMBER_STARTS = frozenset("-+.0123456789")
_BLOCK = re.compile(
    r"[^\s\x00-\x1f\x7f-\x9f][^\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]*\S\n?"
)
"""Lines that a literal block shows as they are."""


class Malformed(ValueError):
    """The text is not what it should be: why, without quoting it, and where (lines and columns from 1)."""

    def __init__(self, reason: str, mark: Any = None) -> None:
        self.reason = reason
        self.line: int | None = None if mark is None else mark.line + 1
        self.column: int | None = None if mark is None else mark.column + 1
        super().__init__(reason if mark is None else f"{reason}, line {self.line}, column {self.column}")


def load(data: bytes | str, max_depth: int = MAX_DEPTH, finite: bool = True) -> Any:
    """The value of the one document in `data`; `finite` refuses infinity and NaN.

    Raises:
        Malformed: it is not UTF-8, not YAML, not one document, too deep, or could not be written as JSON.
    """
    text = data if isinstance(data, str) else decoded(data)
    try:
        value = _document(yaml.parse(text, Loader=_LOADER), max_depth, finite, ALIASED * (len(text) + 1000))
        if "\\u" in text:  # only an escape spells half a character, and only PyYAML's slow parser reads it
            json.dumps(value, ensure_ascii=False).encode()
    except yaml.YAMLError as error:
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable"
        mark, at = getattr(error, "problem_mark", None), getattr(error, "position", None)
        if mark is None and at is not None:  # of a character that YAML does not allow
            mark = yaml.Mark("", at, text.count("\n", 0, at), at - text.rfind("\n", 0, at) - 1, None, 0)
        raise Malformed(f"not valid YAML: {problem}", mark) from None
    except UnicodeEncodeError:
        raise Malformed("half a character (a lone surrogate)") from None
    return value


def decoded(data: bytes) -> str:
    """The text that the bytes spell in UTF-8, without a byte order mark.

    Raises:
        Malformed: they spell none.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, column = data.count(b"\n", 0, error.start), error.start - data.rfind(b"\n", 0, error.start) - 1
        raise Malformed("not UTF-8", yaml.Mark("", error.start, line, column, None, 0)) from None


def load_json(data: bytes, max_depth: int = MAX_DEPTH) -> Any:
    """The value of a JSON text, under the same bounds.

    Raises:
        Malformed: it spells none, or one that could not be written again.
    """
    text = decoded(data)
    try:
        value = json.loads(text)
        # Numbers that are not finite and half characters are JSON to Python, and to nobody else.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except json.JSONDecodeError as error:
        raise Malformed(f"not valid JSON: {error.msg}, line {error.lineno}, column {error.colno}") from None
    except (ValueError, RecursionError):
        words = "a number that is not finite, half a character, too many digits, or nested too deep"
        raise Malformed(f"a value that could not be written again: {words}") from None
    if size_left(value, len(text) + 1000, max_depth - 1) < 0:
        raise Malformed(f"nested deeper than {max_depth} levels")
    return value


def dump(value: Mapping[str, Any]) -> str:
    """A mapping as YAML that readers of YAML 1.1 and 1.2 take for the same values."""
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1 << 30)
    return text


class _Open:
    """A list or mapping that is being filled, and the key of its next value."""

    __slots__ = ("key", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.key: str | None = None


def _document(events: Iterator[Any], max_depth: int, finite: bool, room: int) -> Any:
    """The value that the parser's events spell; `room` is how much aliases may add."""
    place = root = _Open([])
    around: list[_Open] = []
    anchors: dict[str, Any] = {}
    for event in events:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            if type(place.value) is dict and place.key is None:
                if event.value in place.value:
                    raise Malformed("a key appears twice", event.start_mark)
                place.key = event.value
                continue
            value = _scalar(event, finite)
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            value = {} if kind is yaml.MappingStartEvent else []
        elif kind is yaml.AliasEvent:
            value = anchors.get(event.anchor)
            if event.anchor not in anchors or any(each.value is value for each in (*around, place)):
                raise Malformed("an alias of nothing before it", event.start_mark)
            room = size_left(value, room, max_depth - len(around))
            if room < 0:
                raise Malformed("an alias that makes the file too large or deep", event.start_mark)
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            place = around.pop()
            continue
        elif kind is yaml.DocumentStartEvent and root.value:
            raise Malformed("more than one document", event.start_mark)
        else:
            continue
        if type(place.value) is list:
            place.value.append(value)
        elif place.key is None:
            raise Malformed("a key is not text", event.start_mark)
        else:
            place.value[place.key], place.key = value, None
        if kind is yaml.AliasEvent:
            continue
        if event.tag not in _TAGS:
            raise Malformed("a tag that the core schema does not have", event.start_mark)
        if event.anchor is not None:
            anchors[event.anchor] = value
        if kind is not yaml.ScalarEvent:
            if len(around) >= max_depth:
                raise Malformed(f"nested deeper than {max_depth} levels", event.start_mark)
            around.append(place)
            place = _Open(value)
    if not root.value:
        raise Malformed("it is empty")
    return root.value[0]


def _scalar(event: Any, finite: bool) -> Any:
    """The value of a scalar: what core says of a plain one, else its text."""
    text = event.value
    if event.tag in ("!", _TAG + "str") or not (event.implicit[0] or event.tag):
        return text
    if text[:1] not in _NUMBER_STARTS:
        return _WORDS.get(text, text)
    if _INT.fullmatch(text):
        if len(text) > MOST_DIGITS:
            raise Malformed("a number of too many digits", event.start_mark)
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    if not _FLOAT.fullmatch(text):
        return text
    value = float(text.replace(".", "") if text[-1].isalpha() else text)
    if finite and not math.isfinite(value):
        raise Malformed("a number that is not finite", event.start_mark)
    return value


def size_left(value: Any, room: int, depth: int) -> int:
    """What is left of the room behind a value; negative if there is none, or it is too deep."""
    room -= len(value) + 1 if isinstance(value, str | list | dict) else 1
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in inner:
        if room < 0 or depth <= 0:
            return -1
        room = size_left(item, room, depth - 1)
    return room


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """PyYAML's writer, told what the YAML 1.2 core schema takes for numbers."""

    def ignore_aliases(self, _: Any) -> bool:
        """Every value is written out."""
        return True

    def text(self, text: str) -> Any:
        """Lines as a block where that shows them as they are."""
        style = None if "\n" not in text else "|" if _BLOCK.fullmatch(text) else '"'
        return self.represent_scalar(_TAG + "str", text, style=style)


_Dumper.add_representer(str, _Dumper.text)
for _tag, _pattern in (("int", _INT), ("float", _FLOAT)):
    _Dumper.add_implicit_resolver(_TAG + _tag, re.compile(f"(?:{_pattern.pattern})\\Z"), list(_NUMBER_STARTS))
_Dumper.add_implicit_resolver(_TAG + "bool", re.compile(r"[yYnN]\Z"), list("yYnN"))  # YAML 1.1, not PyYAML
