"""What a ref remembers of its code, so that the code can be found again after edits.

An anchor holds no source text: a SHA-256 of the excerpt (CRLF made LF, nothing else), its number of lines,
fingerprints of its first and last line and of up to three lines before and after, and a rolling checksum. A
fingerprint is the line's length and eight digits of its SHA-256: the length lets a search pass over almost
every line unhashed. The checksum finds code whose first and last line stand all over its file; anchors of
older files have none. These only suggest places; the digest alone decides that code is the same.
"""

from __future__ import annotations

import re
from typing import Any

import attrs
from attrs import frozen

from context_pack.kernel.digest import sha256_hex
from context_pack.kernel.errors import invalid
from context_pack.kernel.lines import LineRange
from context_pack.packs.domain.prints import fingerprint
from context_pack.packs.domain.rolling import DIGITS, checksum
from context_pack.packs.domain.source import SourceText
from context_pack.packs.domain.values import MAX_LINES

CONTEXT_LINES = 3
_DIGEST = re.compile("[0-9a-f]{64}")
_PRINT = re.compile("[0-9a-f]{1,8}-[0-9a-f]{8}")
_ROLLING = re.compile(f"[0-9a-f]{{{DIGITS}}}")


def _is_print(_: Any, attribute: Any, value: Any) -> None:
    if not isinstance(value, str) or _PRINT.fullmatch(value) is None:
        raise invalid("the anchor holds something that is no line fingerprint", attribute.name)


def _are_prints(instance: Any, attribute: Any, value: Any) -> None:
    if not isinstance(value, tuple) or len(value) > CONTEXT_LINES:
        raise invalid(f"the anchor must hold at most {CONTEXT_LINES} context lines a side", attribute.name)
    for item in value:
        _is_print(instance, attribute, item)


def _is_digest(_: Any, attribute: Any, value: Any) -> None:
    if not isinstance(value, str) or _DIGEST.fullmatch(value) is None:
        raise invalid("the anchor's digest must be 64 hexadecimal digits", attribute.name)


def _is_checksum(_: Any, attribute: Any, value: Any) -> None:
    if value is not None and (not isinstance(value, str) or _ROLLING.fullmatch(value) is None):
        raise invalid(f"the anchor's checksum must be {DIGITS} hexadecimal digits", attribute.name)


def _is_count(_: Any, attribute: Any, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MAX_LINES:
        raise invalid(f"the anchor must span 1 to {MAX_LINES} lines", attribute.name)


@frozen
class Anchor:
    """The memory of an excerpt; `before` and `after` are in file order and shorter at the file's ends."""

    digest: str = attrs.field(validator=_is_digest)
    lines: int = attrs.field(validator=_is_count)
    before: tuple[str, ...] = attrs.field(validator=_are_prints)
    after: tuple[str, ...] = attrs.field(validator=_are_prints)
    first: str = attrs.field(validator=_is_print)
    last: str = attrs.field(validator=_is_print)
    rolling: str | None = attrs.field(default=None, validator=_is_checksum)


def anchor_of(source: SourceText, lines: LineRange) -> Anchor | None:
    """The anchor of these lines, or None when the file does not have them all."""
    if not source.has(lines.end):
        return None
    excerpt = source.excerpt(lines.start, lines.end)
    above = range(max(1, lines.start - CONTEXT_LINES), lines.start)
    below = range(lines.end + 1, lines.end + 1 + CONTEXT_LINES)
    before = [source.excerpt(line, line) for line in above]
    after = [source.excerpt(line, line) for line in below if source.has(line)]
    inside = excerpt.split("\n")
    return Anchor(
        sha256_hex(excerpt),
        lines.count,
        tuple(map(fingerprint, before)),
        tuple(map(fingerprint, after)),
        fingerprint(inside[0]),
        fingerprint(inside[-1]),
        checksum(inside),
    )
