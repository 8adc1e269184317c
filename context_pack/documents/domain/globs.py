"""Which paths the globs of a manifest mean.

A glob is compared with the whole path from the collection's root: `*`, `?` and `[…]` stay inside a segment,
`**` as a segment crosses folders, `{a,b}` are alternatives, a leading `!` excludes. Exclusions win wherever
they stand. Globs come from foreign packages, so matching is a table over segments and never backtracks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fnmatch import translate
from functools import lru_cache

from context_pack.kernel.errors import invalid

MOST_ALTERNATIVES = 256
MOST_CHARS = 1000
MOST_BRACES = 16

_PLAIN_ENDING = re.compile(r"\*\*/\*(\.[^*?\[\]/]+)")

Step = Callable[[str], object] | None
"""What a segment must pass; None is `**`."""


class Matcher:
    """Whether paths are wanted by a list of globs."""

    def __init__(self, globs: Sequence[str]) -> None:
        wanted = [body for glob in globs if not glob.startswith("!") for body in expanded(glob)]
        refused = [body for glob in globs if glob.startswith("!") for body in expanded(glob[1:])]
        if len(wanted) + len(refused) > MOST_ALTERNATIVES:
            raise invalid(f"the globs have more than {MOST_ALTERNATIVES} alternatives", "sources")
        endings = [match[1] for body in wanted if (match := _PLAIN_ENDING.fullmatch(body))]
        self._endings = tuple(endings)
        self._wanted = [_steps(body) for body in wanted if not _PLAIN_ENDING.fullmatch(body)]
        # What excludes a folder excludes what is in it.
        self._refused = [steps for body in refused for steps in (_steps(body), (*_steps(body), None))]

    def wants(self, path: str) -> bool:
        """Whether a path is meant."""
        ends = path.endswith(self._endings)
        if not self._refused and (ends or not self._wanted):  # as in every folder without a manifest
            return ends
        parts = path.split("/")
        meant = ends or any(_matches(steps, parts) for steps in self._wanted)
        return meant and not any(_matches(steps, parts) for steps in self._refused)


@lru_cache(maxsize=64)
def matcher(globs: tuple[str, ...]) -> Matcher:
    """The matcher of these globs, made once.

    Raises:
        Failure: `invalid_data` for a glob that means nothing.
    """
    return Matcher(globs)


def expanded(glob: str) -> list[str]:
    """The glob without braces, written out, and without a leading `./`.

    Raises:
        Failure: `invalid_data` for braces that do not close, or too many alternatives.
    """
    body = glob.strip().removeprefix("./")
    if not body or len(body) > MOST_CHARS or body.count("{") > MOST_BRACES:
        raise invalid(f"a glob must have 1 to {MOST_CHARS} characters and few braces", "sources")
    found, rest = _sequence(body, nested=False)
    if rest:
        raise invalid("a glob has a '}' that closes nothing", "sources")
    return found


def leads_out(glob: str) -> bool:
    """Whether a glob speaks of what lies outside the collection: an absolute path, or one that climbs."""
    bodies = [body.replace("\\", "/") for body in expanded(glob.removeprefix("!"))]
    return any(body.startswith("/") or body[1:3] == ":/" or ".." in body.split("/") for body in bodies)


def _sequence(text: str, nested: bool) -> tuple[list[str], str]:
    """The alternatives of what comes next, and what is left."""
    found = [""]
    while text:
        char = text[0]
        if char == "}" or (nested and char == ","):
            return found, text
        pieces = [char]
        if char == "{":
            pieces, text = _choice(text)
        else:
            text = text[1:]
        if len(found) * len(pieces) > MOST_ALTERNATIVES:
            raise invalid(f"a glob has more than {MOST_ALTERNATIVES} alternatives", "sources")
        found = [before + piece for before in found for piece in pieces]
    return found, text


def _choice(text: str) -> tuple[list[str], str]:
    """The alternatives in the braces that the text begins with, and what follows them."""
    found: list[str] = []
    while True:
        more, text = _sequence(text[1:], nested=True)
        found += more
        if not text:
            raise invalid("a glob has a '{' that is not closed", "sources")
        if text[0] == "}":
            return found, text[1:]


def _steps(body: str) -> tuple[Step, ...]:
    parts = [part for part in body.split("/") if part not in ("", ".")]
    if body.endswith("/"):
        parts.append("**")
    return tuple(None if part == "**" else re.compile(translate(part)).match for part in parts)


def _matches(steps: Sequence[Step], parts: Sequence[str]) -> bool:
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


def _advanced(reached: Sequence[bool], step: Step, parts: Sequence[str]) -> list[bool]:
    """How far the path can be taken with one step more."""
    if step is not None:
        return [False, *(here and bool(step(part)) for here, part in zip(reached, parts, strict=False))]
    first = next((number for number, here in enumerate(reached) if here), len(reached))
    return [number >= first for number in range(len(reached))]
