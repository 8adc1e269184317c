"""A search pattern as a tree, whatever engine runs it.

A pattern is matched within one line, so `^`, `\\A` and `$`, `\\z` are the two ends of the line, and no node
ever matches a line feed. Sets hold code points; what only a Unicode table can tell (`\\w`, `\\d`, `\\p{…}`)
stays a name, because engines bring tables of different ages.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from attrs import frozen

Span = tuple[int, int]
LAST = 0x10FFFF
LINE_FEED, RETURN = 10, 13
SPACES: tuple[Span, ...] = (
    *((0x09, 0x0D), (0x20, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A)),
    *((0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000)),
)
"""White space in Unicode: closed for new members, so no table is needed."""


def merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The spans in order, without overlap."""
    result: list[Span] = []
    for low, high in sorted(spans):
        if result and low <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(high, result[-1][1]))
        else:
            result.append((low, high))
    return tuple(result)


def outside(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Every code point that is in none of the spans."""
    result: list[Span] = []
    start = 0
    for low, high in merged(spans):
        if start < low:
            result.append((start, low - 1))
        start = high + 1
    return (*result, (start, LAST)) if start <= LAST else tuple(result)


def without(spans: Iterable[Span], *codes: int) -> tuple[Span, ...]:
    """The spans without some code points."""
    return outside([*outside(spans), *((code, code) for code in codes)])


@frozen
class CharSet:
    """One character of a set: in the spans or in one of the tables, or in none if `negated`."""

    spans: tuple[Span, ...] = ()
    tables: tuple[str, ...] = ()
    negated: bool = False


class Place(Enum):
    """Where a pattern may stand without matching a character."""

    START = "start"
    END = "end"
    EDGE = "edge of a word"
    NO_EDGE = "no edge of a word"


@frozen
class Char:
    """One character; `fold` takes it in every case."""

    code: int
    fold: bool


@frozen
class Member:
    """One character of a set."""

    set: CharSet
    fold: bool


@frozen
class Sequence:
    """One part after the other."""

    parts: tuple[Node, ...]


@frozen
class Choice:
    """The first branch that leads to a match."""

    branches: tuple[Node, ...]


@frozen
class Repeat:
    """A part again and again; `manner` is empty (greedy), `?` (lazy) or `+` (possessive)."""

    part: Node
    low: int
    high: int | None
    manner: str = ""


@frozen
class Group:
    """A part that a back-reference may name by its number."""

    part: Node
    number: int


@frozen
class Atomic:
    """A part that is not tried again once it has matched."""

    part: Node


@frozen
class Look:
    """What must, or must not, come next or stand before."""

    part: Node
    behind: bool
    negative: bool


@frozen
class Back:
    """What a group has matched."""

    number: int
    fold: bool


@frozen
class Keep:
    """The match is taken to start here."""


Node = Char | Member | Sequence | Choice | Repeat | Group | Atomic | Look | Back | Keep | Place
