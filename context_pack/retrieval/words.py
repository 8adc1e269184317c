"""The tokenizer of the keyword index: the same for texts and queries, repeats kept.

A run of words held together by `_ - . / : ->` is found whole and by its parts: `parse_http_header`,
`parseHTTPHeader`, `foo-bar.baz` and `std::vector` by every word in them and by all of them written together,
so that snake case finds camel case. Words are folded for case and accents, English stop-words are dropped,
the rest is reduced to its Snowball stem. Scripts without spaces are cut into pairs of letters, Han also into
single ones. `C++`, `C#` and `F#` are words of their own, as if they were spelled out. A token holds letters,
digits and marks only, so that spaces part tokens.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from itertools import chain

import regex
from Stemmer import Stemmer

TOKENS = "words/1"
"""Another value, other tokens: an index made with another one is made anew."""
LONGEST = 64
"""A token is cut here, and a longer whole is not kept beside its parts."""

# Longer runs are data (base64, keys), not words: one token of their beginning is enough.
_LONGEST_RUN = 160
_MOST_PARTS = 6
_CACHED = 60_000

# Also what an apostrophe leaves behind.
_STOPPED = """
    a an and are as at be been but by can did do does for from had has have he her his how i if in into
    is it its me my no not of on or our s she so some such t than that the their them then there these
    they this to us was we were what when where which who why will with would you your
"""
STOP_WORDS = frozenset(_STOPPED.split())

_SCRIPTS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_UNSPACED = rf"[[[{_SCRIPTS}]&&[\p{{L}}\p{{M}}]]々〇ー]"
_LETTER = rf"(?:(?!{_UNSPACED})[\w\p{{M}}])"
_JOINT = r"(?:[-./]|::?|->)"
_ASCII_RUN = re.compile(rf"[A-Za-z0-9_]+(?:{_JOINT}[A-Za-z0-9_]+)*+")
_RUN = regex.compile(rf"(?V1){_UNSPACED}+|{_LETTER}+(?:{_JOINT}{_LETTER}+)*+")
_IS_UNSPACED = regex.compile(rf"(?V1){_UNSPACED}")
_HAN = regex.compile(r"[\p{Han}々〇]")
# Languages whose names end in signs; `c++` in a loop is taken for one, `x#y` and `c+++` are not.
_LANGUAGE = re.compile(r"(?<![A-Za-z0-9_])(?:([Cc])(\+\+)|([CcFf])#)(?![A-Za-z_+#])")
_SEPARATORS = re.compile(r"->|[-./:]+")
_ASCII_PARTS = re.compile(r"[A-Z]{2,}[a-z](?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_UPPER, _LOWER = r"\p{Uppercase}", r"\p{Lowercase}"
_PARTS = regex.compile(
    rf"(?V1){_UPPER}{{2,}}{_LOWER}(?!{_LOWER})|{_UPPER}+(?!{_LOWER})|{_UPPER}?{_LOWER}+|\p{{Nd}}+"
    rf"|[[\p{{L}}\p{{N}}\p{{M}}]--[{_UPPER}{_LOWER}\p{{Nd}}]]+"
)
# Letters that do not come apart into a letter and an accent.
_LETTERS = str.maketrans(
    dict(zip("øØłŁđĐıþð", "oOlLdDitd", strict=True)) | {"æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "’": "'"}
)
# Accents of Latin, Greek and Cyrillic, points of Hebrew, short vowels of Arabic; what other scripts write
# above or below a letter is part of the word.
_ACCENTS = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u064b-\u065f\u0670\u1ab0-\u1aff\u1dc0-\u1dff]+"
)
# Between two numbers: `3.11` is not `311`. A letter to every tokenizer, and to nobody who writes.
_POINT = "\u02d1"


def tokens(text: str) -> list[str]:
    """The tokens of a text in their order, repeats kept."""
    if "#" in text or "++" in text:
        text = _LANGUAGE.sub(lambda found: f"{found[1]}plusplus " if found[2] else f"{found[3]}sharp ", text)
    runs = _ASCII_RUN.findall(text) if text.isascii() else _RUN.findall(folded(text))
    return list(
        chain.from_iterable(
            _cached_tokens(run) if len(run) <= _LONGEST_RUN else _run_tokens(run) for run in runs
        )
    )


def split_identifier(word: str) -> list[str]:
    """The parts of a name as they are written: `parseHTTPHeaders2` is parse, HTTP, Headers and 2."""
    parts = (_ASCII_PARTS if word.isascii() else _PARTS).findall(word)
    # An `s` behind capitals makes a plural: `URLs`.
    return [
        part[:-1] if part[-1] == "s" and part[-2:-1].isupper() and len(part) > 2 else part for part in parts
    ]


def _run_tokens(run: str) -> list[str]:
    """The tokens of one run: each word whole and in parts, and all of it together; runs come again."""
    if not run.isascii() and _IS_UNSPACED.match(run):
        # The pairs of letters, and each Han letter by itself.
        pairs = [run[at : at + 2] for at in range(len(run) - 1)]
        return [*pairs, *_HAN.findall(run)] if pairs else [run]
    if run.isalpha() and run[1:].islower() and len(run) <= LONGEST:
        # A plain word, as most are: it has no parts.
        small = run.casefold()
        return [] if small in STOP_WORDS else [_stem(small)]
    if len(run) > _LONGEST_RUN:
        return [run.casefold()[:LONGEST]]
    words = [word for word in _SEPARATORS.split(run) if word]
    found: list[str] = []
    for word in words:
        found += _word_tokens(word)
    if 1 < len(words) <= _MOST_PARTS:
        whole = _joined(words)
        if len(whole) <= LONGEST:
            found.append(whole)
    return found


_cached_tokens = lru_cache(maxsize=_CACHED)(_run_tokens)


def _word_tokens(word: str) -> list[str]:
    """One word whole, and by its parts when it has several."""
    parts = split_identifier(word)
    found: list[str] = []
    if len(parts) <= 1:
        plain = parts[0].casefold() if parts else ""
        return [_stem(plain)] if plain and plain not in STOP_WORDS else []
    whole = word.replace("_", "").casefold()
    if whole and len(whole) <= LONGEST:
        found.append(_stem(whole) if whole.isalpha() else whole)
    for part in parts:
        small = part.casefold()
        # A letter of a name says nothing by itself, unlike the language C or a type 1.
        if len(small) > 1 and small not in STOP_WORDS:
            found.append(_stem(small))
    return found


def _joined(words: list[str]) -> str:
    """The words of a run written together, numbers kept apart."""
    whole = ""
    for word in words:
        small = word.replace("_", "").casefold()
        if whole and small and whole[-1].isdigit() and small[0].isdigit():
            whole += _POINT
        whole += small
    return whole


@lru_cache(maxsize=_CACHED)
def _stem(word: str) -> str:
    """The English stem of a folded word; a word of another alphabet or with digits is its own."""
    if not (word.isascii() and word.isalpha()):
        return word[:LONGEST]
    # An instance has state and is cheap, so each word gets one: threads meet here.
    return str(Stemmer("english", 0).stemWord(word))[:LONGEST]


def folded(text: str) -> str:
    """The text with compatibility forms made plain and accents gone; case is kept."""
    apart = unicodedata.normalize("NFKD", text.translate(_LETTERS))
    return unicodedata.normalize("NFC", _ACCENTS.sub("", apart))


# Abbreviations of programmers' words, of which a search for one form finds the other with less weight: only
# those that mean one thing in most code. With them cosqa-dev has nDCG@10 .4096, without .4045
# (`benches/quality/documents.py --tier fast`).
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
