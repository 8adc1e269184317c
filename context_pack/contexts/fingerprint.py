"""The two fingerprints of a folder (of its files' times and sizes, and of their contents), and freshness.

Both are rows, one per regular file directly in the folder (hidden ones too, the context file not), sorted by
UTF-16 code units, joined by line feeds, hashed, cut to eight digits: `NAME:MILLISECONDS:SIZE`, or `NAME:` and
the SHA-256 of the bytes. `stat` is what dotcontext computes, to
the bit: it counts milliseconds in a double, which rounds some of them up. `content` survives what every clone
and checkout does to times. A context is fresh while its stored fingerprint is one of the folder's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from hashlib import sha256
from math import floor

from attrs import frozen

DIGITS = 8


class Method(StrEnum):
    """How a fingerprint is computed: from file states or from contents."""

    STAT = "stat"
    CONTENT = "content"


def stat_row(name: str, modified_ns: int, size: int) -> str:
    """A file's row in the fingerprint of times and sizes."""
    seconds, nanoseconds = divmod(modified_ns, 1_000_000_000)
    # As JavaScript has it: a double, and floored only after the sum was rounded.
    return f"{name}:{floor(float(seconds * 1000) + nanoseconds / 1e6)}:{size}"


def fingerprint(rows: Iterable[str]) -> str:
    """The fingerprint of these rows, in whatever order they come."""
    joined = "\n".join(ordered := sorted(rows))
    if not joined.isascii():
        # Plain order and the order of UTF-16 code units differ only beyond the first 65 536 characters.
        joined = "\n".join(sorted(ordered, key=lambda row: row.encode("utf-16-be")))
    return sha256(joined.encode()).hexdigest()[:DIGITS]


class FreshnessState(StrEnum):
    """How far a context can be relied on."""

    FRESH = "fresh"
    STALE = "stale"
    MISSING = "missing"


@frozen
class Freshness:
    """A stored fingerprint beside the computed one that it was compared with."""

    state: FreshnessState
    stored: str
    computed: str
    method: Method


def compared(stored: str, stat: str, content: Callable[[], str | None]) -> Freshness:
    """Fresh when the stored value equals either fingerprint; contents count only when `stat` differs."""
    if stored == stat:
        return Freshness(FreshnessState.FRESH, stored, stat, Method.STAT)
    if stored == content():
        return Freshness(FreshnessState.FRESH, stored, stored, Method.CONTENT)
    return Freshness(FreshnessState.STALE, stored, stat, Method.STAT)
