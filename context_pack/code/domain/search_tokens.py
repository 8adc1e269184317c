"""Cuts a search pattern into tokens, each in the words of `regex` and unable to take a line feed.

A pattern means what `regex` says it means, line by line. Texts are searched whole, so every token that could
take a line feed is written so that it cannot; then no part of a pattern sees past the ends of its line. Other
dialects' spellings are replaced where that takes nothing away: `\\x{…}`, `\\u{…}`, `\\Q…\\E`, `\\k<name>`,
`\\z`, and a `{` that counts nothing. Grammar is left to `regex`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r"""
      (?P<comment> \(\?\#[^)]*\) )
    | (?P<quote> \\Q.*?(?:\\E|\Z) )
    | (?P<back> \\[1-9]\d? | \\k(?:<\w+>|\{\w+\}|'\w+') | \(\?P=\w+\) )
    | (?P<code> \\0[0-7]{0,2} | \\(?:x_{2}|u_{4}|U_{8}|[xu]\{_{1,6}\}) )
    | (?P<property> \\[pP](?:[A-Z]|\{\^?[A-Za-z][\w =:-]*\}) )
    | (?P<escape> \\. )
    | (?P<set> \. | \[\^?\]?(?>\[:\^?\w+:\]|\\.|[^\]\\])*+\] )
    | (?P<flags> \(\?(?=[imsuxU-])[imsuxU]*(?:-[imsuxU]+)?[:)] )
    | (?P<look> \(\?<?[=!] )
    | (?P<open> \((?![?*]) | \(\?(?::|>|P?<[A-Za-z_]\w*>) )
    | (?P<close> \) )
    | (?P<bar> \| )
    | (?P<repeat> (?:[*+?]|\{(?=,?\d)\d{0,9}(?:,\d{0,9})?\})[?+]? )
    | (?P<place> [\^$\[] )
    | (?P<char> [^\\(] )
    """.replace("_{", "[0-9A-Fa-f]{"),
    re.VERBOSE | re.DOTALL,
)
_WORD = re.compile(r"\w+")
_BLANK = re.compile(r"\s+|#[^\n]*")
_MEMBER = re.compile(r"\[:\^?\w+:\]|(?P<code>\\[xu]\{[0-9A-Fa-f]{1,6}\})|\\.|\[", re.DOTALL)
_HARMLESS = re.compile(r"(?:[^\\\x00-\x1f\[]|\\[wd]|\\[^A-Za-z0-9\x00-\x1f])*")
"""The inside of a set that cannot have a line feed for a member."""
_CONTROLS = {"a": "\a", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}
_PLACES = {"b": r"\b", "B": r"\B", "K": r"\K", "A": "^", "Z": "$", "z": "$"}
_SETS = {"w": r"\w", "d": r"\d", "S": r"\S", "h": r"\h"}
_SETS |= {"s": r"[^\S\n]", "W": r"[^\w\n]", "D": r"[^\d\n]", "H": r"[^\h\n]"}
_REPEATS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


class BadPattern(Exception):
    """An invalid pattern: why, and where."""

    def __init__(self, reason: str, at: int) -> None:
        super().__init__(f"{reason} at position {at}")


class Token(NamedTuple):
    """A part of a pattern that stands at `at`, as `regex` is told.

    Its kind is `char`, `set` (one character of several), `place` (takes none), `open`, `look` (opens a
    look-around), `close`, `bar`, `back` (what a group has matched) or `repeat`, which has its bounds.
    """

    kind: str
    text: str
    at: int
    char: str = ""
    low: int = 1
    high: int | None = 1


def tokens_of(pattern: str) -> Iterator[Token]:
    """The tokens of a pattern.

    Raises:
        BadPattern: a part is none that we know.
    """
    at, spaced = 0, [False]  # for each open group, whether white space is free in it
    while at < len(pattern):
        found = (spaced[-1] and _BLANK.match(pattern, at)) or _TOKEN.match(pattern, at)
        if found is None:
            raise BadPattern("unknown extension" if pattern[at] == "(" else "bad escape (end of pattern)", at)
        kind, text, start, at = found.lastgroup, found[0], at, found.end()
        if kind == "quote":
            yield from (_char(char, start) for char in text[2:].removesuffix("\\E"))
        elif kind == "flags":
            yield _switched(text, spaced, start)
        elif kind is not None and kind != "comment":
            if kind in ("open", "look"):
                spaced.append(spaced[-1])
            elif kind == "close" and len(spaced) > 1:
                spaced.pop()
            yield _token(kind, text, start)


def _token(kind: str, text: str, at: int) -> Token:
    match kind:
        case "char":
            return _char(text, at)
        case "code":
            return _char(_coded(text, at), at)
        case "escape":
            return _escaped(text[1], at)
        case "property":
            return Token("set", rf"(?:(?!\n){text})", at)
        case "set":
            return Token("set", text if text == "." else _set(text, at), at)
        case "back":
            return Token("back", f"\\g<{_WORD.findall(text)[-1]}>", at)
        case "repeat":
            low, comma, high = text.rstrip("?+").strip("{}").partition(",")
            least = int(low or 0) if text[0] == "{" else 0
            most = (int(high) if high else None) if comma else least
            return Token("repeat", text, at, "", *_REPEATS.get(text[0], (least, most)))
        case _:
            return Token(kind, text, at)


def _char(char: str, at: int) -> Token:
    if char == "\n":
        return Token("set", "(?:(?!))", at)
    plain = char.isalnum() or not char.isascii()
    return Token("char", char if plain else f"\\x{ord(char):02x}", at, char)


def _coded(text: str, at: int) -> str:
    """The character of a hexadecimal or octal escape."""
    code = int(text[1:], 8) if text[1] == "0" else int(text[2:].strip("{}"), 16)
    if code > 0x10FFFF:
        raise BadPattern("no such character", at)
    return chr(code)


def _escaped(letter: str, at: int) -> Token:
    if letter in _SETS:
        return Token("set", _SETS[letter], at)
    if letter in _PLACES:
        return Token("place", _PLACES[letter], at)
    if letter not in _CONTROLS and letter.isascii() and letter.isalnum():
        raise BadPattern(f"bad escape \\{letter}", at)
    return _char(_CONTROLS.get(letter, letter), at)


def _switched(text: str, spaced: list[bool], at: int) -> Token:
    """Inline flags: only `i` is passed to `regex`; free white space is handled here."""
    on, _, off = text[2:-1].partition("-")
    flags = ("i" if "i" in on else "") + ("-i" if "i" in off else "")
    free = "x" in on or ("x" not in off and spaced[-1])
    if text.endswith(":"):
        spaced.append(free)
        return Token("open", f"(?{flags}:", at)
    spaced[-1] = free
    return Token("place", f"(?{flags})" if flags else "", at)


def _set(text: str, at: int) -> str:
    """One character of the set in brackets, but never a line feed."""

    def member(found: re.Match[str]) -> str:
        if found["code"]:
            return f"\\U{ord(_coded(found[0], at)):08x}"
        return "\\[" if found[0] == "[" else found[0]

    negated = text.startswith("[^")
    inside = text[1 + negated : -1]
    inside = _MEMBER.sub(member, f"\\{inside}" if inside.startswith("]") else inside)
    if negated:
        return rf"[^\n{inside}]"
    return f"[{inside}]" if _HARMLESS.fullmatch(inside) else rf"(?:(?!\n)[{inside}])"
