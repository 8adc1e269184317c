"""Pages of a list, and cursors that lead to the next one.

A cursor is opaque to clients: URL-safe text that names its list, so that one of another list does not fit. It
holds no secret; whoever decodes one still checks that what it says makes sense.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from attrs import frozen

from context_pack.kernel.errors import invalid
from context_pack.kernel.text import canonical_json

T = TypeVar("T")

MAX_CURSOR_CHARS = 4096


def encode_cursor(kind: str, payload: Mapping[str, Any]) -> str:
    """A cursor for lists of this kind that carries a JSON payload."""
    return (
        urlsafe_b64encode(canonical_json([kind, dict(payload)]).encode("utf-8")).decode("ascii").rstrip("=")
    )


def decode_cursor(kind: str, text: str) -> dict[str, Any]:
    """The payload of a cursor that `encode_cursor` made for the same kind.

    Raises:
        Failure: `invalid_data`, field `cursor`, for anything else.
    """
    try:
        values = json.loads(urlsafe_b64decode(text[:MAX_CURSOR_CHARS] + "=" * (-len(text) % 4)))
    except (ValueError, RecursionError):
        values = None
    match values:
        case [name, dict() as payload] if name == kind:
            return payload
    raise invalid("'cursor' is not one of this list; start again without it", "cursor")


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
    part = tuple(items[start : start + max(0, limit)])
    return Page(part, len(items), start + len(part) < len(items))
