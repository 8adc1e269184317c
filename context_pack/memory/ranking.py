"""Ranks what a search brought up: code by a weighted sum of signs, notes by what they say of the question.

A sign is a number, mostly from 0 to 1, that says how a piece of code fits the question (how much of it stands
in its text, its head, its name), or what it is (a test, a declaration). The weights were not set by hand:
`benches/quality/fit_ranking.py` finds those under which right answers are likeliest to come first, over 154
questions for a definition (`functions.txt`) and 182 for a file, and judges each repository by weights that
never saw it. Tried, and of no use: the first sentence of documentation apart from the head, how near the
words stand to each other, lengths, private names, the words of the class around, which part of a long
definition it is, other weights for long questions, and a sentence encoder's vectors (of 60 questions one more
right first, for minutes of embedding).

Rare words count more than those that most hits have, and a word that no hit has counts like the rarest: a
piece does not seem to answer a question of which it has the easy half.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import log
from typing import NamedTuple

from context_pack.kernel.paths import RelativePath, is_aside, is_test
from context_pack.memory.entries import BRIEF, CODE, DECLARES, DISCOVERY, NO_CODE, SUPERSEDED_BY
from context_pack.memory.question_words import QuestionWords, parts, said_in, shares_of_words
from context_pack.retrieval.model import FoundPiece, Ranked
from context_pack.retrieval.ranking import FLOOR
from context_pack.retrieval.words import tokens

WEIGHTS: Mapping[str, float] = {
    "words": 2.5,  # the score of the keyword search, as a share of the best
    "vector": 2.4,  # the cosine of hashed vectors, likewise
    "text": 2.3,  # how much of the question the piece says,
    "head": 2.25,  # its first lines,
    "name": 1.25,  # its name,
    "called": 3.85,  # its name, times how much of that is in the question,
    "file": 1.15,  # its file's name,
    "folder": 2.4,  # its folders
    "siblings": 0.6,  # how much else of the file was brought up
    "symbol": 3.7,  # the question is its name, and nothing else
    "namesake": 1.5,  # the question has its name, and the file is called like it
    "spelled": 0.75,  # its name stands in a sentence
    "test": -1.9,
    "nameless": -1.4,  # lines outside of any definition
    "declares": -1.25,  # an interface or a header, which something else carries out
    "short": -0.95,
    "brief": -0.7,
    "aside": -1.4,
    "prose": -2.3,
    "old": -2.4,
}
"""What each sign of code is worth; what they are says `signs_of`."""
VECTORS_OF_SIBLINGS = 0.7
"""The share of the vectors in what else of a file was brought up."""
AGAIN = 1.0
"""What a piece loses for each better one of its file; less costs whoever wants the second one."""
AGAIN_OF_MANY = 0.0
"""Where more hits than a page are asked for, as drafts do: they want the others of a file, too."""
READ, HEAD, HEAD_LINES = 1500, 420, 14
"""So much of a piece is looked through for the words of the question, and so much of it is its head."""
SHORT_LINES = 3
"""Definitions of up to so many lines are mostly declarations of what is defined elsewhere."""
USUAL_GAIN = 1.4
"""By how much signs raise the score of a right answer: relevance is measured without that."""
CERTAIN, LIKELY = 0.5, 0.2
"""The least relevance of a definition that was asked for by its name, alone or in a sentence."""
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

_TYPES = frozenset(tokens("interface trait type protocol header declaration"))
_INNER_TESTS = re.compile(r"(?:^|\.)tests?(?:\.|$)")
"""Tests inside a source file, as Rust has them."""
_VERSION = re.compile(r"(?:^|/)v(\d+)/")


def ranked(
    hits: Sequence[Ranked], query: str, weight: float, again: float = AGAIN
) -> list[tuple[float, Ranked]]:
    """The hits with their relevance, the best first; `weight` is that of the vectors for what is no code."""
    question = QuestionWords.of(query)
    code = [hit for hit in hits if hit.found.corpus == CODE]
    notes = [hit for hit in hits if hit.found.corpus != CODE]
    said = _said(question.telling, [hit.found for hit in notes if hit.found.corpus == DISCOVERY])
    both = WEIGHTS["words"] + WEIGHTS["vector"]
    scores: list[tuple[float, float, Ranked]] = []
    for hit in notes:
        base = both * _score(hit, weight)
        gain = (WEIGHTS["text"] + WEIGHTS["head"]) * said.get(hit.found.piece, 0.0)
        scores.append((base + gain, _relevance(hit, base, gain), hit))
    least = CERTAIN if question.is_symbol else LIKELY
    for hit, signs in zip(code, signs_of(code, question), strict=True):
        base = both * _score(hit, WEIGHTS["vector"] / both)
        gain = sum(WEIGHTS[sign] * value for sign, value in signs.items()) - base
        relevance = _relevance(hit, base, gain)
        if _name_of(hit.found.heading) in question.names:
            relevance = max(relevance, least)
        scores.append((base + gain, relevance, hit))
    return _spread(scores, again)


def _score(hit: Ranked, weight: float) -> float:
    return (1 - weight) * hit.words + weight * hit.meaning


def _relevance(hit: Ranked, base: float, gain: float) -> float:
    """The relevance by words and vectors, as much higher or lower as the signs have it."""
    change = max(base + gain, 0.0) / base / USUAL_GAIN if base else 1.0
    return min(hit.relevance * change, 1.0)


def _spread(scores: list[tuple[float, float, Ranked]], again: float) -> list[tuple[float, Ranked]]:
    """The best first, and further hits of a file behind the first hits of others."""
    better: Counter[str] = Counter()
    spread = []
    for score, relevance, hit in sorted(scores, key=lambda row: row[0], reverse=True):
        spread.append((score - again * better[hit.found.key], relevance, hit))
        if hit.found.corpus == CODE:
            better[hit.found.key] += 1
    spread.sort(key=lambda row: row[0], reverse=True)
    return [(relevance, hit) for _, relevance, hit in spread]


def signs_of(hits: Sequence[Ranked], question: QuestionWords) -> list[dict[str, float]]:
    """The signs of each piece of code, which stand for themselves only beside those of all other hits."""
    pieces = [hit.found for hit in hits]
    paths = {piece.key: _path(piece.key) for piece in pieces}
    names = [_name_words(piece.heading) for piece in pieces]
    words = question.telling
    text = _shares(words, [f"{each.key} {each.heading} {each.text[:READ]}" for each in pieces])
    head = _shares(words, [f"{_name_of(each.heading)} {_head(each.text)}" for each in pieces])
    name = _shares(words, list(map(" ".join, names)))
    file = _shares(words, [" ".join(paths[each.key].stem) for each in pieces])
    folder = _shares(words, [" ".join(paths[each.key].folders) for each in pieces])
    newest = max((path.version for path in paths.values()), default=0)
    scores: dict[str, float] = defaultdict(float)
    for hit in hits:
        scores[hit.found.key] += _score(hit, VECTORS_OF_SIBLINGS)
    most = max(scores.values(), default=0.0) or 1.0
    asks_types = not question.words.isdisjoint(_TYPES)
    signs = []
    for at, (hit, piece) in enumerate(zip(hits, pieces, strict=True)):
        path, facts = paths[piece.key], piece.facts
        in_test = path.is_test or bool(_INNER_TESTS.search(piece.heading))
        is_short = piece.end - piece.start < SHORT_LINES
        is_named = _name_of(piece.heading) in question.names
        shares = {
            "words": hit.words,
            "vector": hit.meaning,
            "text": text[at],
            "head": head[at],
            "name": name[at],
            "called": name[at] * _share_said(names[at], words),
            "file": file[at],
            "folder": folder[at],
            "siblings": scores[piece.key] / most,
        }
        kinds = {
            "symbol": is_named and question.is_symbol,
            "namesake": is_named and _bare(_name_of(piece.heading)) == path.bare,
            "spelled": is_named and not question.is_symbol,
            "test": in_test and not question.about_tests,
            "nameless": not piece.heading,
            "declares": DECLARES in facts and not asks_types,
            "short": is_short,
            "brief": BRIEF in facts,
            "aside": path.is_aside,
            "prose": piece.kind in NO_CODE,
            "old": 0 < path.version < newest and not question.about_versions,
        }
        signs.append(shares | {sign: 1.0 for sign, holds in kinds.items() if holds})
    return signs


def _shares(words: Collection[str], texts: Sequence[str]) -> list[float]:
    """How much of the question each text says."""
    said = [said_in(text, words) for text in texts]
    having = Counter(chain.from_iterable(said))
    worth = {word: log(1 + len(texts) / (having[word] or 1)) for word in words}
    most = sum(worth.values()) or 1.0
    return [sum(worth[word] for word in some) / most for some in said]


def _share_said(name: Sequence[str], words: Collection[str]) -> float:
    """How much of a name is in the question."""
    return sum(1 for word in name if said_in(word, words)) / len(name) if name else 0.0


def _head(text: str) -> str:
    """The signature of a definition, what is said above it, and the beginning of its documentation."""
    return "\n".join(text[: 2 * HEAD].split("\n")[:HEAD_LINES])[:HEAD]


class _Path(NamedTuple):
    """What a file's path says of it: the words of its name, its version, and what kind of file it is."""

    stem: tuple[str, ...]
    folders: tuple[str, ...]
    bare: str
    version: int
    is_test: bool
    is_aside: bool


