"""Abbreviations of programmers' words: a search for one form finds the other, with less weight.

Only forms that mean one thing in most code. With these cosqa-dev has nDCG@10 .4096, without .4045, and
scifact-train .7098 either way (`benches/quality/documents.py --tier fast`).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from functools import lru_cache

from context_pack.retrieval.words import LONGEST, tokens

LEAST_PREFIX = 4
_GROUPS = """
    addr address, admin administrator, app application, arg argument, async asynchronous, attr attribute,
    auth authentication authorization, avg average, bool boolean, calc calculate, cert certificate,
    char character, cmd command, config configuration cfg, conn connection, creds credentials, ctx context,
    cur current, db database, del delete, deps dependencies, dest destination, dev development,
    dict dictionary, dir directory, doc documentation, elem element, env environment, err error,
    exec execute, func function fn, idx index, img image, impl implementation, info information,
    init initialize, int integer, iter iterate, js javascript, k8s kubernetes, len length, lib library,
    max maximum, min minimum, msg message, num number, obj object, param parameter, perf performance,
    perm permission, pkg package, pos position, prev previous, proc process, prod production,
    prop property, pwd password, py python, ref reference, repo repository, req request, resp response,
    sec second, spec specification, src source, str string, sync synchronize, tmp temporary,
    ts typescript, tx transaction, util utility, val value, var variable
"""

# For short notes that people wrote: in documents and code they would bring up too much.
_SYNONYMS = """
    delete remove erase drop purge, create make add new, error failure exception problem fault,
    fast quick speed slow, begin start launch, stop end finish terminate, show display render view,
    change modify edit update alter, price money amount cost currency, user customer client,
    login signin, logout signout, mail email, picture photo, popup dialog modal,
    save store keep persist, fetch get load read retrieve, send deliver dispatch, twice duplicate repeated,
    concurrent simultaneous parallel, deploy release rollout, rollback revert undo,
    secret credential password token key, job task worker, flag toggle switch, maximum limit most,
    allow permit, refuse reject deny forbid, wait delay lag, old stale expired outdated, page list,
    many several multiple, identifier id key, buy purchase, pay payment charge, check validate verify
"""


def related(word: str) -> tuple[str, ...]:
    """The other forms of a token, as tokens."""
    return _table(_GROUPS).get(word, ())


def synonyms(word: str) -> tuple[str, ...]:
    """The other forms of a token, and words that mean nearly the same, as tokens."""
    return (*related(word), *_table(_SYNONYMS).get(word, ()))


@lru_cache(maxsize=2)
def _table(text: str) -> Mapping[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for group in text.split(","):
        words = [tokens(form)[0] for form in group.split()]
        for word in words:
            table[word] = (*table.get(word, ()), *(other for other in words if other != word))
    return table


def stand_in(word: str, known: Callable[[Sequence[str]], Container[str]], after: Callable[[str], str]) -> str:
    """The indexed word for one that is not: the longest that it begins with, or one that begins with it.

    Nothing where there is neither; `known` says which words are indexed, `after` which one comes next.
    """
    if not (word.isascii() and word.isalpha()):
        return ""
    least = max(LEAST_PREFIX, (len(word) + 1) // 2)
    prefixes = [word[:end] for end in range(min(len(word) - 1, LONGEST), least - 1, -1)]
    if prefixes and (longest := next(filter(known(prefixes).__contains__, prefixes), "")):
        return longest
    following = after(word) if len(word) >= LEAST_PREFIX else ""
    return following if following.startswith(word) else ""
