"""The lines of one ignore file, compiled: which paths below its folder it ignores or re-includes.

Git's rules: the last matching line decides; `!` takes back; a final `/` means folders only; a pattern with
another slash is anchored at the file's folder, one without matches a name at any depth. Plain names, plain
paths and `*.ext`, which most lines are, become table lookups; the rest become regular expressions whose
alternatives stand in reverse order, so that the first to match is the line that decides. Every star but the
last of its stretch is atomic: the earliest place is as good as any later one, so no pattern can make the
search backtrack for long. Every glob over paths goes through here: `filePattern` of a search, the sources of
a collection and the globs that a user denies are written as such lines.

Why not `pathspec` (tried: 1.1.1): it fails the comparison with git (`[[:alpha:]]` matches no letter, `[z-a]`
and a final backslash raise, `a/**/` matches files), `*a*a*a*a*b` takes it 2 s for one name and a fifth star
37 s, and a path takes 134 microseconds for 120 lines, where this takes 11.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_SPECIAL = re.compile(r"[*?\[\\]")
_POSIX = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": " \\t", "cntrl": "\\x00-\\x1f\\x7f", "digit": "0-9",
    "graph": "!-~", "lower": "a-z", "print": " -~", "punct": "!-/:-@\\[-`{-~", "space": " \\t\\n\\r\\f\\v",
    "upper": "A-Z", "xdigit": "0-9a-fA-F",
}  # fmt: skip
_LONGEST_CLASS = 1000
MOST_PATTERNS = 1_000
"""Lines of a file that become regular expressions; plain names, plain paths and `*.ext` all count."""


class _Line(NamedTuple):
    """One pattern: its text without marks, and its marks."""

    number: int
    text: str
    takes_back: bool
    folders_only: bool
    anchored: bool


class IgnoreFile:
    """A compiled ignore file."""

    def __init__(self, text: str) -> None:
        lines = [*_lines(text)]
        patterns = [line for line in lines if _needs_expression(line)]
        self.patterns = len(patterns)
        """How many lines need an expression: tens of thousands together would take seconds to compile."""
        if beyond := {line.number for line in patterns[MOST_PATTERNS:]}:
            lines = [line for line in lines if line.number not in beyond]
        self._takes_back = {line.number: line.takes_back for line in lines}
        self._folders = _Table(lines)
        files = [line for line in lines if not line.folders_only]
        self._files = self._folders if len(files) == len(lines) else _Table(files)

    def verdict(self, path: str, is_folder: bool) -> bool | None:
        """Whether the path, relative to the file's folder, is ignored; None if no line matches it."""
        if not self._takes_back:
            return None
        number = (self._folders if is_folder else self._files).match(path)
        return None if number < 0 else not self._takes_back[number]


def _lines(text: str) -> Iterable[_Line]:
    for number, raw in enumerate(text.removeprefix("\ufeff").split("\n")):
        line = raw.removesuffix("\r")
        if line.startswith("#"):
            continue
        line = _trimmed(line)
        takes_back = line.startswith("!")
        pattern = line[1:] if takes_back else line
        folders_only = pattern.endswith("/")
        pattern = pattern[:-1] if folders_only else pattern
        if pattern:
            yield _Line(number, pattern, takes_back, folders_only, "/" in pattern)


def _needs_expression(line: _Line) -> bool:
    return _SPECIAL.search(line.text) is not None and not _is_ending(line)


def _is_ending(line: _Line) -> bool:
    """Whether a line is of the shape `*.ext`."""
    return line.text.startswith("*.") and not line.anchored and not _SPECIAL.search(line.text, 1)


def _trimmed(line: str) -> str:
    """Without trailing spaces, unless the first of them is escaped."""
    end = at = 0
    while at < len(line):
        if line[at] == "\\":
            at += 1
            end = at + 1
        elif line[at] != " ":
            end = at + 1
        at += 1
    return line[:end]


class _Table:
    """Combined patterns that find the last line matching a path."""

    def __init__(self, lines: Iterable[_Line]) -> None:
        self._names: dict[str, int] = {}
        self._paths: dict[str, int] = {}
        self._endings: dict[str, int] = {}
        by_name: list[tuple[int, str]] = []
        by_path: list[tuple[int, str]] = []
        for line in lines:
            text = line.text
            if line.anchored:
                if _SPECIAL.search(text):
                    by_path.append((line.number, _pattern(text.removeprefix("/"))))
                else:
                    self._paths[text.removeprefix("/")] = line.number
            elif not _SPECIAL.search(text):
                self._names[text] = line.number
            elif _is_ending(line):
                self._endings[text[1:]] = line.number
            else:
                by_name.append((line.number, _pattern(text)))
        self._by_name, self._name_numbers = _joined(by_name)
        self._by_path, self._path_numbers = _joined(by_path)

    def match(self, path: str) -> int:
        """The last line that matches, or -1."""
        name = path[path.rfind("/") + 1 :]
        best = max(self._names.get(name, -1), self._paths.get(path, -1))
        if self._endings:
            dot = name.find(".")
            while dot >= 0:
                best = max(best, self._endings.get(name[dot:], -1))
                dot = name.find(".", dot + 1)
        if self._by_name is not None and (hit := self._by_name.fullmatch(name)):
            best = max(best, self._name_numbers[(hit.lastindex or 0) - 1])
        if self._by_path is not None and (hit := self._by_path.fullmatch(path)):
            best = max(best, self._path_numbers[(hit.lastindex or 0) - 1])
        return best


