"""What a ref remembers of its code, so that the code can be found again after edits.

An anchor holds no source text: a SHA-256 of the excerpt (CRLF made LF, nothing else), its number of lines,
fingerprints of its first and last line and of up to three lines before and after, and a checksum, which
anchors of older files lack. These only suggest places; the digest alone decides that code is the same.
"""

from __future__ import annotations

import re
from typing import Any

from attrs import frozen

from context_pack.kernel.digest import sha256_hex
from context_pack.kernel.errors import invalid
from context_pack.kernel.lines import LineRange
from context_pack.packs.domain.source import CHECKSUM_DIGITS, SourceText, checksum, fingerprint
from context_pack.packs.domain.values import MAX_LINES

CONTEXT_LINES = 3
_DIGEST = re.compile("[0-9a-f]{64}")
_PRINT = re.compile("[0-9a-f]{1,8}-[0-9a-f]{8}")
_CHECKSUM = re.compile(f"[0-9a-f]{{{CHECKSUM_DIGITS}}}")


@frozen
class Anchor:
    """The memory of an excerpt; `before` and `after` are in file order and shorter at the file's ends."""

    digest: str
    lines: int
    before: tuple[str, ...]
    after: tuple[str, ...]
    first: str
    last: str
    rolling: str | None = None

    def __attrs_post_init__(self) -> None:
        if not _spells(_DIGEST, self.digest):
            raise invalid("the anchor's digest must be 64 hexadecimal digits", "digest")
        if (
            not isinstance(self.lines, int)
            or isinstance(self.lines, bool)
            or not 1 <= self.lines <= MAX_LINES
        ):
            raise invalid(f"the anchor must span 1 to {MAX_LINES} lines", "lines")
        for field, side in (("before", self.before), ("after", self.after)):
            if not isinstance(side, tuple) or len(side) > CONTEXT_LINES:
                raise invalid(f"the anchor must hold at most {CONTEXT_LINES} context lines a side", field)
        for field, prints in (
            ("before", self.before),
            ("after", self.after),
            ("first", (self.first,)),
            ("last", (self.last,)),
        ):
            if not all(_spells(_PRINT, print_) for print_ in prints):
                raise invalid("the anchor holds something that is no line fingerprint", field)
        if self.rolling is not None and not _spells(_CHECKSUM, self.rolling):
            raise invalid(f"the anchor's checksum must be {CHECKSUM_DIGITS} hexadecimal digits", "rolling")


def _spells(pattern: re.Pattern[str], value: Any) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def anchor_of(source: SourceText, lines: LineRange) -> Anchor | None:
    """The anchor of these lines, or None when the file does not have them all."""
    found, start = source.first(lines.end + CONTEXT_LINES), lines.start - 1
    inside = found[start : lines.end]
    if len(inside) < lines.count:
        return None
    return Anchor(
        sha256_hex("\n".join(inside)),
        lines.count,
        tuple(map(fingerprint, found[max(0, start - CONTEXT_LINES) : start])),
        tuple(map(fingerprint, found[lines.end : lines.end + CONTEXT_LINES])),
        fingerprint(inside[0]),
        fingerprint(inside[-1]),
        checksum(inside),
    )
