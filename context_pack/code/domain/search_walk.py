"""What a pattern's tree tells without an engine: its parts, its cost, whether it may match nothing."""

from __future__ import annotations

from collections.abc import Iterator

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

_SMALL_REPEAT = 8


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


def is_tame(node: Node) -> bool:
    """Whether the time for a line is at worst the square of its length, however unlucky: one run at most."""
    runs = 0
    for part in nodes_of(node):
        if isinstance(part, (Back, Look)):
            return False
        if isinstance(part, Repeat) and (part.high is None or part.high > _SMALL_REPEAT):
            runs += 1
        if isinstance(part, Repeat) and not isinstance(part.part, (Char, Member)):
            return False
    return runs <= 1


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
