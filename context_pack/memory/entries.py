"""What memory holds as entries of an index, and what it takes to show a found piece again.

Corpora: `discovery`, `session`, `pack`, `code`. How a source file becomes an entry is in `snippets`.
"""

from __future__ import annotations

import re
from typing import Any

from attrs import evolve

from context_pack.kernel.text import canonical_json, sha256_hex, split_lines
from context_pack.kernel.times import format_instant
from context_pack.memory.discovery import Discovery, Session, place_record, summary
from context_pack.retrieval.model import IndexEntry, Piece

DISCOVERY, SESSION, PACK, CODE = "discovery", "session", "pack", "code"
CORPORA = (DISCOVERY, SESSION, PACK, CODE)
NOTES = (DISCOVERY, SESSION, PACK)
"""What is embedded by a semantic model. Code is not: with today's ranking, the model found the right
definition less often (of 26 questions 13 first instead of 15, `benches/quality/code_search.py --functions`),
and embedding a repository takes minutes where notes take a second."""
SNIPPETS = "snippets/10"
"""Another way to cut files needs another name, so that what was indexed before is cut again."""
PLAIN, SKIPPED, FAILED, UNREAD = "plain", "skipped", "failed", "unread"
"""Facts of an entry of code: why it was not parsed, why it has no pieces, that it should have been, and which
lines of it were not parsed."""
BRIEF, DECLARES = "brief", "declares"
"""Facts of a piece: it has a few lines of code; it has no body of its own (an interface, a prototype)."""
PART, OF = "part", "of"
"""Facts of a piece of a long definition: which one it is, and of how many; they follow one another."""
WITHIN = "within"
"""A fact of a hit that is a part of what is too long to be shown: the lines of all of it."""
SUPERSEDED_BY = "supersededBy"
NO_CODE = frozenset({"markdown", "rst", "latex", "html", "yaml", "toml", "ini", "json", "xml"})
"""Texts of which only the beginning is indexed; the rest is for `documents_search` and `grep_codebase`."""


def discovery_entry(discovery: Discovery) -> IndexEntry:
    """A discovery; its type and module can be filtered by, and the code that it is about are words of it."""
    facts: dict[str, Any] = {
        "type": discovery.type.value,
        "module": discovery.module,
        "session": discovery.session,
        "date": format_instant(discovery.date, whole_seconds=True),
    }
    if discovery.superseded_by is not None:
        facts[SUPERSEDED_BY] = discovery.superseded_by
    if discovery.worktree is not None:
        facts["worktree"] = discovery.worktree
    if discovery.code is not None:
        facts["code"] = place_record(evolve(discovery.code, text=None))
    about = ("", "") if discovery.code is None else (str(discovery.code.path), discovery.code.symbol)
    names = " ".join(filter(None, (discovery.type.value, discovery.module, *about)))
    return _note(
        DISCOVERY,
        discovery.id,
        discovery.content,
        names,
        facts,
        kind=discovery.type.value,
        module=discovery.module or "",
    )


def session_entry(session: Session) -> IndexEntry:
    """A session, by its summary."""
    facts = {"session": session.id, "date": format_instant(session.started, whole_seconds=True)}
    return _note(SESSION, session.id, summary(session), "session", facts)


def pack_entry(key: str, title: str, text: str, module: str, facts: dict[str, Any]) -> IndexEntry:
    """A section or a ref of a pack."""
    return _note(PACK, key, text, title, facts, module=module)


def _note(
    corpus: str, key: str, text: str, names: str, facts: dict[str, Any], kind: str = "", module: str = ""
) -> IndexEntry:
    """An entry of one piece."""
    lines = len(split_lines(text))
    piece = Piece(text, 1, max(1, lines), context=names, names=names)
    digest = sha256_hex(canonical_json([text, names, facts, kind, module]))
    return IndexEntry(
        corpus, key, digest, kind=kind, module=module, size=len(text), pieces=(piece,), facts=facts
    )


MOST_CHARACTERS = 160
_READ_CHARACTERS = 2_000
_SIGNS = re.compile(r"^\s*(?://[/!]?|/?\*+/?|#+!?|\"\"\"|'''|--+)\s?", re.MULTILINE)


def shortened(embedded: str) -> str:
    """The beginning of what is embedded of a piece: its context, a blank line and its text."""
    context, _, text = embedded[:_READ_CHARACTERS].partition("\n\n")
    head, _, told = context.partition("\n")
    words = " ".join((head, _SIGNS.sub(" ", text), told)).split()
    return " ".join(words)[:MOST_CHARACTERS]
