"""Which texts a pattern cannot match without: what a search may look for first, because it is fast to find.

The answer is a few alternatives of which one must occur in every match (`get|set` has two), or none. Longer
is better, because it is rarer.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from context_pack.code.domain.search_nodes import (
    LINE_FEED,
    Atomic,
    Char,
    Choice,
    Group,
    Node,
    Repeat,
    Sequence,
)

MOST_ALTERNATIVES = 8
SHORTEST = 2


@frozen
class Literal:
    """A text that occurs in a match; with `fold`, in any case."""

    text: str
    fold: bool


Needs = tuple[Literal, ...]


def needs_of(node: Node) -> Needs:
    """The best set of literals of which every match holds one; empty if there is none worth looking for."""
    best = _best(_needs(node))
    return best if best and min(len(literal.text) for literal in best) >= SHORTEST else ()


def lead_of(node: Node) -> Literal | None:
    """The text that a match begins with, as far as it is plain: engines are fast at looking for that."""
    first = next(iter(_runs(node.parts if isinstance(node, Sequence) else (node,))), None)
    return first if isinstance(first, Literal) else None


def alternatives(node: Node) -> Needs:
    """The plain texts of a pattern that is nothing but a choice of them."""
    while isinstance(node, Group):
        node = node.part
    if not isinstance(node, Choice):
        return ()
    texts = [_plain(branch) for branch in node.branches]
    return tuple(text for text in texts if text is not None) if None not in texts else ()


def _plain(node: Node) -> Literal | None:
    runs = list(_runs(node.parts if isinstance(node, Sequence) else (node,)))
    return runs[0] if len(runs) == 1 and isinstance(runs[0], Literal) else None


def _best(found: Iterable[Needs]) -> Needs:
    """The set whose shortest literal is longest, the smaller set among equals."""
    return max(found, key=lambda needs: (min(len(need.text) for need in needs), -len(needs)), default=())


def _needs(node: Node) -> list[Needs]:
    """Every set of literals that we know of."""
    match node:
        case Char(code, fold):
            return [] if code == LINE_FEED else [(Literal(chr(code), fold),)]
        case Sequence(parts):
            found: list[Needs] = []
            for run in _runs(parts):
                found.extend([(run,)] if isinstance(run, Literal) else _needs(run))
            return found
        case Choice(branches):
            chosen = [_best(_needs(branch)) for branch in branches]
            joined = tuple(dict.fromkeys(need for needs in chosen for need in needs))
            return [joined] if all(chosen) and len(joined) <= MOST_ALTERNATIVES else []
        case Repeat(part, low) if low > 0:
            return _needs(part)
        case Group(part) | Atomic(part):
            return _needs(part)
        case _:
            return []


def _runs(parts: Iterable[Node]) -> Iterable[Literal | Node]:
    """The parts with neighbouring characters joined into literals."""
    text, fold = "", False
    for part in parts:
        if isinstance(part, Char) and part.code != LINE_FEED:
            if text and part.fold != fold:
                yield Literal(text, fold)
                text = ""
            text, fold = text + chr(part.code), part.fold
            continue
        if text:
            yield Literal(text, fold)
            text = ""
        yield part
    if text:
        yield Literal(text, fold)
