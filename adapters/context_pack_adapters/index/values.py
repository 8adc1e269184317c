"""How values become columns and come back.

Corpora and keys are bytes, so that their order is the order of code points. Facts are JSON. What is embedded
of a piece is said here, because its digest is what the cache of vectors goes by.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from context_pack.retrieval.model import Piece


def to_name(name: str) -> bytes:
    """A corpus or a key as a column takes it."""
    return name.encode("utf-8", "surrogatepass")  # whatever is asked for, it is not there


def from_name(value: bytes) -> str:
    """The corpus or key as it was given."""
    return value.decode()


def to_facts(facts: Mapping[str, Any]) -> str:
    """Facts as a column takes them."""
    return json.dumps(dict(facts), separators=(",", ":")) if facts else "{}"


def from_facts(value: str) -> dict[str, Any]:
    """The facts as they were given."""
    if value == "{}":
        return {}
    facts: dict[str, Any] = json.loads(value)
    return facts


def to_content(text: str) -> bytes:
    """A whole text, compressed: it is asked for whole and seldom."""
    return zlib.compress(text.encode(), 1)


def from_content(value: bytes) -> str:
    """The whole text as it was given."""
    return zlib.decompress(value).decode()


LARGEST = 2**62
"""More than there is of anything; SQLite takes no number above twice that."""


def bounded(number: int) -> int:
    """A count or an offset that SQLite takes, which means the same."""
    return max(-LARGEST, min(number, LARGEST))


def embedded(context: str, text: str) -> str:
    """What an embedder is given of a piece."""
    return f"{context}\n\n{text}" if context else text


def embedded_of(piece: Piece) -> str:
    """What an embedder is given of this piece."""
    return embedded(piece.context, piece.text)


def digest_of(text: str) -> bytes:
    """What the cache of vectors knows an embedded text by."""
    return hashlib.sha256(text.encode()).digest()[:16]


def to_tokens(tokens: Iterable[str]) -> str:
    """Tokens as the keyword index takes them: parted by spaces, and nothing that is no UTF-8."""
    text = " ".join(tokens)
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def pack_columns(rows: Iterable[Sequence[str]]) -> bytes:
    """The keyword rows of an entry, compressed together, to take them out again some day."""
    return zlib.compress("\n".join("\t".join(row) for row in rows).encode(), 1)


def unpack_columns(value: bytes, count: int) -> list[list[str]]:
    """The keyword rows of an entry with so many pieces.

    Raises:
        ValueError: these are not so many rows.
    """
    lines = zlib.decompress(value).decode().split("\n") if count else []
    rows = [line.split("\t") for line in lines]
    if len(rows) != count or any(len(row) != 3 for row in rows):
        raise ValueError("a keyword row is missing")
    return rows
