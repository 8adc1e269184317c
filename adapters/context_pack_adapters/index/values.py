"""Values as columns take them, and a scope as SQL.

Corpora and keys are bytes, so that their order is the order of code points. Facts are JSON.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from context_pack.retrieval.model import Scope

T = TypeVar("T")
VARIABLES = 500
"""How many values a statement is given at once."""
LARGEST = 2**62
"""A number above every count and id that SQLite still takes."""


class Damaged(sqlite3.DatabaseError):
    """A stored value is not what was stored: the file is damaged, though SQLite does not see it."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


@contextmanager
def _damage() -> Iterator[None]:
    try:
        yield
    except (ValueError, zlib.error):
        raise Damaged("a stored value cannot be read") from None


def to_name(name: str) -> bytes:
    """A corpus or a key as a column takes it."""
    return name.encode("utf-8", "surrogatepass")  # whatever is asked for, it is not there


def from_name(value: bytes) -> str:
    """The corpus or key as it was given."""
    return value.decode("utf-8", "replace")


def to_facts(facts: Mapping[str, Any]) -> str:
    """Facts as a column takes them."""
    return json.dumps(dict(facts), separators=(",", ":"))


def from_facts(value: str) -> dict[str, Any]:
    """The facts as they were given."""
    with _damage():
        facts: dict[str, Any] = json.loads(value)
    return facts


def to_content(text: str) -> bytes:
    """A whole text, compressed: it is asked for whole and seldom."""
    return zlib.compress(text.encode(), 1)


def from_content(value: bytes) -> str:
    """The whole text as it was given."""
    with _damage():
        return zlib.decompress(value).decode()


def bounded(number: int) -> int:
    """A count or an offset that SQLite takes, which means the same."""
    return max(-LARGEST, min(number, LARGEST))


def embedding_text(context: str, text: str) -> str:
    """The text of a piece that an embedder gets: context and text."""
    return f"{context}\n\n{text}" if context else text


def digest_of(text: str) -> bytes:
    """The key of an embedded text among the vectors."""
    return hashlib.sha256(text.encode()).digest()[:16]


def batched(values: Sequence[T]) -> Iterator[tuple[T, ...]]:
    """The values in portions of at most what a statement takes."""
    for start in range(0, len(values), VARIABLES):
        yield tuple(values[start : start + VARIABLES])


def placeholders(values: Sequence[object]) -> str:
    """A question mark for each value."""
    return ", ".join("?" * len(values))


class Condition(NamedTuple):
    """What stands behind a WHERE, and what its question marks stand for."""

    sql: str = "1"
    values: tuple[object, ...] = ()


def condition(scope: Scope) -> Condition:
    """The rows of `entries` that a scope admits."""
    parts: list[str] = []
    values: list[object] = []
    if scope.corpora is not None:
        parts.append(f"corpus IN ({placeholders(scope.corpora)})")
        values += map(to_name, scope.corpora)
    if scope.kinds is not None:
        parts.append(f"kind IN ({placeholders(scope.kinds)})")
        values += scope.kinds
    if scope.module:
        parts.append("module = ?")
        values.append(scope.module)
    if scope.within is not None:
        parts.append("(corpus = ? AND key = ?)")
        values += map(to_name, scope.within)
    if scope.without is not None:
        parts.append("NOT (corpus = ? AND key = ?)")
        values += map(to_name, scope.without)
    return Condition(" AND ".join(parts) or "1", tuple(values))


def admits_nothing(scope: Scope) -> bool:
    """Whether a scope names no corpus or no kind at all."""
    return scope.corpora == () or scope.kinds == ()
