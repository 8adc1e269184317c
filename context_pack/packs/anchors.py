"""What a ref remembers of its code: the digest of its text, its number of lines, and its definition's name.

The text itself is kept beside the packs by its digest (`ExcerptStore`). Together they find the code again, as
`following` says; the digest alone decides that code is the same. Lines of a source end at `\\n` only, one
trailing `\\r` of a line is dropped, and a final newline adds no line, as in `kernel.text.split_lines`: so
anchors do not depend on line endings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from attrs import field, frozen

from context_pack.kernel.errors import invalid
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.syntax import Definition
from context_pack.kernel.text import MAX_LINES, LineRange, is_single_line, sha256_hex


class SourceText:
    """The text of one file with its lines, and its definitions, which are parsed when somebody asks."""

    def __init__(
        self,
        path: RelativePath,
        text: str,
        parse: Callable[[SourceText], Sequence[Definition]] = lambda _: (),
    ) -> None:
        # The last line drops a carriage return too when the file ends without a newline.
        normal = text.replace("\r\n", "\n").removesuffix("\r") if "\r" in text else text
        self.text = normal if not text or text.endswith("\n") else f"{normal}\n"
        self.path, self._parse = path, parse

    @cached_property
    def definitions(self) -> Sequence[Definition]:
        """Its definitions, in the order of their lines."""
        return self._parse(self)

    @property
    def names(self) -> set[str]:
        """What its definitions are called, with and without what they are in."""
        return {name for each in self.definitions for name in (each.qualified, each.name)}

    @cached_property
    def lines(self) -> list[str]:
        """Every line."""
        return self.text.split("\n")[:-1]

    @property
    def count(self) -> int:
        """How many lines there are."""
        return len(self.lines)

    def cut(self, start: int, end: int) -> str | None:
        """Lines `start` to `end` (1-based, both included), joined by newlines; None unless all are there."""
        return "\n".join(self.lines[start - 1 : end]) if 1 <= start <= end <= self.count else None

    def occurrences(self, excerpt: str) -> Iterator[int]:
        """The lines, from 1, at which whole lines begin that read like `excerpt`, in file order."""
        text, needle, seen, line = self.text, f"\n{excerpt}\n", 0, 1
        if text.startswith(needle[1:]):
            yield line
        while (at := text.find(needle, seen)) >= 0:
            line += text.count("\n", seen, at + 1)
            seen = at + 1
            yield line


NAME_CHARS, SIGNATURE_CHARS = 500, 500
ALL, BARE = "all", "bare"
DIGEST_CHARS = 16
_DIGEST = re.compile("[0-9a-f]{16}|[0-9a-f]{64}")
_PART = re.compile(f"{ALL}|{BARE}|[1-9][0-9]{{0,9}}-[1-9][0-9]{{0,9}}")


@frozen
class Symbol:
    """The innermost definition around anchored lines: its kind, qualified name and head.

    `part` is what of it is anchored: `all`, `bare` (from the line of its name to its end, without what
    documents or decorates it), or the first and last line, counted from its beginning.
    """

    kind: str
    name: str
    signature: str
    part: str = ALL
    extra: Mapping[str, Any] = field(factory=dict, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        for text in (self.kind, self.name, self.signature):
            if not isinstance(text, str) or not is_single_line(text):
                raise invalid("a symbol's kind, name and signature must be one line each", "symbol")
        if not self.name:
            raise invalid("the symbol's name must not be blank", "name")
        if not _spells(_PART, self.part):
            raise invalid("the symbol's part must be all, bare, or lines such as 2-5", "part")

    @property
    def whole(self) -> bool:
        """Whether the whole definition is anchored, and not some lines in it."""
        return self.part in (ALL, BARE)


def digest_of(text: str) -> str:
    """What a text is known by: the beginning of its SHA-256."""
    return sha256_hex(text)[:DIGEST_CHARS]


def _short(digest: Any) -> str:
    """A stored digest; older packs have all of it."""
    if not _spells(_DIGEST, digest):
        raise invalid(f"the anchor's digest must be {DIGEST_CHARS} hexadecimal digits", "digest")
    return str(digest[:DIGEST_CHARS])


@frozen(cache_hash=True)
class Anchor:
    """The memory of an excerpt."""

    digest: str = field(converter=_short)
    lines: int
    symbol: Symbol | None = None
    extra: Mapping[str, Any] = field(factory=dict, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        count = self.lines
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MAX_LINES:
            raise invalid(f"the anchor must span 1 to {MAX_LINES} lines", "lines")


def _spells(pattern: re.Pattern[str], value: Any) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def anchor_of(source: SourceText, lines: LineRange) -> Anchor | None:
    """The anchor of these lines of a file; None when it does not have them all."""
    text = source.cut(lines.start, lines.end)
    return None if text is None else Anchor(digest_of(text), lines.count, symbol_of(source, lines))


def symbol_of(source: SourceText, lines: LineRange) -> Symbol | None:
    """The innermost definition that covers these lines; blank ones at their ends do not count."""
    text = source.lines[lines.start - 1 : lines.end]
    filled = [number for number, line in enumerate(text, lines.start) if line.strip()]
    around = innermost(source, filled[0], filled[-1]) if filled else None
    if around is None:
        return None
    first, last = filled[0], filled[-1]
    part = f"{first - around.start + 1}-{last - around.start + 1}"
    if last == around.end and first <= around.line:
        part = BARE if first == around.line != around.start else ALL
    name, signature = around.qualified, " ".join(around.signature.split())[:SIGNATURE_CHARS]
    if len(name) > NAME_CHARS or not is_single_line(name) or not is_single_line(signature):
        return None
    return Symbol(around.kind.value, name, signature, part)


def innermost(source: SourceText, first: int, last: int) -> Definition | None:
    """The smallest definition around these lines."""
    around = [each for each in source.definitions if each.start <= first and last <= each.end]
    return min(around, key=lambda each: (each.end - each.start, -each.depth), default=None)
