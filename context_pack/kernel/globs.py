"""What all globs have in common: `{a,b}` written out, and paths compared segment by segment.

Globs are foreign, so matching is a table over segments and never backtracks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from context_pack.kernel.errors import Failure

MOST_ALTERNATIVES = 256

T = TypeVar("T")
Step = Callable[[T], object] | None
"""What a segment must pass; None is `**`, any number of segments."""


def alternatives(pieces: Iterable[str], wrong: Callable[[str], Failure]) -> list[str]:
    """A glob without braces, given as the pieces that it consists of; `wrong` words what makes it none.

    Raises:
        Failure: braces that do not close, or too many alternatives.
    """
    open_braces: list[tuple[list[str], list[str]]] = []  # what stood before each, and its finished branches
    found = [""]
    for piece in pieces:
        if piece == "{":
            open_braces.append((found, []))
            found = [""]
        elif piece == "," and open_braces:
            open_braces[-1][1].extend(found)
            found = [""]
        elif piece == "}":
            if not open_braces:
                raise wrong("a '}' that closes nothing")
            before, branches = open_braces.pop()
            branches += found
            if len(before) * len(branches) > MOST_ALTERNATIVES:
                raise wrong(f"more than {MOST_ALTERNATIVES} alternatives")
            found = [start + branch for start in before for branch in branches]
        else:
            found = [line + piece for line in found]
    if open_braces:
        raise wrong("a '{' that is not closed")
    return found


def matches(steps: Sequence[Step[T]], parts: Sequence[T]) -> bool:
    """Whether the steps take the path from its start to its very end; a final `**` wants a segment."""
    if not steps or (steps[-1] is not None and not steps[-1](parts[-1])):  # the quick way out
        return False
    # reached[i]: the steps so far can take exactly the first i segments.
    reached = [True] + [False] * len(parts)
    for step in steps[:-1]:
        reached = _advanced(reached, step, parts)
    if steps[-1] is None:
        return any(reached[:-1])
    return _advanced(reached, steps[-1], parts)[-1]


def covers(steps: Sequence[Step[T]], parts: Sequence[T]) -> bool:
    """Whether the path, or a folder it is in, matches."""
    return matches(steps, parts) or matches((*steps, None), parts)


def _advanced(reached: Sequence[bool], step: Step[T], parts: Sequence[T]) -> list[bool]:
    """How far the path can be taken with one step more."""
    if step is not None:
        return [False, *(here and bool(step(part)) for here, part in zip(reached, parts, strict=False))]
    first = next((number for number, here in enumerate(reached) if here), len(reached))
    return [number >= first for number in range(len(reached))]
