"""What a ref remembers of its code, so that the code can be found again after edits.

An anchor holds no source text: a SHA-256 of the excerpt (CRLF made LF, nothing else), its number of lines,
fingerprints of its first and last line and of up to three lines before and after, and a checksum, which
anchors of older files lack. These only suggest places; the digest alone decides that code is the same.
"""

from __future__ import annotations

import re
from typing import Any

import attrs
from attrs import frozen

from context_pack.kernel.digest import sha256_hex
from context_pack.kernel.errors import invalid
from context_pack.kernel.lines import LineRange
from context_pack.packs.domain.source import CHECKSUM_DIGITS, SourceText, checksum, fingerprint
from context_pack.packs.domain.values import MAX_LINES

CONTEXT_LINES = 3
_DIGEST = re.compile("[0-9a-f]{64}")
_PRINT = re.compile("[0-9a-f]{1,8}-[0-9a-f]{8}")
_ROLLING = re.compile(f"[0-9a-f]{{{CHECKSUM_DIGITS}}}")


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
        raise invalid(f"the anchor's checksum must be {CHECKSUM_DIGITS} hexadecimal digits", attribute.name)


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
