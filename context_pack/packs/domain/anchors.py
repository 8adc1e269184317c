"""What a ref remembers of its code, so that the code can be found again after edits.

An anchor holds a SHA-256 of the excerpt (CRLF made LF, nothing else), its number of lines, fingerprints of
its first and last line and of up to three lines before and after, a checksum, a sketch, the definition around
it, and hashes of the names of others; anchors of older files lack the last four. Of the source text it holds
only the head of that definition. All of this suggests places; the digest alone decides that code is the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from zlib import crc32

from attrs import field, frozen

from context_pack.kernel.errors import invalid
from context_pack.kernel.lines import MAX_LINES, LineRange
from context_pack.kernel.syntax import Definition
from context_pack.kernel.text import is_single_line, sha256_hex
from context_pack.packs.domain.likeness import MOST_PAIRS, PAIR_DIGITS, sketch_of
from context_pack.packs.domain.source import CHECKSUM_DIGITS, SourceText, checksum, fingerprint

CONTEXT_LINES = 3
_DIGEST = re.compile("[0-9a-f]{64}")
_PRINT = re.compile("[0-9a-f]{1,8}-[0-9a-f]{8}")
_CHECKSUM = re.compile(f"[0-9a-f]{{{CHECKSUM_DIGITS}}}")
_SKETCH = re.compile(f"(?:[0-9a-f]{{{PAIR_DIGITS}}}){{0,{MOST_PAIRS}}}")
MOST_BESIDE, NAME_DIGITS = 128, 4
_BESIDE = re.compile(f"(?:[0-9a-f]{{{NAME_DIGITS}}}){{1,{MOST_BESIDE}}}")
NAME_CHARS, SIGNATURE_CHARS = 500, 500
ALL, BARE = "all", "bare"
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


@frozen(cache_hash=True)
class Anchor:
    """The memory of an excerpt; `before` and `after` are in file order and shorter at the file's ends.

    `beside` are short hashes of the names of the file's other definitions, which are not its code.
    """

    digest: str
    lines: int
    before: tuple[str, ...]
    after: tuple[str, ...]
    first: str
    last: str
    rolling: str | None = None
    sketch: str | None = None
    symbol: Symbol | None = None
    beside: str | None = None
    extra: Mapping[str, Any] = field(factory=dict, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if not _spells(_DIGEST, self.digest):
            raise invalid("the anchor's digest must be 64 hexadecimal digits", "digest")
        if (
            not isinstance(self.lines, int)
            or isinstance(self.lines, bool)
            or not 1 <= self.lines <= MAX_LINES
        ):
            raise invalid(f"the anchor must span 1 to {MAX_LINES} lines", "lines")
        for name, side in (("before", self.before), ("after", self.after)):
            if not isinstance(side, tuple) or len(side) > CONTEXT_LINES:
                raise invalid(f"the anchor must hold at most {CONTEXT_LINES} context lines a side", name)
        for name, prints in (
            ("before", self.before),
            ("after", self.after),
            ("first", (self.first,)),
            ("last", (self.last,)),
        ):
            if not all(_spells(_PRINT, print_) for print_ in prints):
                raise invalid("the anchor holds something that is no line fingerprint", name)
        if self.rolling is not None and not _spells(_CHECKSUM, self.rolling):
            raise invalid(f"the anchor's checksum must be {CHECKSUM_DIGITS} hexadecimal digits", "rolling")
        if self.sketch is not None and not _spells(_SKETCH, self.sketch):
            raise invalid("the anchor's sketch must be hexadecimal digits", "sketch")
        if self.symbol is not None and not isinstance(self.symbol, Symbol):
            raise invalid("the anchor's symbol has the wrong type", "symbol")
        if self.beside is not None and not _spells(_BESIDE, self.beside):
            raise invalid("the anchor's names beside must be hexadecimal digits", "beside")

    def stood_beside(self, definitions: Iterable[Definition]) -> list[Definition]:
        """Those that the file had besides the code when it was anchored, as far as that is remembered."""
        names = self.beside or ""
        known = {names[at : at + NAME_DIGITS] for at in range(0, len(names), NAME_DIGITS)}
        return [each for each in definitions if _name_hash(each) in known] if known else []

    def knows_more(self, other: Anchor) -> bool:
        """Whether it has a sketch, a symbol or names that the other, perhaps an older one, has not."""
        mine, theirs = (self.sketch, self.symbol, self.beside), (other.sketch, other.symbol, other.beside)
        return any(had is None and has is not None for has, had in zip(mine, theirs, strict=True))


def _spells(pattern: re.Pattern[str], value: Any) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def anchor_of(source: SourceText, lines: LineRange, definitions: Sequence[Definition] = ()) -> Anchor | None:
    """The anchor of these lines of a file with these definitions; None when it does not have them all."""
    found, start = source.first(lines.end + CONTEXT_LINES), lines.start - 1
    inside = found[start : lines.end]
    if len(inside) < lines.end - start:
        return None
    return Anchor(
        sha256_hex("\n".join(inside)),
        len(inside),
        tuple(map(fingerprint, found[max(0, start - CONTEXT_LINES) : start])),
        tuple(map(fingerprint, found[lines.end : lines.end + CONTEXT_LINES])),
        fingerprint(inside[0]),
        fingerprint(inside[-1]),
        checksum(inside),
        sketch_of(inside),
        symbol_of(definitions, lines, inside),
        _beside(definitions, lines),
    )


def _beside(definitions: Sequence[Definition], lines: LineRange) -> str | None:
    """Hashes of the names of the definitions without a line in common with these; the nearest of many."""
    here = {each.qualified for each in definitions if each.start <= lines.end and lines.start <= each.end}
    others = [each for each in definitions if each.qualified not in here]
    if len(others) > MOST_BESIDE:
        others = sorted(others, key=lambda each: abs(each.start - lines.start))[:MOST_BESIDE]
    return "".join(sorted(set(map(_name_hash, others)))) or None


def _name_hash(definition: Definition) -> str:
    name = definition.qualified.encode("utf-8", "surrogatepass")
    return f"{crc32(name) & 0xFFFF:0{NAME_DIGITS}x}"


def symbol_of(definitions: Sequence[Definition], lines: LineRange, text: Sequence[str]) -> Symbol | None:
    """The innermost definition that covers lines with this text; blank lines at their ends do not count."""
    filled = [number for number, line in enumerate(text, lines.start) if line.strip()]
    if not filled:
        return None
    first, last = filled[0], filled[-1]
    around = [each for each in definitions if each.start <= first and last <= each.end]
    if not around:
        return None
    found = min(around, key=lambda each: (each.end - each.start, -each.depth))
    part = f"{first - found.start + 1}-{last - found.start + 1}"
    if last == found.end and first <= found.line:
        part = BARE if first == found.line != found.start else ALL
    name, signature = found.qualified, " ".join(found.signature.split())[:SIGNATURE_CHARS]
    if len(name) > NAME_CHARS or not is_single_line(name) or not is_single_line(signature):
        return None
    return Symbol(found.kind.value, name, signature, part)
