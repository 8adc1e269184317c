"""What a backslash and a bracket mean in a search pattern.

The meaning is that of Python's `regex`, with what other dialects add where it takes nothing away: `\\x{…}`,
`\\u{…}`, `\\/`. Named classes in brackets are ASCII, as in POSIX and ripgrep. Inside brackets `[`, `&&`, `--`
and `||` are plain characters.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NoReturn

from context_pack.code.domain.search_nodes import LAST, SPACES, CharSet, Span, merged, outside

CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "a": 7}
POSIX: dict[str, tuple[Span, ...]] = {
    "alnum": ((48, 57), (65, 90), (97, 122)),
    "alpha": ((65, 90), (97, 122)),
    "ascii": ((0, 127),),
    "blank": ((9, 9), (32, 32)),
    "cntrl": ((0, 31), (127, 127)),
    "digit": ((48, 57),),
    "graph": ((33, 126),),
    "lower": ((97, 122),),
    "print": ((32, 126),),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)),
    "upper": ((65, 90),),
    "word": ((48, 57), (65, 90), (95, 95), (97, 122)),
    "xdigit": ((48, 57), (65, 70), (97, 102)),
}
HORIZONTAL: tuple[Span, ...] = (
    *((9, 9), (32, 32), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x202F, 0x202F)),
    *((0x205F, 0x205F), (0x3000, 0x3000)),
)
_CLASSES = {
    "s": CharSet(SPACES),
    "S": CharSet(SPACES, negated=True),
    "h": CharSet(HORIZONTAL),
    "H": CharSet(HORIZONTAL, negated=True),
    **{name: CharSet(tables=(f"\\{name}",)) for name in "dw"},
    **{name.upper(): CharSet(tables=(f"\\{name}",), negated=True) for name in "dw"},
}
_HEX = re.compile(
    r"x([0-9A-Fa-f]{2})|x\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}|U([0-9A-Fa-f]{8})"
)
_PROPERTY = re.compile(r"([pP])(?:([A-Z])|\{(\^?)([A-Za-z][A-Za-z0-9_ =:-]*)\})")
_OCTAL = re.compile(r"0[0-7]{0,2}")
_OCTAL_IN_SET = re.compile(r"[0-7]{1,3}")
_POSIX = re.compile(r"\[:(\^?)([a-z]+):\]")


class BadPattern(Exception):
    """A pattern that means nothing: why, and where."""

    def __init__(self, reason: str, at: int) -> None:
        super().__init__(f"{reason} at position {at}")


def escape_at(pattern: str, at: int, in_set: bool = False) -> tuple[int | CharSet, int]:
    """The character or class that the backslash at `at` begins, and where it ends.

    Raises:
        BadPattern: the escape means nothing.
    """
    start = at + 1
    if start >= len(pattern):
        _fail("a backslash at the end", at)
    letter = pattern[start]
    if letter in CONTROLS:
        return CONTROLS[letter], start + 1
    if letter in _CLASSES:
        return _CLASSES[letter], start + 1
    if letter == "b" and in_set:
        return 8, start + 1
    if found := _HEX.match(pattern, start):
        return _code(next(digits for digits in found.groups() if digits), 16, at), found.end()
    if found := (_OCTAL_IN_SET if in_set else _OCTAL).match(pattern, start):
        return _code(found[0], 8, at), found.end()
    if found := _PROPERTY.match(pattern, start):
        table = f"\\p{{{found[2] or found[4]}}}"
        if not _is_table(table):
            _fail("no such property", at)
        return CharSet(tables=(table,), negated=(found[1] == "P") != bool(found[3])), found.end()
    if letter.isascii() and letter.isalnum():
        _fail(f"bad escape \\{letter}", at)
    return ord(letter), start + 1


@lru_cache(maxsize=256)
def _is_table(table: str) -> bool:
    """Whether there is such a property: `regex` has the tables, and is asked."""
    import regex

    try:
        return bool(regex.compile(table))
    except regex.error:
        return False


def _code(digits: str, base: int, at: int) -> int:
    code = int(digits, base)
    if code > LAST or 0xD800 <= code <= 0xDFFF:
        _fail("no such character", at)
    return code


def set_at(pattern: str, at: int) -> tuple[CharSet, int]:
    """The set in the brackets that open at `at`, and where it ends.

    Raises:
        BadPattern: the brackets are not closed, or hold a range that runs backwards.
    """
    opened = at
    at += 1
    negated = pattern.startswith("^", at)
    at += negated
    spans: list[Span] = []
    tables: list[str] = []
    first = True
    while first or not pattern.startswith("]", at):
        first = False
        member, end = _member_at(pattern, at, opened)
        if isinstance(member, int) and pattern.startswith("-", end) and not pattern.startswith("]", end + 1):
            high, high_end = _member_at(pattern, end + 1, opened)
            if isinstance(high, int):
                if high < member:
                    _fail("a range that runs backwards", at)
                spans.append((member, high))
                at = high_end
                continue
        at = end
        _add(member, spans, tables)
    return CharSet(merged(spans), tuple(dict.fromkeys(tables)), negated), at + 1


def _member_at(pattern: str, at: int, opened: int) -> tuple[int | CharSet, int]:
    if at >= len(pattern):
        _fail("brackets that are not closed", opened)
    if pattern[at] == "\\":
        return escape_at(pattern, at, in_set=True)
    if found := _POSIX.match(pattern, at):
        if found[2] not in POSIX:
            _fail(f"no such class [:{found[2]}:]", at)
        return CharSet(POSIX[found[2]], negated=bool(found[1])), found.end()
    return ord(pattern[at]), at + 1


def _add(member: int | CharSet, spans: list[Span], tables: list[str]) -> None:
    """Put a member into the set that is being read."""
    if isinstance(member, int):
        spans.append((member, member))
    else:
        spans.extend(outside(member.spans) if member.negated and not member.tables else member.spans)
        tables.extend(_inverted(table) if member.negated else table for table in member.tables)


def _inverted(table: str) -> str:
    return f"\\{table[1].upper()}{table[2:]}"


def _fail(reason: str, at: int) -> NoReturn:
    raise BadPattern(reason, at)
