"""A scope in the two languages that filter: SQL over entries, and tokens of the keyword index.

Every piece carries a token for its corpus, its kind and its module in the column `scope`, so that the keyword
leg intersects lists inside the index instead of asking another table about every match.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from context_pack.retrieval.model import Scope
from context_pack_adapters.index.values import to_name


class Condition(NamedTuple):
    """A WHERE clause over `entries` and what its question marks stand for."""

    sql: str
    values: tuple[object, ...]


def condition(scope: Scope) -> Condition:
    """The entries that a scope admits."""
    parts: list[str] = []
    values: list[object] = []
    if scope.corpora is not None:
        parts.append(_one_of("corpus", len(scope.corpora)))
        values += map(to_name, scope.corpora)
    if scope.kinds is not None:
        parts.append(_one_of("kind", len(scope.kinds)))
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


def _one_of(column: str, count: int) -> str:
    return f"{column} IN ({', '.join('?' * count)})"


def admits_nothing(scope: Scope) -> bool:
    """Whether a scope names no corpus or no kind at all."""
    return scope.corpora == () or scope.kinds == ()


def tokens_of(corpus: str, kind: str, module: str) -> list[str]:
    """The tokens by which an entry's pieces are found in the column `scope`."""
    tokens = [_token("c", corpus), _token("k", kind)]
    return [*tokens, _token("m", module)] if module else tokens


def match_filter(scope: Scope) -> str:
    """The keyword index's own words for corpora, kinds and module; empty if they do not filter."""
    groups = []
    for letter, names in (("c", scope.corpora), ("k", scope.kinds), ("m", scope.module and [scope.module])):
        if names:
            groups.append(" OR ".join(f'"{_token(letter, name)}"' for name in names))
    return " AND ".join(f"scope : ({group})" for group in groups)


def match_word(word: str) -> str:
    """The keyword index's expression for one token, whatever characters it has."""
    return '"' + word.replace('"', '""') + '"'


def _token(letter: str, name: str) -> str:
    # A private-use character first: no word of a text becomes such a token.
    return f"\ue000{letter}{hashlib.sha256(to_name(name)).hexdigest()[:16]}"
