"""Ranks hits by keyword and vector scores, and by names, paths and roles of their files.

A hit's score is its share of the best score by words and of the best cosine. To that is added what its name,
its file and its folders have in common with the question and how much else of the file was found; then it is
multiplied for what usually repeats other code (tests, examples, old versions). Every number was tried alone
over ten repositories by `benches/quality/code_search.py --annotated`: beside each is the nDCG@10 that is lost
without it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from math import log

from context_pack.kernel.classes import evolve, frozen
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.roles import is_test
from context_pack.memory.domain.entries import CODE, NO_CODE
from context_pack.retrieval.model import FoundPiece, Ranked
from context_pack.retrieval.words import split_identifier, tokens

MEANING = 0.7  # 0.022 against the 0.2 of documents: the share of the vectors in the score of code
MEANING_OF_MANY = 0.35  # 0.014 against 0.7: the same for a long question, of which most words say little
MANY_WORDS = 7
SUPPORT = 0.15  # 0.028: for the best hit of a file, by how much of the file was found
DEFINED = 1.5  # 0.010: the definition that a question asks for by nothing but its name, at its first line
NAMESAKE = 0.5  # 0.002: more of that where the file is called like it
SPELLED = 0.4  # 0.005: a definition whose name stands in a sentence
CALLED = 0.03  # 0.005: by how much of a definition's name is in the question
CALLING = 0.1  # 0.003: by how much of the question is in a definition's name
FILE = 0.2  # 0.013: for the best hit of a file, by how much of the file's name is in the question
FOLDER = 0.25  # 0.004: the same for its folders, the rare ones above those that most files are in
TEST = 0.6  # 0.026
OLD = 0.7  # 0.004: in a folder v1 when there is a v2 beside it
NO_CODE_SHARE = 0.6  # 0.005: prose and configuration
NAMELESS = 0.9  # 0.002: lines outside of any definition
SHORT = 0.9  # 0.005: up to three lines, mostly declarations of what is defined elsewhere
ASIDE = 0.8  # 0.002: examples, documentation, vendored and generated code
AGAIN = (
    0.85  # 0.023: for each better hit in the same file; 0.75 gains 0.003, and costs whoever wants the second
)
AGAIN_OF_MANY = 1.0
"""Where more hits than a page are asked for, as drafts do: they want the others of a file, too."""
SHORT_LINES = 3
CERTAIN, LIKELY = 0.5, 0.2
"""The least relevance of a definition that was asked for by its name, alone or in a sentence."""

_SYMBOL = re.compile(r"[A-Za-z_$][\w$]*(?:(?:::|->|[.#])[A-Za-z_$][\w$]*)*")
_IDENTIFIER = re.compile(r"\b(?:[A-Za-z]\w*[a-z0-9][A-Z]\w*|\w*[A-Za-z]_\w+|[A-Z]{2,}[a-z]\w+)\b")
_TESTING = frozenset({"test", "tests", "testing", "tested", "spec", "specs", "fixture", "fixtures"})
_ASIDE = re.compile(
    r"(?:^|/)_?(?:examples?|demos?|samples?|docs?|bench(?:es|marks?)?|fixtures?|testdata|vendor|third_party"
    r"|node_modules|generated|dist)/",
    re.IGNORECASE,
)
_VERSION = re.compile(r"(?:^|/)v(\d+)/")
LEAST_PREFIX = 4


@frozen
class QuestionWords:
    """A question's words, and the code names in it."""

    words: frozenset[str]
    names: frozenset[str]
    is_symbol: bool
    is_long: bool
    about_tests: bool
    about_versions: bool

    @classmethod
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


def ranked(
    hits: Sequence[Ranked], query: str, weight: float, again: float = AGAIN
) -> list[tuple[float, Ranked]]:
    """The hits with their relevance, the best first; `weight` is that of the vectors for what is no code."""
    if not hits:
        return []
    asked = QuestionWords.of(query)
    meaning = MEANING_OF_MANY if asked.is_long else MEANING
    scores = [_score(hit, meaning if hit.found.corpus == CODE else weight) for hit in hits]
    best = max(scores) or 1.0
    files = _Files(asked, [(hit.found, score) for hit, score in zip(hits, scores, strict=True)])
    weighed = []
    for score, hit in sorted(zip(scores, hits, strict=True), key=lambda pair: -pair[0]):
        total = score + best * SUPPORT
        if hit.found.corpus == CODE:
            total = (score + best * files.gain(hit.found)) * files.share(hit.found)
        weighed.append((total, _relevance(asked, hit, total / score / (1 + SUPPORT) if score else 1.0), hit))
    return _spread(weighed, again)


def _score(hit: Ranked, weight: float) -> float:
    return (1 - weight) * hit.words + weight * hit.meaning


def _relevance(asked: QuestionWords, hit: Ranked, change: float) -> float:
    """How relevant a hit is, after its score has changed by so much."""
    least = 0.0
    if hit.found.corpus == CODE and _name_of(hit.found) in asked.names:
        least = CERTAIN if asked.is_symbol else LIKELY
    return min(1.0, max(hit.relevance * change, least * min(change, 1.0)))


def _spread(weighed: Sequence[tuple[float, float, Ranked]], again: float) -> list[tuple[float, Ranked]]:
    """The best first, and further hits of a file behind the first hits of others."""
    left: dict[str, float] = {"": 1.0}
    spread = []
    for total, relevance, hit in sorted(weighed, key=lambda each: -each[0]):
        file = hit.found.key if hit.found.corpus == CODE else ""
        share = left.get(file, 1.0)
        spread.append((total * share, relevance, hit))
        if file:
            left[file] = share * again
    return [(relevance, hit) for _, relevance, hit in sorted(spread, key=lambda each: -each[0])]


