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

# Words of one field, which a note and a question about it use for each other. Only what was found is weighed
# by them: as words of the search itself they would bring up too much.
_SYNONYMS = """
    accessibility a11y, account user member, allow permit may, api interface contract, article product
    item sku, attack brute abuse flood, automatic automatically, background asynchronous
    daemon, backup failover standby, begin start launch boot startup, browser client frontend,
    build compile bundle package, buy purchase order, capital case uppercase lowercase, certificate cert,
    certificate tls ssl, change modify edit update alter, cheap inexpensive saving, check validate verify,
    choose pick select decide, column field attribute, concurrent simultaneous parallel, connection
    network online offline, convert transform, copy duplicate replicate, country nation region, create
    make add new insert, customer client buyer consumer, date time timestamp clock, day daily, decimal
    float fraction, delete remove erase drop purge clean, deploy release rollout ship publish, email mail,
    endpoint route handler, error failure exception problem fault issue bug, fail crash break broken, fast
    quick speed slow, feature functionality, fetch get load read retrieve, flag toggle switch, focus
    keyboard, folder directory path, frontend ui, grow increase larger, id identifier key, idempotent
    twice repeat, instance pod container node, interface api ui, invoice bill receipt, job task worker,
    language locale translation, large big huge size, library dependency package, limit maximum most
    throttle quota, local laptop machine, lock block, log logging, auth login signin logon authentication,
    logout signout, memory ram, merge join combine, message event notification mail, missing absent lost
    gone vanish, money price amount cost currency fee, monitor metric measure, must required mandatory,
    night midnight nightly overnight, number integer count, old stale expired outdated obsolete, page
    paging pagination cursor list, password passphrase credential, pay payment charge bill, permission
    access right role, phone mobile ios android, picture photo image icon, plan subscription tier, popup
    dialog modal window overlay, private personal sensitive, proxy gateway nginx, quality accuracy
    precision, queue sequence order, random arbitrary, receive accept arrive, recompute compute calculate,
    record row entry item, reduce decrease shrink, refund reimburse, refuse reject deny forbid never,
    remember cache keep, replace swap substitute, replica replication copy, reproduce repeatable
    deterministic, request call invocation, response answer reply, retry again attempt try, rollback
    revert undo restore back, run execute process perform, same identical equal, save store keep persist
    write, schedule cron periodic nightly, schema structure shape format, search find lookup query, secret
    credential key, send deliver dispatch publish emit, server backend host machine, setting option
    preference environment, several many multiple, show display render view, sort order sequence, split
    partition divide shard, stop end finish terminate kill, storage disk, tax vat, team people,
    text wording message, timeout deadline, token session, total sum count, transaction atomic, twice
    duplicate repeat double, unique distinct, unlock lock lockout, unstable flaky intermittent, url
    address link uri, user person people customer, verbose debug detail trace, version release, wait delay
    lag late behind, warn alert notify, week weekly, wrong incorrect invalid bad
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
