"""What stands in a YAML file: plain scalars of the YAML 1.2 core schema, aliases within bounds, complaints.

The pure rules behind `yaml_core`, which reads whole files. An alias is the very value it names, never one
around itself. Values are shared and not copied, so that a file which names a name which names a name costs
nothing to read; but whoever writes the value out would pay, so what aliases add is counted and bounded.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from itertools import islice
from typing import Any, NamedTuple

MOST_ALIASED = 1_000_000
"""How much all aliases of a file may add to it, in characters and values."""
MOST_DIGITS = 3_000
"""Python refuses to spell longer whole numbers."""

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL = {word: value for value, word in ((True, "true"), (False, "false"))}
_BOOL |= {form: value for word, value in _BOOL.items() for form in (word.title(), word.upper())}
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = {"inf": math.inf, "Inf": math.inf, "INF": math.inf}
_NAN = frozenset({".nan", ".NaN", ".NAN"})
_PAIR = re.compile(r"(?<!\\)((?:\\\\)*)(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})")
_SHIFT = 0x800
"""From the halves of characters to private characters."""
_PRIVATE = re.compile(r"[\ue000-\ue7ff]|\\u[eE][0-7]|\\U0000[eE][0-7]")
_PRIVATE_ESCAPES = re.compile(r"\\ue[0-3][0-9a-f]{2}\\ue[4-7][0-9a-f]{2}")
_STAND_IN = re.compile("[\ue000-\ue3ff][\ue400-\ue7ff]")
_NUMBER_STARTS = frozenset("-+.0123456789")


class Malformed(ValueError):
    """The text is not what it should be: why, without quoting it, and where (lines and columns from 1)."""

    def __init__(self, reason: str, line: int | None = None, column: int | None = None) -> None:
        self.reason, self.line, self.column = reason, line, column
        place = "" if line is None else f", line {line}"
        super().__init__(reason + place + ("" if column is None else f", column {column}"))


def at(event: Any, reason: str) -> Malformed:
    """A complaint about what an event of the parser brings."""
    return Malformed(reason, event.start_mark.line + 1, event.start_mark.column + 1)


def core_scalar(text: str) -> Any:
    """The value of a plain scalar under the core schema.

    Raises:
        Malformed: a number of so many digits that nobody could write it again.
    """
    if text[:1] in _NUMBER_STARTS:
        return _number(text)
    if text in _NULL:
        return None
    return _BOOL.get(text, text)


def _number(text: str) -> Any:
    """A number, or the text itself."""
    if _INT.fullmatch(text):
        if len(text) > MOST_DIGITS:
            raise Malformed(f"a number of more than {MOST_DIGITS} digits")
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    sign, _, word = text.rpartition(".")
    if word in _NOT_FINITE and sign in ("", "-", "+"):
        return -_NOT_FINITE[word] if sign == "-" else _NOT_FINITE[word]
    return math.nan if text in _NAN else text


class Pairs:
    """Characters that a text writes as two escapes, as JSON does (`\\ud83d\\ude80`), which libyaml refuses.

    `text` is the same text with escapes of private characters in their place, so that every character stays
    where it is. A text that has such characters itself is left alone.
    """

    def __init__(self, text: str) -> None:
        paired = "\\u" in text and not _PRIVATE.search(text)
        self._found = list(_PAIR.finditer(text)) if paired else []
        self.text = _PAIR.sub(_stand_in, text) if self._found else text

    def __bool__(self) -> bool:
        return bool(self._found)

    def restored(self, event: Any) -> Any:
        """An event of the parser with what the text says: characters, or escapes where they are text."""
        value = getattr(event, "value", None)
        if not isinstance(value, str):
            return event
        if event.style == '"':
            event.value = _STAND_IN.sub(_character, value)
        elif "\\ue" in value:
            first = bisect_left(self._found, event.start_mark.index, key=lambda found: found.start())
            written = (found[2] for found in islice(self._found, first, None))
            event.value = _PRIVATE_ESCAPES.sub(lambda _: next(written), value)
        return event


def _stand_in(found: re.Match[str]) -> str:
    high, low = (int(found[2][at : at + 4], 16) + _SHIFT for at in (2, 8))
    return f"{found[1]}\\u{high:04x}\\u{low:04x}"


def _character(found: re.Match[str]) -> str:
    pair = "".join(chr(ord(half) - _SHIFT) for half in found[0])
    return pair.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


class _Size(NamedTuple):
    """The size of a value when written out: its characters, values and depth."""

    weight: int
    depth: int


class Anchors:
    """The named values of a document, and how much its aliases have added so far."""

    def __init__(self, max_depth: int) -> None:
        self._max_depth = max_depth
        self._values: dict[str, Any] = {}
        self._unfinished: set[str] = set()
        self._sizes: dict[int, _Size] = {}
        self._added = 0

    def open(self, name: str) -> None:
        """Begin a list or mapping with that anchor."""
        self._unfinished.add(name)

    def close(self, name: str, value: Any) -> None:
        """Complete the value with that anchor."""
        self._unfinished.discard(name)
        self._values[name] = value

    def follow(self, event: Any, depth: int) -> Any:
        """The value that an alias at this depth stands for."""
        if event.anchor in self._unfinished:
            raise at(event, "a recursive alias: it stands inside of what it names")
        if event.anchor not in self._values:
            raise at(event, "an alias of a name that nothing before it has")
        value = self._values[event.anchor]
        size = self._measured(value)
        self._added += size.weight
        if self._added > MOST_ALIASED:
            raise at(event, "aliases that would make the file many times larger")
        if depth + size.depth > self._max_depth:
            raise at(event, f"nested deeper than {self._max_depth} levels")
        return value

    def _measured(self, value: Any) -> _Size:
        """The size of a value; one inside it that was an alias itself is not measured again."""
        if not isinstance(value, dict | list):
            return _Size(1 + len(str(value)), 0)
        known = self._sizes.get(id(value))
        if known is None:
            inner = [*value, *value.values()] if isinstance(value, dict) else value
            sizes = [self._measured(item) for item in inner]
            weight = 1 + sum(size.weight for size in sizes)
            known = _Size(weight, 1 + max((size.depth for size in sizes), default=0))
            self._sizes[id(value)] = known
        return known
