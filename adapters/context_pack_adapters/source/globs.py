"""Which paths a `filePattern` means: a glob over the relative path with `**`, `{a,b}`, `[…]` and `!`.

Without `/` it is compared with the name at any depth, with `/` with the whole path. Alternatives are written
out, and what is left are lines of an ignore file, whose matcher is exact and cannot be slow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from context_pack.kernel.errors import Failure, invalid
from context_pack.kernel.gitignore import IgnoreFile
from context_pack.kernel.patterns import alternatives

FIELD = "filePattern"
_MEMBER = r"(?>\[:.*?:\]|\\.|[^\]\\])"
_PIECE = re.compile(
    rf"\\[*?\[\]{{}}!,\\# ]|\[[!^]?(?:\]|{_MEMBER}){_MEMBER}*+\]|(?P<wrong>\[|\\\Z)|\\|.", re.DOTALL
)
"""A piece of a glob: an escape, a set, what is not closed, a separator (any other backslash), a character."""

Wanted = Callable[[str], bool]


def wanted_by(glob: str | None) -> Wanted:
    """Whether a path matches the glob; every path does if there is none, or it is empty.

    Raises:
        Failure: `invalid_data` about `filePattern`, if the glob means nothing.
    """
    text = (glob or "").strip()
    body = text.lstrip("!")
    if not body:
        if text:
            raise _wrong("there is nothing after the '!'")
        return lambda _: True
    negated = (len(text) - len(body)) % 2 == 1
    found = alternatives(_pieces(body), _wrong)
    anchored = any("/" in line for line in found)
    rules = IgnoreFile("\n".join(_line(line, anchored) for line in found if "\n" not in line))
    return lambda path: (rules.verdict(path, False) is True) is not negated


def _wrong(reason: str) -> Failure:
    hint = "; write '\\}' for a plain one" if "}" in reason else ""
    return invalid(f"'{FIELD}' is not a valid glob: {reason}{hint}", FIELD)


def _pieces(glob: str) -> Iterator[str]:
    """The glob in the words of an ignore file, piece by piece."""
    for piece in _PIECE.finditer(glob):
        if piece["wrong"]:
            raise _wrong("a '[' that is not closed" if piece[0] == "[" else "a backslash at the end")
        yield "/" if piece[0] == "\\" else piece[0]


def _line(glob: str, anchored: bool) -> str:
    """One alternative as a line of an ignore file."""
    for start in ("./", "/"):
        glob = glob.removeprefix(start)
    if glob.endswith("/"):
        glob += "**"
    if anchored:
        return "/" + glob
    # Without a folder the line could begin or end with what an ignore file reads differently.
    head = "\\" if glob.startswith(("#", "!")) else ""
    stripped = glob.rstrip(" ")
    return head + stripped + "\\ " * (len(glob) - len(stripped))