def _joined(patterns: list[tuple[int, str]]) -> tuple[re.Pattern[str] | None, list[int]]:
    """One expression with a group for each pattern, last line first, and the lines of the groups."""
    usable = [(number, source) for number, source in reversed(patterns) if source != _NEVER]
    if not usable:
        return None, []
    source = "|".join(f"({source})" for _, source in usable)
    return re.compile(source, re.DOTALL), [number for number, _ in usable]


_NEVER = "(?!)"
_STAR, _FOLDERS, _REST = "*", "**/", "**"


def _pattern(text: str) -> str:
    """The expression for a whole pattern: stretches with any number of folders between them."""
    stretches: list[list[str]] = [[]]
    tail = ""
    for piece in _pieces(text):
        if piece == _NEVER:
            return _NEVER
        if piece == _FOLDERS:
            stretches.append([])
        elif piece == _REST:
            tail = ".*"
        else:
            stretches[-1].append(piece)
    first, *rest = map(_stretch, stretches)
    # What is followed by another `**` may take the earliest place; only the last stretch must reach the end.
    early = rest if tail else rest[:-1]
    middle = "".join(f"(?>(?:[^/]*/)*?{stretch})" for stretch in early)
    return first + middle + "".join(f"(?:[^/]*/)*{stretch}" for stretch in rest[len(early) :]) + tail


def _pieces(text: str) -> Iterator[str]:
    """The expressions of single characters, and the three kinds of star, in order."""
    at = 0
    while at < len(text):
        char = text[at]
        if char == "*":
            start = at
            while text.startswith("*", at):
                at += 1
            # Two stars cross folders only where they stand alone between slashes.
            alone = at - start > 1 and (start == 0 or text[start - 1] == "/")
            if alone and at == len(text):
                yield _REST
            elif alone and text[at] == "/":
                yield _FOLDERS
                at += 1
            else:
                yield _STAR
        elif char == "[":
            piece, at = _set(text, at)
            yield piece
        elif char == "\\":
            yield re.escape(text[at + 1]) if at + 1 < len(text) else _NEVER
            at += 2
        else:
            yield "[^/]" if char == "?" else re.escape(char)
            at += 1


def _stretch(pieces: list[str]) -> str:
    """The expression for a stretch without `**`: no star, question mark or set matches a slash."""
    chunks = [""]
    for piece in pieces:
        if piece == _STAR:
            chunks.append("")
        else:
            chunks[-1] += piece
    first, *rest = chunks
    if not rest:
        return first
    middle = "".join(f"(?>[^/]*?{chunk})" for chunk in rest[:-1])
    return f"{first}{middle}[^/]*{rest[-1]}"


def _set(text: str, at: int) -> tuple[str, int]:
    """The expression for the bracket set at `at`, and where it ends; one never closed matches nothing."""
    at += 1
    negated = text[at : at + 1] in ("!", "^")
    at += negated
    members: list[str] = []
    start = at
    low = ""
    while at < len(text) and (text[at] != "]" or at == start):
        char = text[at]
        if (end := _class_end(text, at)) > 0:
            named = _POSIX.get(text[at + 2 : end - 1])
            if named is None:
                return _NEVER, len(text)
            members.append(named)
            low, at = "", end + 1
            continue
        if char == "-" and low and at + 1 < len(text) and text[at + 1] != "]":
            at += 2 if text[at + 1] == "\\" else 1
            if at >= len(text):
                return _NEVER, len(text)
            members.append(_span(low, text[at]))
            low = ""
        else:
            at += char == "\\"
            if at >= len(text):
                return _NEVER, len(text)
            low = text[at]
            members.append(re.escape(low))
        at += 1
    if at >= len(text):
        return _NEVER, len(text)
    inside = "".join(members)
    if negated:
        return f"[^/{inside}]", at + 1
    return (f"(?!/)[{inside}]" if inside else _NEVER), at + 1


def _class_end(text: str, at: int) -> int:
    """Where a `[:class:]` that starts at `at` has its closing bracket, or -1 if none starts there."""
    # No name is as long: from each of many openings the end of a line would be looked for in vain.
    end = text.find("]", at + 2, at + _LONGEST_CLASS) if text.startswith("[:", at) else -1
    return end if end > at + 2 and text[end - 1] == ":" else -1


def _span(low: str, high: str) -> str:
    return f"{re.escape(low)}-{re.escape(high)}" if low <= high else ""