@lru_cache(maxsize=4096)
def _path(key: str) -> _Path:
    folder, _, name = key.rpartition("/")
    stem, version = name.rpartition(".")[0] or name, _VERSION.search(key)
    return _Path(
        parts(stem),
        parts(folder),
        _bare(stem),
        int(version[1]) if version else 0,
        is_test(RelativePath(key)),
        is_aside(key),
    )


def _name_of(heading: str) -> str:
    return heading.rpartition(".")[2]


def _bare(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower().rstrip("s")


@lru_cache(maxsize=4096)
def _name_words(heading: str) -> tuple[str, ...]:
    """The different words of a definition's own name."""
    return tuple(dict.fromkeys(parts(_name_of(heading))))


# -- what people wrote


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

    `by_meaning` says that a model measured it. The best that have a word of the question are shown however
    small their relevance is: in a small memory most texts have the same words, and what a word is worth falls
    as more of them have it. What has none, and a relevance below the floor, is merely the least far away: of
    the right answers to sixty paraphrased questions (`benches/quality/discoveries.py`) none was such a one.
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
        if by_meaning:
            near = at < NEAREST and bool(_met(words, hit.found, with_module=True))
        else:
            near = at < ALWAYS and said.get(hit.found.piece, 0.0) > 0
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


def shown(hits: Iterable[tuple[float, Ranked]]) -> Iterator[Ranked]:
    """The hits with their relevance, none with a greater one than the hit before it."""
    lowest = 1.0
    for relevance, hit in hits:
        lowest = min(lowest, relevance)
        yield hit._replace(relevance=lowest)
