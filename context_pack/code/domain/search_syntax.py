"""Reads a search pattern into a tree: the one definition of what patterns mean.

Both engines are given what this reads, never the pattern itself, so that they cannot disagree about it. The
language is what Python, JavaScript and Rust programmers write: groups, classes, counted repeats, look-around,
back-references, atomic groups, possessive repeats, `(?i)`, `(?x)`, `\\Q…\\E`. A `{` that counts nothing is a
plain character, as in `function() {`; `\\<` is a plain `<`.
"""

from __future__ import annotations

import re
from typing import NoReturn

from attrs import define, evolve, field, frozen

from context_pack.code.domain.search_escapes import BadPattern, escape_at, set_at
from context_pack.code.domain.search_nodes import (
    Atomic,
    Back,
    Char,
    CharSet,
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
from context_pack.code.domain.search_walk import size_of

MAX_DEPTH = 40
MAX_REPEAT = 65_535
MAX_SIZE = 20_000
"""How many parts a pattern may have with its repeats written out, as `regex` writes them."""
_ANY = CharSet(negated=True)
_COUNT = re.compile(r"\{(?:(\d{1,9})(?:(,)(\d{1,9})?)?|,(\d{1,9}))\}")
_NAMED = re.compile(r"P?<([A-Za-z_]\w*)>")
_FLAGS = re.compile(r"([imsxuU]*)(?:-([imsxuU]+))?([:)])")
_BACK = re.compile(r"([1-9]\d?)|k(?:<(\w+)>|\{(\w+)\}|'(\w+)')")
_BACK_BY_NAME = re.compile(r"P=(\w+)\)")
_LOOKS = {"=": (False, False), "!": (False, True), "<=": (True, False), "<!": (True, True)}
_PLACES = {"b": Place.EDGE, "B": Place.NO_EDGE, "A": Place.START, "Z": Place.END, "z": Place.END}


@frozen
class _Flags:
    """What `(?…)` has switched: case folding, and free spacing."""

    fold: bool
    spaced: bool = False


def read_pattern(pattern: str, fold: bool) -> Node:
    """The tree of a pattern; `fold` is whether case is ignored from the start.

    Raises:
        BadPattern: the pattern means nothing.
    """
    reader = _Reader(pattern)
    node, _ = reader.choice(_Flags(fold), 0)
    if reader.at < len(pattern):
        reader.fail("a ) that closes nothing")
    for number, at in reader.references:
        if number > reader.groups:
            raise BadPattern("a reference to no group", at)
    if size_of(node) > MAX_SIZE:
        raise BadPattern("more repeats of repeats than can be searched for, up to the end", len(pattern))
    return node


@define
class _Reader:
    """One pass over the pattern."""

    pattern: str
    at: int = 0
    groups: int = 0
    names: dict[str, int] = field(factory=dict)
    references: list[tuple[int, int]] = field(factory=list)

    def fail(self, reason: str) -> NoReturn:
        raise BadPattern(reason, self.at)

    def takes(self, text: str) -> bool:
        """Whether the text comes next; if so, it is behind us."""
        if not self.pattern.startswith(text, self.at):
            return False
        self.at += len(text)
        return True

    def choice(self, flags: _Flags, depth: int) -> tuple[Node, _Flags]:
        """Branches up to a closing parenthesis or the end; flags switched in one hold in the next."""
        if depth > MAX_DEPTH:
            self.fail("groups too deep in one another")
        branches = []
        while True:
            branch, flags = self.sequence(flags, depth)
            branches.append(branch)
            if not self.takes("|"):
                return (branches[0] if len(branches) == 1 else Choice(tuple(branches))), flags

    def sequence(self, flags: _Flags, depth: int) -> tuple[Node, _Flags]:
        parts: list[Node] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            if self._passes_over(flags):
                continue
            if self.takes("\\Q"):
                end = self.pattern.find("\\E", self.at)
                end = len(self.pattern) if end < 0 else end
                parts.extend(Char(ord(char), flags.fold) for char in self.pattern[self.at : end])
                self.at = min(end + 2, len(self.pattern))
                if parts:
                    parts[-1] = self._repeated(parts[-1], flags)
                continue
            switched = self._switch(flags)
            if switched is not None:
                flags = switched
                continue
            parts.append(self._repeated(self._atom(flags, depth), flags))
        return (parts[0] if len(parts) == 1 else Sequence(tuple(parts))), flags

    def _passes_over(self, flags: _Flags) -> bool:
        """Skip a comment or, where spacing is free, white space."""
        start = self.at
        if self.takes("(?#"):
            self.at = self.pattern.find(")", self.at) + 1
            if not self.at:
                self.at = start
                self.fail("a comment that is not closed")
            return True
        if not flags.spaced:
            return False
        if self.pattern[self.at].isspace():
            self.at += 1
        elif self.takes("#"):
            end = self.pattern.find("\n", self.at)
            self.at = len(self.pattern) if end < 0 else end + 1
        return self.at > start

    def _switch(self, flags: _Flags) -> _Flags | None:
        """New flags if `(?i)` or the like comes next."""
        found = _FLAGS.match(self.pattern, self.at + 2) if self.pattern.startswith("(?", self.at) else None
        if found is None or found[3] == ":" or not (found[1] or found[2]):
            return None
        self.at = found.end()
        return _switched(flags, found)

    def _repeated(self, part: Node, flags: _Flags) -> Node:
        """The part with the repeat that follows it, if one does."""
        while self.at < len(self.pattern) and self._passes_over(flags):
            continue
        low, high = self._count()
        if low < 0:
            return part
        manner = "?" if self.takes("?") else "+" if self.takes("+") else ""
        again = self.at
        if self._count()[0] >= 0:
            self.at = again
            self.fail("a repeat of a repeat")
        return Repeat(part, low, high, manner)

    def _count(self) -> tuple[int, int | None]:
        """How often, with -1 for no repeat here."""
        for mark, low, high in (("*", 0, None), ("+", 1, None), ("?", 0, 1)):
            if self.takes(mark):
                return low, high
        found = _COUNT.match(self.pattern, self.at)
        if found is None:
            return -1, None
        lowest = int(found[1] or 0)
        last = found[3] or found[4] or (None if found[2] else found[1])
        highest = None if last is None else int(last)
        if max(lowest, highest or 0) > MAX_REPEAT:
            self.fail(f"more than {MAX_REPEAT} repeats")
        if highest is not None and lowest > highest:
            self.fail("a repeat with its least above its most")
        self.at = found.end()
        return lowest, highest

    def _atom(self, flags: _Flags, depth: int) -> Node:
        """The next part that is no repeat."""
        char = self.pattern[self.at]
        if char == "(":
            return self._group(flags, depth)
        if char == "[":
            found, self.at = set_at(self.pattern, self.at)
            return Member(found, flags.fold)
        if char == "\\":
            return self._escape(flags)
        if char in "*+?" or _COUNT.match(self.pattern, self.at):
            self.fail("nothing to repeat")
        self.at += 1
        if char == ".":
            return Member(_ANY, False)
        if char in "^$":
            return Place.START if char == "^" else Place.END
        return Char(ord(char), flags.fold)

    def _escape(self, flags: _Flags) -> Node:
        letter = self.pattern[self.at + 1 : self.at + 2]
        if letter in _PLACES and letter:
            self.at += 2
            return _PLACES[letter]
        if letter == "K":
            self.at += 2
            return Keep()
        found = _BACK.match(self.pattern, self.at + 1)
        if found:
            return self._reference(found[1] or found[2] or found[3] or found[4], found.end(), flags)
        meant, self.at = escape_at(self.pattern, self.at)
        return Char(meant, flags.fold) if isinstance(meant, int) else Member(meant, flags.fold)

    def _reference(self, name: str, end: int, flags: _Flags) -> Node:
        if not name.isdigit() and name not in self.names:
            self.fail("a reference to no group")
        number = int(name) if name.isdigit() else self.names[name]
        self.references.append((number, self.at))
        self.at = end
        return Back(number, flags.fold)

    def _group(self, flags: _Flags, depth: int) -> Node:
        start = self.at
        self.at += 1
        if not self.takes("?"):
            return self._numbered(flags, depth, start)
        if self.takes(">"):
            return Atomic(self._closed(flags, depth, start))
        for mark, (behind, negative) in _LOOKS.items():
            if self.takes(mark):
                return Look(self._closed(flags, depth, start), behind, negative)
        if found := _BACK_BY_NAME.match(self.pattern, self.at):
            return self._reference(found[1], found.end(), flags)
        if found := _NAMED.match(self.pattern, self.at):
            self.at = found.end()
            if found[1] in self.names:
                self.fail("a group name used twice")
            self.names[found[1]] = self.groups + 1
            return self._numbered(flags, depth, start)
        found = _FLAGS.match(self.pattern, self.at)
        if found is None or found[3] != ":":
            self.fail("a kind of group that is not known")
        self.at = found.end()
        return self._closed(_switched(flags, found), depth, start)

    def _numbered(self, flags: _Flags, depth: int, start: int) -> Node:
        self.groups += 1
        number = self.groups
        return Group(self._closed(flags, depth, start), number)

    def _closed(self, flags: _Flags, depth: int, start: int) -> Node:
        """The inside of a group, up to its closing parenthesis."""
        node, _ = self.choice(flags, depth + 1)
        if not self.takes(")"):
            self.at = start
            self.fail("a ( that is not closed")
        return node


def _switched(flags: _Flags, found: re.Match[str]) -> _Flags:
    """The flags after an inline switch; those that change nothing within a line are taken and ignored."""
    for letters, on in ((found[1], True), (found[2] or "", False)):
        if "i" in letters:
            flags = evolve(flags, fold=on)
        if "x" in letters:
            flags = evolve(flags, spaced=on)
    return flags
