"""JSON values as YAML text that every reader, of YAML 1.1 or 1.2, takes for the same values.

A text is written plain only if no reader could take it for something else; several lines become a literal
block where that keeps them exactly; everything else is quoted with escapes that both versions know. Numbers
with a fraction or an exponent always have a point and a sign, because YAML 1.1 wants them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./+-]*(?: [A-Za-z0-9_./(][A-Za-z0-9_./()+,;-]*)*")
_AMBIGUOUS = frozenset(
    ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "nan", "inf", "infinity"]
)
_ESCAPED = re.compile('["\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
# Line breaks and blanks that readers or editors disagree about.
_NO_BLOCK = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]|^[ \n]| $| \n|\n\n$"
)
# A key on the line of its value may have 1024 characters; longer ones are marked as keys.
_LONG_KEY = 1000


def yaml_text(value: Mapping[str, Any]) -> str:
    """A mapping of JSON values as a YAML document."""
    return "\n".join(_mapping(value, "")) + "\n"


def _mapping(value: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, inner in value.items():
        name = _text(key)
        head = f"{indent}{name}:"
        if len(name) > _LONG_KEY:
            yield f"{indent}? {name}"
            head = f"{indent}:"
        yield from _entry(head, inner, indent)


def _list(value: list[Any], indent: str) -> Iterator[str]:
    for inner in value:
        if isinstance(inner, Mapping) and inner:
            # The first field stands beside the dash.
            lines = _mapping(inner, indent + "  ")
            yield f"{indent}- {next(lines)[len(indent) + 2 :]}"
            yield from lines
        else:
            yield from _entry(f"{indent}-", inner, indent)


def _entry(head: str, value: Any, indent: str) -> Iterator[str]:
    """A head and its value: on the same line, or on the lines below."""
    if isinstance(value, Mapping) and value:
        yield head
        yield from _mapping(value, indent + "  ")
    elif isinstance(value, list) and value:
        yield head
        yield from _list(value, indent + "  ")
    elif isinstance(value, str) and "\n" in value and not _NO_BLOCK.search(value):
        yield f"{head} {'|' if value.endswith(chr(10)) else '|-'}"
        for line in value.removesuffix("\n").split("\n"):
            yield f"{indent}  {line}" if line else ""
    else:
        yield f"{head} {_atom(value)}"


def _atom(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, str):
        return _text(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value)
    return "{}" if isinstance(value, Mapping) else "[]"


def _float(value: float) -> str:
    spelled = repr(value)
    mantissa, exponent, power = spelled.partition("e")
    return spelled if not exponent or "." in mantissa else f"{mantissa}.0e{power}"


def _text(value: str) -> str:
    if _PLAIN.fullmatch(value) and value.lower() not in _AMBIGUOUS:
        return value
    return f'"{_ESCAPED.sub(_escape, value)}"'


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char)
    return _SHORT.get(char) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
