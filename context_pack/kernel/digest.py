"""Digests, and the one JSON spelling they are taken of."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def sha256_hex(data: str | bytes) -> str:
    """The SHA-256 of the bytes, or of the text in UTF-8, in lower-case hexadecimal."""
    # Lone surrogates have no UTF-8; `surrogatepass` keeps the digest total and injective for them too.
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return hashlib.sha256(raw).hexdigest()


def canonical_json(value: Any) -> str:
    """A JSON value with sorted keys, without spaces and without ASCII escaping; keys must be strings.

    Raises:
        ValueError: the value holds a number that is not finite.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
