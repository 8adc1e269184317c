"""Patterns of strangers: `{a,b}` of globs written out, and how large a regular expression becomes.

`regex` writes a repeat out as often as it must match at least: `(((a{1000}){1000}){1000})` has 24 characters
and a thousand million parts, and whoever compiles it holds the interpreter until memory ends. No deadline
reaches into that. So every pattern that comes from arguments or from files of a project goes through
`check_pattern_size` first. The measure is close where sets and groups can be told apart without knowing the
dialect. Where they cannot (free spacing, sets within sets), all counts are taken for nested, which is never
too little.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from math import prod

from context_pack.kernel.errors import Code, Failure

MOST_ALTERNATIVES = 256


def alternatives(pieces: Iterable[str], wrong: Callable[[str], Failure]) -> list[str]:
    """A glob without braces, given as the pieces that it consists of; `wrong` words what makes it none.

    Raises:
        Failure: braces that do not close, or too many alternatives.
    """
    outer: list[tuple[list[str], list[str]]] = []  # of each open brace: what stood before it, its branches
    globs = [""]
    for piece in pieces:
        if piece == "{":
            outer.append((globs, []))
            globs = [""]
        elif piece == "," and outer:
            outer[-1][1].extend(globs)
            globs = [""]
        elif piece == "}":
            if not outer:
                raise wrong("a '}' that closes nothing")
            before, branches = outer.pop()
            branches += globs
            if len(before) * len(branches) > MOST_ALTERNATIVES:
                raise wrong(f"more than {MOST_ALTERNATIVES} alternatives")
            globs = [start + branch for start in before for branch in branches]
        else:
            globs = [line + piece for line in globs]
    if outer:
        raise wrong("a '{' that is not closed")
    return globs


MAX_PATTERN_SIZE = 20_000
"""Parts that a pattern may have with its repeats written out: about 2 MB and 2 ms of `regex`."""
_PART = re.compile(
    r"""
      (?P<comment> \(\?\#[^)]*\)? )
    | (?P<set> \[\^?+\]?+(?:\\.|[^\]\\\[])*+\] )
    | (?P<open> \((?:\?(?:P?<\w++>|<?[=!]|[\w-]*+:|[>|]))? )
    | (?P<close> \) )
    | (?P<repeat> \{\s*+(?P<least>\d++)\s*+(?:,[\s\d]*+)?\} )
    | (?P<part> \\.|. )
    """,
    re.VERBOSE | re.DOTALL,
)
_FREE_SPACING = re.compile(r"\(\?[A-Za-z0-9-]*[xV]")
_COUNT = re.compile(r"\{\s*(\d+)")


def pattern_size(pattern: str) -> int:
    """How many parts a pattern has at most, with every repeat written out."""
    if _FREE_SPACING.search(pattern):
        return _flat_size(pattern)
    sizes, last = [0], 0
    for part in _PART.finditer(pattern):
        match part.lastgroup:
            case "open":
                sizes.append(0)
                continue
            case "close":
                last = 1 + (sizes.pop() if len(sizes) > 1 else 0)
            case "repeat":
                last *= max(0, _number(part["least"]) - 1)
            case "part" if part[0] == "[":
                return _flat_size(pattern)
            case "comment":
                continue
            case _:
                last = 1
        sizes[-1] += last
    return sum(sizes)


def check_pattern_size(pattern: str) -> None:
    """Refuse a pattern that would grow beyond `MAX_PATTERN_SIZE` when it is compiled.

    Raises:
        Failure: `invalid_data`.
    """
    if pattern_size(pattern) > MAX_PATTERN_SIZE:
        reason = "the pattern repeats too much: give smaller counts, or fewer repeats within repeats"
        hint = f"at most {MAX_PATTERN_SIZE} parts with all repeats written out"
        raise Failure(Code.INVALID_DATA, reason, {"hint": hint})


def _flat_size(pattern: str) -> int:
    """As if every count stood within every other one."""
    return len(pattern) * prod(max(1, _number(count)) for count in _COUNT.findall(pattern))


def _number(digits: str) -> int:
    """A count; one with more digits than anybody means is only known to be too large."""
    return int(digits[:12])
