"""JSON values as YAML text that every reader, of YAML 1.1 or 1.2, takes for the same values.

A text is written plain only if no reader could take it for something else; several lines become a literal
block where that keeps them exactly; everything else is quoted with escapes that both versions know. Numbers
with a fraction or an exponent always have a point and a sign, because YAML 1.1 wants them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# Certainly a plain string for every reader: words that begin with a letter, single spaces between them.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./+-]*(?: [A-Za-z0-9_./(][A-Za-z0-9_./()+,;-]*)*")
_AMBIGUOUS = frozenset(
    ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "nan", "inf", "infinity"]
)
_ESCAPED = re.compile('["\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
# A block keeps its text as it stands unless a line has blanks where editors and readers disagree about them.
_NO_BLOCK = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]|^[ \n]| $| \n|\n\n$"
)

# A key on the line of its value may have 1024 characters; longer ones are marked as keys.
_LONG_KEY = 1000


def yaml_text(value: Mapping[str, Any], lists: str = "  ") -> str:
    """A mapping as lines of YAML; `lists` is how far the items of a list are indented below its key."""
    lines: list[str] = []
    _mapping(value, lists, "", lines)
    return "".join(lines)


def _mapping(value: Mapping[str, Any], lists: str, indent: str, lines: list[str], dash: str = "") -> None:
    """Write the fields; a `dash` stands in the last columns of the first line's indent."""
    start = indent[: len(indent) - len(dash)] + dash
    for key, inner in value.items():
        name = line_of(key)
        head = f"{start}{name}:"
        if len(name) > _LONG_KEY:
            lines.append(f"{start}? {name}\n")
            head = f"{indent}:"
        _entry(head, inner, lists, indent, lines)
        start = indent


def _entry(head: str, value: Any, lists: str, indent: str, lines: list[str]) -> None:
    """Write a head and its value: on the same line, or on the lines below."""
    if isinstance(value, str):
        block = block_of(value, indent + "  ") if "\n" in value else None
        lines.append(f"{head} {block or line_of(value)}\n")
    elif not isinstance(value, dict | list | tuple) or not value:
        lines.append(f"{head} {_atom(value)}\n")
    elif isinstance(value, dict):
        lines.append(f"{head}\n")
        _mapping(value, lists, indent + "  ", lines)
    else:
        lines.append(f"{head}\n")
        indent += "  " if head.endswith("-") else lists
        for inner in value:
            if isinstance(inner, dict) and inner:
                _mapping(inner, lists, indent + "  ", lines, "- ")
            else:
                _entry(f"{indent}-", inner, lists, indent, lines)


def _atom(value: Any) -> str:
    """A value that is neither text nor a filled collection."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        mantissa, exponent, power = repr(value).partition("e")
        return f"{mantissa}.0e{power}" if exponent and "." not in mantissa else repr(value)
    return "{}" if isinstance(value, dict) else "[]"


def line_of(text: str) -> str:
    """A text on one line, plain if every reader reads it as that text; a lone surrogate is kept."""
    if _PLAIN.fullmatch(text) and text.lower() not in _AMBIGUOUS:
        return text
    return f'"{_ESCAPED.sub(_escape, text)}"'


def block_of(text: str, indent: str) -> str | None:
    """Several lines as a literal block, indented; None where a block would not keep them exactly."""
    if "\n" not in text or _NO_BLOCK.search(text):
        return None
    head = "|" if text.endswith("\n") else "|-"
    body = "\n".join(indent + line if line else "" for line in text.removesuffix("\n").split("\n"))
    return f"{head}\n{body}"


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char)
    return _SHORT.get(char) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
