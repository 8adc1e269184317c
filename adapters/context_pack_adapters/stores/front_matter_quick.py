"""Reading front matter that looks exactly as `front_matter` writes it, without a YAML parser.

Most pack files are written by us, and their lines have one simple form. This reader takes that form and no
other: a line, a scalar or an indentation that it does not know for certain makes it answer None, and the file
is read as YAML, by the one reader that also knows how to complain. So what it answers is always what YAML
says, and it never refuses anything. Quicker by far, because each line is looked at once.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

MOST_LEVELS = 8
_UNKNOWN: Any = object()

# Indentation, perhaps the dash of a list's item, perhaps a key, perhaps a value.
_LINE = re.compile(r"( *)(- )?(?:([a-z_]{2,40}):(?: |(?=\n)))?(.*)\n")
_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,15}")
# Certainly a plain string for every reader: words that begin with a letter, single spaces between them.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./+-]*(?: [A-Za-z0-9_./(][A-Za-z0-9_./()+,;-]*)*")
_AMBIGUOUS = frozenset(
    ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "nan", "inf", "infinity"]
)
_QUOTED = re.compile(r'"[^"\\]*(?:\\["\\nrt][^"\\]*)*"')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {'"': '"', "\\": "\\", "n": "\n", "r": "\r", "t": "\t"}
# What a YAML reader refuses, drops or takes for the end of a line.
_ODD = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


def quick(front: bytes) -> dict[str, Any] | None:
    """The mapping that the front matter spells; None if only a YAML parser can tell."""
    try:
        text = front.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if _ODD.search(text) is not None or not text.startswith("\n") or not text.endswith("\n"):
        return None
    reader = _Reader(text)
    try:
        found = reader.mapping(0, 0)
    except _Unsure:
        return None
    return found if reader.at == len(reader.rows) else None


class _Unsure(Exception):
    """Something that is not known for certain."""


class _Reader:
    """The lines of a text as rows of column, dash, key and value, and the number of the next one."""

    def __init__(self, text: str) -> None:
        self.rows = _LINE.findall(text, 1)
        self.at = 0
        self._text = text
        self._known: dict[str, Any] = {"null": None, "true": True, "false": False}

    def mapping(self, indent: int, level: int) -> dict[str, Any]:
        """The mapping whose keys stand at that column; the first may stand behind the dash of an item."""
        rows, made, end = self.rows, dict[str, Any](), len(self.rows)
        while self.at < end:
            blanks, dash, key, value = rows[self.at]
            column = len(blanks) + len(dash)
            if made and (dash or column < indent):
                break
            if column != indent or not key or key in made or key in _AMBIGUOUS:
                raise _Unsure
            self.at += 1
            known = self._known.get(value, _UNKNOWN)
            made[key] = self._value(value, indent, level) if known is _UNKNOWN else known
        if not made:
            raise _Unsure
        return made

    def _value(self, value: str, indent: int, level: int) -> Any:
        """What stands behind a key: a scalar, a block of text, a list or a mapping."""
        if value:
            return self._block(value, " " * (indent + 2)) if value[0] == "|" else self._scalar(value)
        if level >= MOST_LEVELS or self.at >= len(self.rows):
            raise _Unsure
        blanks, dash, _, _ = self.rows[self.at]
        if dash and len(blanks) == indent:
            return self._list(indent, level + 1)
        if not dash and len(blanks) == indent + 2:
            return self.mapping(indent + 2, level + 1)
        raise _Unsure

    def _list(self, indent: int, level: int) -> list[Any]:
        """The items whose dashes stand at that column."""
        rows, made, end = self.rows, list[Any](), len(self.rows)
        while self.at < end:
            blanks, dash, key, value = rows[self.at]
            if not dash or len(blanks) != indent:
                break
            if key:
                made.append(self.mapping(indent + 2, level + 1))
            else:
                made.append(self._scalar(value))
                self.at += 1
        return made

    def _scalar(self, text: str) -> Any:
        """What a scalar means; an empty list or mapping is a new one every time."""
        if text == "[]":
            return []
        value = self._known.get(text, _UNKNOWN)
        if value is _UNKNOWN:
            value = self._known[text] = _read(text)
        return value

    def _block(self, header: str, pad: str) -> str:
        """A literal block of lines that all begin with the same indentation."""
        if header not in ("|", "|-"):
            raise _Unsure
        lines = self._lines
        start = self.at
        while self.at < len(lines) and (lines[self.at].startswith(pad) or not lines[self.at]):
            self.at += 1
        block = [line[len(pad) :] for line in lines[start : self.at]]
        sure = block and block[0][:1].strip(" ") and block[-1].strip(" ")
        if not sure or any(line and not line.strip(" ") for line in block):
            raise _Unsure
        return "\n".join(block) + ("\n" if header == "|" else "")

    @cached_property
    def _lines(self) -> list[str]:
        """The lines as they are."""
        return self._text[1:-1].split("\n")


def _read(text: str) -> Any:
    if _QUOTED.fullmatch(text):
        return _ESCAPE.sub(lambda escape: _ESCAPED[escape[1]], text[1:-1]) if "\\" in text else text[1:-1]
    if _PLAIN.fullmatch(text) and text.lower() not in _AMBIGUOUS:
        return text
    if _NUMBER.fullmatch(text):
        return int(text)
    raise _Unsure
