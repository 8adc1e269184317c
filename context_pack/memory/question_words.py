"""The words of a question, and whether words of code and notes meet them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from functools import lru_cache
from itertools import chain
from math import log

from attrs import frozen

from context_pack.retrieval.words import split_identifier, synonyms, tokens

MANY_WORDS = 7
LEAST_PREFIX = 4
"""Words with so many letters in common at their beginning may be forms of one."""
_SYMBOL = re.compile(r"[A-Za-z_$][\w$]*(?:(?:::|->|[.#])[A-Za-z_$][\w$]*)*")
_IDENTIFIER = re.compile(r"\b(?:[A-Za-z]\w*[a-z0-9][A-Z]\w*|\w*[A-Za-z]_\w+|[A-Z]{2,}[a-z]\w+)\b")
_FILLERS = frozenset(
    tokens(
        "may might must should shall need want happens kind sort way thing use used using please tell know"
        " many much often long get got make made take too very really still also only any because after"
        " before during again same one two other new goes come keep"
    )
)
"""Words of questions that say little of what is looked for."""
_TESTING = frozenset({"test", "tests", "testing", "tested", "spec", "specs", "fixture", "fixtures"})


@frozen
class QuestionWords:
    """A question's words, and the code names in it."""

    words: frozenset[str]
    names: frozenset[str]
    is_symbol: bool
    is_long: bool
    about_tests: bool
    about_versions: bool

    @property
    def telling(self) -> frozenset[str]:
        """The words that say what is looked for; all of them, where there are no others."""
        return self.words - _FILLERS or self.words

    @classmethod
    @lru_cache(maxsize=16)  # a search asks twice
    def of(cls, query: str) -> QuestionWords:
        """Parse a question."""
        text = query.strip()
        is_symbol = bool(_SYMBOL.fullmatch(text)) and (not text.islower() or "_" in text)
        names = [re.split(r"::|->|[.#]", text)[-1]] if is_symbol else _IDENTIFIER.findall(text)
        return cls(
            frozenset(tokens(text)),
            frozenset(names),
            is_symbol,
            len(text.split()) >= MANY_WORDS,
            not _TESTING.isdisjoint(text.lower().split()),
            re.search(r"\bv\d", text) is not None,
        )


def shares_of_words(met: Mapping[int, Collection[str]]) -> dict[int, float]:
    """How much of all words that were met each piece has, the rare ones above those that most have."""
    having = Counter(chain.from_iterable(met.values()))
    worth = {word: log(1 + len(met) / times) for word, times in having.items()}
    most = sum(worth.values()) or 1.0
    return {piece: sum(worth[word] for word in some) / most for piece, some in met.items()}


def parts(name: str) -> tuple[str, ...]:
    """The words of a name, as they are searched."""
    return tuple(tokens(" ".join([part for part in split_identifier(name) if len(part) > 1])))


def said_in(text: str, words: Collection[str]) -> set[str]:
    """Which of these words a text says, be it by a form that begins alike or by a synonym."""
    said = frozenset(tokens(text))
    met = {word for word in words if not said.isdisjoint(_forms(word))}
    if len(met) < len(words):
        near = [token for token in said if token[:LEAST_PREFIX] in {word[:LEAST_PREFIX] for word in words}]
        met.update(word for word in words for token in near if meet(word, token))
    return met


@lru_cache(maxsize=256)
def _forms(word: str) -> tuple[str, ...]:
    return (word, *synonyms(word))


def meet(word: str, other: str) -> bool:
    """Whether both are one word, or one of them begins with the other."""
    if word == other:
        return True
    return min(len(word), len(other)) >= LEAST_PREFIX and (word.startswith(other) or other.startswith(word))
