"""Which paths a `filePattern` means: a glob over the relative path with `**`, `{a,b}`, `[…]` and `!`.

A glob without `/` is compared with the name at any depth, one with `/` with the whole path. Alternatives are
written out, and what is left are the lines of an ignore file, whose matcher is exact and cannot be slow. A
backslash takes the meaning from a special character; before any other it is a separator.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from context_pack.kernel.errors import Failure, invalid
from context_pack_adapters.disk.gitignore import IgnoreFile

FIELD = "filePattern"
MOST_ALTERNATIVES = 256
_SPECIAL = frozenset("*?[]{}!,\\# ")

Wanted = Callable[[str], bool]


@lru_cache(maxsize=64)
def wanted_by(glob: str) -> Wanted | None:
    """Whether a path matches the glob; None if the glob is empty and every path does.

    Raises:
        Failure: `invalid_data` about `filePattern`, if the glob means nothing.
    """
    text = glob.strip()
    body = text.lstrip("!")
    if not body:
        if text:
            raise _wrong("there is nothing after the '!'")
        return None
    negated = (len(text) - len(body)) % 2 == 1
    lines = _Reader(body).lines()
    rules = IgnoreFile("\n".join(lines))
    return lambda path: (rules.verdict(path, False) is True) is not negated


def _wrong(reason: str) -> Failure:
    return invalid(f"'{FIELD}' is not a valid glob: {reason}", FIELD)


class _Reader:
    """Writes out the alternatives of one glob."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def lines(self) -> list[str]:
        """The glob as lines of an ignore file, any of which may match."""
        found = self._sequence(nested=False)
        anchored = any("/" in line for line in found)
        return [_line(line, anchored) for line in found if "\n" not in line]

    def _sequence(self, nested: bool) -> list[str]:
        """The alternatives of what comes next, up to a `,` or `}` if it is nested."""
        found = [""]
        while self._at < len(self._text):
            char = self._text[self._at]
            if nested and char in ",}":
                break
            if char == "}":
                raise _wrong("a '}' that closes nothing; write '\\}' for a plain one")
            pieces = self._choice() if char == "{" else [self._piece(char)]
            if len(found) * len(pieces) > MOST_ALTERNATIVES:
                raise _wrong(f"more than {MOST_ALTERNATIVES} alternatives")
            found = [before + piece for before in found for piece in pieces]
        return found

    def _choice(self) -> list[str]:
        """The alternatives in braces."""
        found: list[str] = []
        while True:
            self._at += 1
            found += self._sequence(nested=True)
            if self._at >= len(self._text):
                raise _wrong("a '{' that is not closed")
            if self._text[self._at] == "}":
                self._at += 1
                return found

    def _piece(self, char: str) -> str:
        """One character, escape or set as an ignore file writes it."""
        start = self._at
        self._at += 1
        if char == "[":
            self._at = self._set_end(start)
            return self._text[start : self._at]
        if char != "\\":
            return char
        escaped = self._text[self._at : self._at + 1]
        if not escaped:
            raise _wrong("a backslash at the end")
        if escaped not in _SPECIAL:
            return "/"
        self._at += 1
        return "\\" + escaped

    def _set_end(self, start: int) -> int:
        """Where the set that opens at `start` is over."""
        first = at = start + 1 + (self._text[start + 1 : start + 2] in ("!", "^"))
        # The first member may be a bracket, and a named class has brackets of its own.
        while at < len(self._text) and (self._text[at] != "]" or at == first):
            named = self._text.find(":]", at + 2) if self._text.startswith("[:", at) else -1
            at = named + 2 if named >= 0 else at + 1 + (self._text[at] == "\\")
        if at >= len(self._text):
            raise _wrong("a '[' that is not closed")
        return at + 1


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
