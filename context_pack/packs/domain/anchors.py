"""What a ref remembers of its code: the digest of its text, its number of lines, and its definition's name.

The text itself is kept beside the packs by its digest (`ExcerptStore`). Together they find the code again, as
`following` says; the digest alone decides that code is the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

from context_pack.kernel.errors import invalid
from context_pack.kernel.syntax import Definition
from context_pack.kernel.text import MAX_LINES, LineRange, is_single_line, sha256_hex
from context_pack.packs.domain.source import SourceText

NAME_CHARS, SIGNATURE_CHARS = 500, 500
ALL, BARE = "all", "bare"
_DIGEST = re.compile("[0-9a-f]{64}")
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
        texts = (("kind", 40), ("name", NAME_CHARS), ("signature", SIGNATURE_CHARS))
        for name, most in texts:
            text = getattr(self, name)
            if not isinstance(text, str) or len(text) > most or not is_single_line(text):
                raise invalid(f"the symbol's {name} must be one line of at most {most} characters", name)
        if not self.name:
            raise invalid("the symbol's name must not be blank", "name")
        if not _spells(_PART, self.part):
            raise invalid("the symbol's part must be all, bare, or lines such as 2-5", "part")

    @property
    def whole(self) -> bool:
        """Whether the whole definition is anchored, and not some lines in it."""
        return self.part in (ALL, BARE)


@frozen(cache_hash=True)
class Anchor:
    """The memory of an excerpt."""

    digest: str
    lines: int
    symbol: Symbol | None = None
    extra: Mapping[str, Any] = field(factory=dict, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if not _spells(_DIGEST, self.digest):
            raise invalid("the anchor's digest must be 64 hexadecimal digits", "digest")
        count = self.lines
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MAX_LINES:
            raise invalid(f"the anchor must span 1 to {MAX_LINES} lines", "lines")
        if self.symbol is not None and not isinstance(self.symbol, Symbol):
            raise invalid("the anchor's symbol has the wrong type", "symbol")

    def knows_more(self, other: Anchor) -> bool:
        """Whether it names a definition and the other, perhaps an older one, does not."""
        return self.symbol is not None and other.symbol is None


def _spells(pattern: re.Pattern[str], value: Any) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def anchor_of(source: SourceText, lines: LineRange, definitions: Sequence[Definition] = ()) -> Anchor | None:
    """The anchor of these lines of a file with these definitions; None when it does not have them all."""
    text = source.cut(lines.start, lines.end)
    if text is None:
        return None
    return Anchor(sha256_hex(text), lines.count, symbol_of(definitions, lines, text.split("\n")))


def symbol_of(definitions: Sequence[Definition], lines: LineRange, text: Sequence[str]) -> Symbol | None:
    """The innermost definition that covers lines with this text; blank lines at their ends do not count."""
    filled = [number for number, line in enumerate(text, lines.start) if line.strip()]
    around = innermost(definitions, filled[0], filled[-1]) if filled else None
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


def innermost(definitions: Sequence[Definition], first: int, last: int) -> Definition | None:
    """The smallest definition around these lines."""
    around = [each for each in definitions if each.start <= first and last <= each.end]
    return min(around, key=lambda each: (each.end - each.start, -each.depth), default=None)
