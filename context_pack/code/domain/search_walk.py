"""What a pattern's tree tells without an engine: its parts, its cost, whether it may match nothing."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

from context_pack.code.domain.search_nodes import (
    Atomic,
    Back,
    Char,
    Choice,
    Group,
    Keep,
    Look,
    Member,
    Node,
    Place,
    Repeat,
    Sequence,
)

_FEW_WAYS = 64


def nodes_of(node: Node) -> Iterator[Node]:
    """The node and everything in it, outermost first."""
    yield node
    for inner in _inside(node):
        yield from nodes_of(inner)


def _inside(node: Node) -> tuple[Node, ...]:
    match node:
        case Sequence(parts):
            return parts
        case Choice(branches):
            return branches
        case Repeat() | Group() | Atomic() | Look():
            return (node.part,)
        case _:
            return ()


def size_of(node: Node) -> int:
    """How many parts there are when every repeat is written out as often as it must match."""
    inner = sum(map(size_of, _inside(node)))
    return 1 + (inner * max(1, node.low) if isinstance(node, Repeat) else inner)


class Cost(IntEnum):
    """How the time for a line grows with its length, however unlucky."""

    LINEAR = 0
    SQUARE = 1
    UNKNOWN = 2


def cost_of(node: Node) -> Cost:
    """What an engine that tries one way after the other may need at worst.

    From each place of a line there are so many ways as choices and optional parts make, times its length for
    the one run that is allowed; two runs, a repeated group, look-around and back-references may do anything.
    """
    runs, ways = 0, 1
    for part in nodes_of(node):
        match part:
            case Back() | Look():
                return Cost.UNKNOWN
            case Choice(branches):
                ways *= len(branches)
            case Repeat(inner, low, high):
                if not isinstance(inner, (Char, Member)):
                    return Cost.UNKNOWN
                runs += high is None
                ways *= 1 if high is None else high - low + 1
            case _:
                continue
    if runs > 1 or ways > _FEW_WAYS:
        return Cost.UNKNOWN
    return Cost.SQUARE if runs else Cost.LINEAR


def may_be_empty(node: Node) -> bool:
    """Whether the node can match without taking a character."""
    match node:
        case Char() | Member():
            return False
        case Sequence(parts):
            return all(map(may_be_empty, parts))
        case Choice(branches):
            return any(map(may_be_empty, branches))
        case Repeat(part, low):
            return low == 0 or may_be_empty(part)
        case Group(part) | Atomic(part):
            return may_be_empty(part)
        case Back() | Look() | Keep() | Place():
            return True
