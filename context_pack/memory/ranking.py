"""Ranks hits by keyword and vector scores, and by names, paths and roles of their files.

A hit's score is its share of the best score by words and of the best cosine. To that is added what its name,
its file and its folders have in common with the question and how much else of the file was found; then it is
multiplied for what usually repeats other code (tests, examples, old versions). Every number was tried alone
over ten repositories by `benches/quality/code_search.py --annotated`: beside each is the nDCG@10 that is lost
without it. Those that say `first` were chosen by how often the right definition is the first hit, of 94
questions over eight repositories (`--functions`): beside each is how many are lost without it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from math import log
from operator import itemgetter
from typing import NamedTuple

from context_pack.kernel.paths import RelativePath, is_test
from context_pack.memory.entries import BRIEF, CODE, DECLARES, DISCOVERY, NO_CODE, PART, SUPERSEDED_BY
from context_pack.memory.question_words import (
    LEAST_PREFIX,
    QuestionWords,
    meet,
    parts,
    said_in,
    shares_of_words,
)
from context_pack.retrieval.model import FoundPiece, Ranked
from context_pack.retrieval.ranking import FLOOR
from context_pack.retrieval.words import tokens

MEANING = 0.7  # 0.022 against the 0.2 of documents: the share of the vectors in the score of code
MEANING_OF_MANY = 0.35  # 0.014 against 0.7: the same for a long question, of which most words say little
SUPPORT = 0.2  # 0.028: by how much of a piece's file was found
OTHERS = 0.5  # first 1, in the first five 2: what a file gains, for other pieces of it than the best
DEFINED = 1.5  # 0.010: the definition that a question asks for by nothing but its name, at its first line
NAMESAKE = 0.5  # 0.002: more of that where the file is called like it
SPELLED = 0.4  # 0.005: a definition whose name stands in a sentence
CALLED = 0.1  # 0.005, first 4: by how much of a definition's name is in the question
CALLING = 0.1  # 0.003: by how much of the question is in a definition's name
COVERED = 0.4  # first 6: by how much of the question stands in a piece, rare words above frequent ones
FILE = 0.1  # 0.011: by how much of the file's name is in the question
FOLDER = 0.25  # 0.004: the same for its folders, the rare ones above those that most files are in
TEST = 0.6  # 0.026
OLD = 0.7  # 0.004: in a folder v1 when there is a v2 beside it
NO_CODE_SHARE = 0.6  # 0.005: prose and configuration
NAMELESS = 0.6  # 0.002, first 1: lines outside of any definition
LATER = 0.8  # first 2: the second and further parts of a long definition
LITTLE = 0.8  # first 5: definitions of up to five lines of code, which set or get what others work with
DECLARED = 0.6  # 0.005: a declaration beside what does it, under the same name
SHORT = 0.9  # 0.005: up to three lines, mostly declarations of what is defined elsewhere
ASIDE = 0.65  # 0.014, first 2: examples, documentation, scripts, vendored and generated code
AGAIN = 0.88  # 0.023: for each better hit in the same file; less costs whoever wants the second one
AGAIN_OF_MANY = 1.0
"""Where more hits than a page are asked for, as drafts do: they want the others of a file, too."""
SAID = 0.3
"""For a discovery, by how much of the question it says in its own words: short forms and beginnings count."""
MEANING_OF_NOTES = 0.85  # 5 of 60 questions of `discoveries.py`: the share of a model's vectors
LIKENESS = 0.3  # without a model: the vectors of a discovery, beside how much of the question it says
ALWAYS, NEAREST = 30, 3
"""So many discoveries are never left out: which say most of the question, or which a model has nearest."""
NEAR = 0.13
"""The relevance by a model from which a discovery answers; of twenty questions about code two have one."""
OWN_PLACES, FIRST_PLACES = 2, 5
"""What people wrote down has so many of the first places, where it answers the question."""
ANSWERS = 0.4
"""How much of a question a discovery says that has a place of its own."""
READ = 1500
"""So many characters of a piece are looked through for the words of the question."""
SHORT_LINES = 3
CERTAIN, LIKELY = 0.5, 0.2
"""The least relevance of a definition that was asked for by its name, alone or in a sentence."""

_ASIDE = re.compile(
    r"(?:^|/)_?(?:examples?|demos?|samples?|tutorials?|docs?(?:[_-]\w+)?|bench(?:es|marks?)?|fixtures?|testdata"
    r"|scripts?|vendor|third_party|node_modules|generated|dist)/",
    re.IGNORECASE,
)
_TYPES = frozenset(tokens("interface trait type protocol header declaration"))
_INNER_TESTS = re.compile(r"(?:^|\.)tests?(?:\.|$)")
"""Tests inside a source file, as Rust has them."""
_VERSION = re.compile(r"(?:^|/)v(\d+)/")
_NONE = frozenset[str]()
_FIRST = itemgetter(0)


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
    files = _Files(asked, hits, scores)
    said = _said(asked.telling, [hit.found for hit in hits if hit.found.corpus == DISCOVERY])
    names, least = asked.names, CERTAIN if asked.is_symbol else LIKELY
    weighed = []
    for score, hit in sorted(zip(scores, hits, strict=True), key=_FIRST, reverse=True):
        found = hit.found
        is_code = found.corpus == CODE
        own = SAID * said.get(found.piece, 0.0)
        gain = files.gain(found) if is_code else SUPPORT + own
        total = (score + best * gain) * (files.share(found) if is_code else 1.0)
        change = total / score / (1 + SUPPORT) if score else 1.0
        relevance = hit.relevance * change
        if names and is_code and _name_of(found.heading) in names:
            relevance = max(relevance, least * min(change, 1.0))
        weighed.append((total, 1.0 if relevance > 1.0 else relevance, hit))
    return _spread(weighed, again)


def _said(question: Collection[str], discoveries: Sequence[FoundPiece]) -> dict[int, float]:
    """How much of the question each discovery says, the best 1; the rare words above those that most say.

    The name of its module is a word of it, unless all have the same.
    """
    modules = {found.module for found in discoveries}
    shares = shares_of_words({each.piece: _met(question, each, len(modules) > 1) for each in discoveries})
    most = max(shares.values(), default=0.0) or 1.0
    return {piece: share / most for piece, share in shares.items()}


def _met(question: Collection[str], found: FoundPiece, with_module: bool) -> set[str]:
    """The words of a question that a discovery says, or that name the code it is about."""
    code = found.entry_facts.get("code") or {}
    about = f"{code.get('path', '')} {code.get('symbol') or ''} {found.module if with_module else ''}"
    return said_in(f"{about} {found.text}", question)


def ranked_notes(
    hits: Sequence[Ranked], query: str, weight: float, floor: float, by_meaning: bool
) -> list[tuple[float, Ranked]]:
    """What people wrote and is worth showing, with its relevance, the best first.

    `by_meaning` says that a model measured it. The best are shown however small their relevance is: in a
    small memory most texts have the same words, and what a word is worth falls as more of them have it.
    """
    words = QuestionWords.of(query).telling
    said = {} if by_meaning else _said(words, [hit.found for hit in hits if hit.found.corpus == DISCOVERY])
    scores = {}
    for hit in hits:
        piece = hit.found.piece
        if piece in said:
            scores[piece] = said[piece] + LIKENESS * hit.meaning
        else:
            scores[piece] = _score(hit, MEANING_OF_NOTES if by_meaning else weight)
    notes = []
    for at, hit in enumerate(sorted(hits, key=lambda hit: scores[hit.found.piece], reverse=True)):
        near = at < NEAREST if by_meaning else at < ALWAYS and said.get(hit.found.piece)
        if near or hit.relevance >= floor:
            notes.append((max(hit.relevance, FLOOR), hit))
    return notes


def joined(
    weighed: Sequence[tuple[float, Ranked]], notes: Sequence[tuple[float, Ranked]]
) -> list[tuple[float, Ranked]]:
    """The hits with notes in their own order where notes stand, and further ones at the end."""
    coming = iter(notes)
    hits = [each if each[1].found.corpus == CODE else next(coming, None) for each in weighed]
    return [*filter(None, hits), *coming]


def with_own_places(
    hits: Sequence[tuple[float, Ranked]], query: str, limit: int, by_meaning: bool
) -> list[tuple[float, Ranked]]:
    """The hits with the best discoveries that answer among the first; no other order is changed."""
    first = min(limit, FIRST_PLACES)
    places = OWN_PLACES if first > OWN_PLACES + 1 else first // 2
    words = QuestionWords.of(query).telling

    def answers(relevance: float, found: FoundPiece) -> bool:
        if found.corpus != DISCOVERY or SUPERSEDED_BY in found.entry_facts:
            return False
        near = by_meaning and relevance >= NEAR
        return near or len(_met(words, found, with_module=True)) >= ANSWERS * len(words) > 0

    own = [each for each in hits if answers(each[0], each[1].found)][:places]
    late = [each for each in own if each in hits[first:]]
    if not late:
        return list(hits)
    others = [each for each in hits if each not in late]
    return [*others[: first - len(late)], *late, *others[first - len(late) :]]


def _score(hit: Ranked, weight: float) -> float:
    return (1 - weight) * hit.words + weight * hit.meaning


def _spread(weighed: list[tuple[float, float, Ranked]], again: float) -> list[tuple[float, Ranked]]:
    """The best first, and further hits of a file behind the first hits of others."""
    left: dict[str, float] = {"": 1.0}
    spread = []
    for total, relevance, hit in sorted(weighed, key=_FIRST, reverse=True):
        file = hit.found.key if hit.found.corpus == CODE else ""
        share = left.get(file, 1.0)
        spread.append((total * share, relevance, hit))
        if file:
            left[file] = share * again
    spread.sort(key=_FIRST, reverse=True)
    return [(relevance, hit) for _, relevance, hit in spread]


def shown(hits: Iterable[tuple[float, Ranked]]) -> Iterator[Ranked]:
    """The hits with their relevance, none with a greater one than the hit before it."""
    lowest = 1.0
    for relevance, hit in hits:
        lowest = min(lowest, relevance)
        yield hit._replace(relevance=lowest)


class _Files:
    """Bonuses of hits for names and paths that match the question; call in the order of the scores."""

    def __init__(self, asked: QuestionWords, hits: Sequence[Ranked], scores: Sequence[float]) -> None:
        self._asked = asked
        self._sums: dict[str, float] = defaultdict(float)
        for hit, score in zip(hits, scores, strict=True):
            self._sums[hit.found.key] += score
        self._most = max(self._sums.values()) or 1.0
        self._paths = {key: _path(key) for key in self._sums}
        self._shares = self._shares_of_files()
        self._pieces = len(hits)
        self._beginnings = {word[:LEAST_PREFIX] for word in asked.words}
        self._met: dict[str, frozenset[str]] = {}
        self._firsts = _first_lines(hits, asked.names)
        self._called: dict[str, float] = {}
        self._of_files: dict[str, float] = {}
        self._covered: dict[int, float] = {}
        code = [hit.found for hit in hits if hit.found.corpus == CODE]
        done = {_name_of(each.heading) for each in code if each.heading and DECLARES not in each.facts}
        self._done = done if asked.words.isdisjoint(_TYPES) else frozenset[str]()
        if not asked.is_symbol:
            self._covered = _covered(asked.words, code)
            self._called = self._in_common([hit.found.heading for hit in hits])
            self._stems = Counter([word for path in self._paths.values() for word in path.stems])
            self._folders = Counter(
                [word for path in self._paths.values() for word in frozenset(path.folders)]
            )

    def gain(self, found: FoundPiece) -> float:
        """The bonus of a hit for its name, its words and its file, of which further hits get less."""
        key = found.key
        gained = self._called.get(found.heading, 0.0) + self._covered.get(found.piece, 0.0)
        if self._firsts.get((key, found.heading)) == found.start:
            gained += self._defined(found)
        if key not in self._of_files:
            self._of_files[key] = SUPPORT * self._sums[key] / self._most
            if not self._asked.is_symbol:
                self._of_files[key] += self._path_bonus(self._paths[key])
            return gained + self._of_files[key]
        return gained + OTHERS * self._of_files[key]

    def _defined(self, found: FoundPiece) -> float:
        """The bonus of the first piece of a definition whose name is in the question."""
        if not self._asked.is_symbol:
            return SPELLED
        like_it = self._paths[found.key].bare == _bare(_name_of(found.heading))
        return DEFINED * (1 + NAMESAKE * like_it)

    def _in_common(self, headings: Sequence[str]) -> dict[str, float]:
        """How much of each name is in the question, and of the question in the name, where any is."""
        names = list(map(_name_words, headings))
        having = Counter(chain.from_iterable(names))
        met = {word: near for word in having if (near := self._meeting(word))}
        rarity = {word: log(1 + self._pieces / times) for word, times in having.items()}
        called, asked = {}, len(self._asked.words)
        for heading, words in dict(zip(headings, names, strict=True)).items():
            if not met.keys().isdisjoint(words):
                common = [word for word in words if word in met]
                share = sum(map(rarity.__getitem__, common)) / sum(map(rarity.__getitem__, words))
                covered = _NONE.union(*map(met.__getitem__, common))
                called[heading] = CALLED * share + CALLING * len(covered) / asked
        return called

    def _path_bonus(self, path: _Path) -> float:
        """The bonus for path words of a file that are in the question."""
        count, bonus = len(self._sums), 0.0
        if any(map(self._meeting, path.stems)):
            stem = {word: log(1 + count / self._stems[word]) for word in path.stems}
            named = sum(rarity for word, rarity in stem.items() if self._meeting(word))
            bonus = FILE * named / sum(stem.values())
        rare = sum([log(count / self._folders[word]) for word in path.folders if self._meeting(word)])
        return bonus + FOLDER * rare / (log(count) or 1.0)

    def _meeting(self, word: str) -> frozenset[str]:
        """The words of the question that are this word, or begin with it, or it with them."""
        if word[:LEAST_PREFIX] not in self._beginnings:
            return _NONE
        met = self._met.get(word)
        if met is None:
            met = self._met[word] = frozenset(other for other in self._asked.words if meet(word, other))
        return met

    def _shares_of_files(self) -> dict[str, float]:
        """How much of its score a piece of each file keeps."""
        asked, newest = self._asked, max(path.version for path in self._paths.values())
        return {
            key: path.aside
            * (1.0 if asked.about_tests else path.tests)
            * (OLD if 0 < path.version < newest and not asked.about_versions else 1.0)
            for key, path in self._paths.items()
        }

    def share(self, found: FoundPiece) -> float:
        """How much of its score a piece of code keeps."""
        share = self._shares[found.key]
        if not found.heading:
            share *= NAMELESS
        elif _INNER_TESTS.search(found.heading) and not self._asked.about_tests:
            share *= TEST
        if found.facts.get(PART):
            share *= LATER
        if found.kind in NO_CODE:
            share *= NO_CODE_SHARE
        if found.end - found.start < SHORT_LINES:
            share *= SHORT
        elif BRIEF in found.facts:
            share *= LITTLE
        if DECLARES in found.facts and _name_of(found.heading) in self._done:
            share *= DECLARED
        return share


def _first_lines(hits: Sequence[Ranked], names: Collection[str]) -> dict[tuple[str, str], int]:
    """The first line of each definition with one of these names, by file and heading; declarations last."""
    firsts: dict[tuple[str, str], tuple[bool, int]] = {}
    for hit in hits if names else ():
        found = hit.found
        if _name_of(found.heading) in names:
            place, first = (found.key, found.heading), (DECLARES in found.facts, found.start)
            firsts[place] = min(first, firsts.get(place, first))
    return {place: start for place, (_, start) in firsts.items()}


def _covered(words: frozenset[str], code: Sequence[FoundPiece]) -> dict[int, float]:
    """The bonus of each piece for how much of the question it has, in these or in like words."""
    met = {each.piece: said_in(f"{each.key} {each.heading} {each.text[:READ]}", words) for each in code}
    return {piece: COVERED * share for piece, share in shares_of_words(met).items()}


class _Path(NamedTuple):
    """What a file's path says of it: its words, the shares of its score that it keeps, and its version."""

    stems: tuple[str, ...]
    folders: tuple[str, ...]
    bare: str
    tests: float
    aside: float
    version: int


@lru_cache(maxsize=4096)
def _path(key: str) -> _Path:
    folder, _, name = key.rpartition("/")
    stem = name.rpartition(".")[0] or name
    version = _VERSION.search(key)
    return _Path(
        tuple(dict.fromkeys(parts(stem))),
        parts(folder),
        _bare(stem),
        TEST if is_test(RelativePath(key)) else 1.0,
        ASIDE if _ASIDE.search(key) else 1.0,
        int(version[1]) if version else 0,
    )


def _name_of(heading: str) -> str:
    return heading.rpartition(".")[2]


def _bare(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower().rstrip("s")


@lru_cache(maxsize=4096)
def _name_words(heading: str) -> tuple[str, ...]:
    """The different words of a definition's own name."""
    return tuple(dict.fromkeys(parts(_name_of(heading))))
