"""Which paths the globs of a manifest mean.

A glob is compared with the whole path from the collection's root: `*`, `?` and `[…]` stay inside a segment,
`**` as a segment crosses folders, `{a,b}` are alternatives, a leading `!` excludes. Exclusions win wherever
they stand.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate
from functools import lru_cache

from context_pack.kernel.errors import invalid
from context_pack.kernel.globs import MOST_ALTERNATIVES, Step, alternatives, covers, matches

MOST_CHARS = 1000
MOST_BRACES = 16

_PLAIN_ENDING = re.compile(r"\*\*/\*(\.[^*?\[\]/]+)")


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
        self._refused = [_steps(body) for body in refused]

    def wants(self, path: str) -> bool:
        """Whether a path is meant."""
        ends = path.endswith(self._endings)
        if not self._refused and (ends or not self._wanted):  # as in every folder without a manifest
            return ends
        parts = path.split("/")
        meant = ends or any(matches(steps, parts) for steps in self._wanted)
        # What excludes a folder excludes what is in it.
        return meant and not any(covers(steps, parts) for steps in self._refused)


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
    return alternatives(body, lambda reason: invalid(f"a glob has {reason}", "sources"))


def leads_out(glob: str) -> bool:
    """Whether a glob speaks of what lies outside the collection: an absolute path, or one that climbs."""
    bodies = [body.replace("\\", "/") for body in expanded(glob.removeprefix("!"))]
    return any(body.startswith("/") or body[1:3] == ":/" or ".." in body.split("/") for body in bodies)


def _steps(body: str) -> tuple[Step[str], ...]:
    parts = [part for part in body.split("/") if part not in ("", ".")]
    if body.endswith("/"):
        parts.append("**")
    return tuple(None if part == "**" else re.compile(translate(part)).match for part in parts)
