"""Pages of a list, and cursors that lead to the next one.

A cursor is opaque to clients: URL-safe text with a short digest in front, so that a cut, edited or invented
one is refused and one of another list does not fit. It holds no secret; whoever decodes one still checks
that what it says makes sense.
"""

from __future__ import annotations

import binascii
import json
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from attrs import frozen

from context_pack.kernel.errors import Failure, invalid
from context_pack.kernel.text import canonical_json, sha256_hex

T = TypeVar("T")

MAX_CURSOR_CHARS = 4096
_SEAL_CHARS = 8


def encode_cursor(kind: str, payload: Mapping[str, Any]) -> str:
    """A cursor for lists of this kind that carries a JSON payload."""
    body = urlsafe_b64encode(canonical_json(dict(payload)).encode("utf-8")).decode("ascii").rstrip("=")
    return _seal(kind, body) + body


def decode_cursor(kind: str, text: str) -> dict[str, Any]:
    """The payload of a cursor that `encode_cursor` made for the same kind.

    Raises:
        Failure: `invalid_data`, field `cursor`, for anything else.
    """
    if not isinstance(text, str) or len(text) > MAX_CURSOR_CHARS or not text.isascii():
        raise _unknown()
    seal, body = text[:_SEAL_CHARS], text[_SEAL_CHARS:]
    if seal != _seal(kind, body):
        raise _unknown()
    try:
        payload = json.loads(b64decode(body + "=" * (-len(body) % 4), b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError) as error:
        raise _unknown() from error
    if not isinstance(payload, dict):
        raise _unknown()
    return payload


def _seal(kind: str, body: str) -> str:
    return sha256_hex(f"{kind}\n{body}")[:_SEAL_CHARS]


def _unknown() -> Failure:
    return invalid("'cursor' is not one of this list; start again without it", "cursor")


@frozen
class Page(Generic[T]):
    """A part of a list, how long the whole is, and whether anything follows; iterates over its items."""

    items: tuple[T, ...]
    total: int
    has_more: bool

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


def page(items: Sequence[T], offset: int, limit: int) -> Page[T]:
    """At most `limit` items from `offset` on; an offset past the end gives an empty page."""
    start = max(0, offset)
    shown = tuple(items[start : start + max(0, limit)])
    return Page(shown, len(items), start + len(shown) < len(items))