def shown(hits: Iterable[tuple[float, Ranked]]) -> Iterator[Ranked]:
    """The hits with their relevance, none with a greater one than the hit before it."""
    lowest = 1.0
    for relevance, hit in hits:
        lowest = min(lowest, relevance)
        yield evolve(hit, relevance=lowest)


class _Files:
    """Bonuses of hits for names and paths that match the question; call in the order of the scores."""

    def __init__(self, asked: QuestionWords, scores: Sequence[tuple[FoundPiece, float]]) -> None:
        self._asked = asked
        self._sums: dict[str, float] = defaultdict(float)
        self._firsts: dict[tuple[str, str], int] = {}
        for found, score in scores:
            self._sums[found.key] += score
            place = (found.key, found.heading)
            self._firsts[place] = min(found.start, self._firsts.get(place, found.start))
        self._most = max(self._sums.values()) or 1.0
        self._stems = Counter(word for key in self._sums for word in _different_parts(_stem_of(key)))
        self._folders = Counter(word for key in self._sums for word in _different_parts(_folder_of(key)))
        self._names: dict[str, int] = defaultdict(int)
        for found, _ in scores:
            for word in _different_parts(_name_of(found)):
                self._names[word] += 1
        self._pieces = len(scores)
        self._newest = max((_version(key) for key in self._sums), default=0)
        self._seen: set[str] = set()
        self._met: dict[str, frozenset[str]] = {}
        self._called: dict[str, float] = {}
        self._beginnings = {word[:LEAST_PREFIX] for word in asked.words}

    def gain(self, found: FoundPiece) -> float:
        """The bonus of a hit for its name, and of the first hit of a file for its path."""
        gained = self._named(found)
        if found.key not in self._seen:
            self._seen.add(found.key)
            gained += SUPPORT * self._sums[found.key] / self._most
            if not self._asked.is_symbol:
                gained += self._path_bonus(found.key)
        return gained

    def _named(self, found: FoundPiece) -> float:
        """The bonus of a definition whose name is in the question; only for its first piece."""
        name, asked = _name_of(found), self._asked
        spelled = name in asked.names and found.start == self._firsts[found.key, found.heading]
        if asked.is_symbol:
            return DEFINED * (1 + NAMESAKE * (_bare(_stem_of(found.key)) == _bare(name))) if spelled else 0.0
        called = self._called.get(name)
        if called is None:
            called = self._called[name] = self._in_common(name)
        return called + SPELLED * spelled

    def _in_common(self, name: str) -> float:
        """How much of a name is in the question, and of the question in the name."""
        covered = frozenset[str]().union(*map(self._meeting, parts(name)))
        if not covered:
            return 0.0
        words = {word: log(1 + self._pieces / self._names[word]) for word in parts(name)}
        common = sum(rarity for word, rarity in words.items() if self._meeting(word))
        return CALLED * common / sum(words.values()) + CALLING * len(covered) / len(self._asked.words)

    def _path_bonus(self, key: str) -> float:
        """The bonus for path words of a file that are in the question."""
        count = len(self._sums)
        stem = {word: log(1 + count / self._stems[word]) for word in parts(_stem_of(key))}
        whole, most = sum(stem.values()), log(count) or 1.0
        named = sum(rarity for word, rarity in stem.items() if self._meeting(word))
        rare = sum(log(count / self._folders[word]) for word in parts(_folder_of(key)) if self._meeting(word))
        return (FILE * named / whole if whole else 0.0) + FOLDER * rare / most

    def _meeting(self, word: str) -> frozenset[str]:
        """The words of the question that are this word, or begin with it, or it with them."""
        if word[:LEAST_PREFIX] not in self._beginnings:
            return frozenset()
        met = self._met.get(word)
        if met is None:
            met = self._met[word] = frozenset(other for other in self._asked.words if _meet(word, other))
        return met

    def share(self, found: FoundPiece) -> float:
        """How much of its score a piece of code keeps."""
        share = 1.0 if found.heading else NAMELESS
        if found.kind in NO_CODE:
            share *= NO_CODE_SHARE
        if found.end - found.start < SHORT_LINES:
            share *= SHORT
        tests, aside = _roles(found.key)
        share *= aside if self._asked.about_tests else tests * aside
        if not self._asked.about_versions and 0 < _version(found.key) < self._newest:
            share *= OLD
        return share


@lru_cache(maxsize=4096)
def _roles(key: str) -> tuple[float, float]:
    """The share of the score that a file keeps as a test, and as an example or copy."""
    return TEST if is_test(RelativePath(key)) else 1.0, ASIDE if _ASIDE.search(key) else 1.0


def _name_of(found: FoundPiece) -> str:
    return found.heading.rpartition(".")[2]


def _stem_of(key: str) -> str:
    name = key.rpartition("/")[2]
    return name.rpartition(".")[0] or name


def _bare(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower().rstrip("s")


def _version(key: str) -> int:
    found = _VERSION.search(key) if "/v" in key or key.startswith("v") else None
    return int(found[1]) if found else 0


@lru_cache(maxsize=4096)
def parts(name: str) -> tuple[str, ...]:
    """The words of a name, as they are searched."""
    return tuple(token for part in split_identifier(name) if len(part) > 1 for token in tokens(part))


@lru_cache(maxsize=4096)
def _different_parts(name: str) -> frozenset[str]:
    return frozenset(parts(name))


def _folder_of(key: str) -> str:
    return key.rpartition("/")[0]


def _meet(word: str, other: str) -> bool:
    """Whether both are one word, or one of them begins with the other."""
    if word == other:
        return True
    return min(len(word), len(other)) >= LEAST_PREFIX and (word.startswith(other) or other.startswith(word))
