"""The shape of pack ids: `pk_` and eight characters of lower-case base 32. Randomness comes from a port."""

from __future__ import annotations

import re
from base64 import b32encode

PACK_ID_BYTES = 5

_PACK_ID = re.compile(r"pk_[a-z2-7]{8}")


def is_pack_id(text: str) -> bool:
    """Whether the text has the shape of a pack id."""
    return _PACK_ID.fullmatch(text) is not None


def pack_id(token: bytes) -> str:
    """The id that `PACK_ID_BYTES` random bytes spell; different bytes spell different ids.

    Raises:
        ValueError: the token has another size.
    """
    if len(token) != PACK_ID_BYTES:
        raise ValueError(f"a pack id is made of {PACK_ID_BYTES} bytes")
    return "pk_" + b32encode(token).decode("ascii").lower()
