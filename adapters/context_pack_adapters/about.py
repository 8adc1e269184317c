"""How the server introduces itself. Plain text, loaded before `initialize` is answered."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

NAME = "context-pack"
TITLE = "Context Pack"
INDEX_NAME = ""
"""Our name on a package index; empty while we hold none, so that nobody is sent to a stranger's package.

Who sets it sets `name` in pyproject.toml, too; `pytest tests/pages --regenerate` then writes the pages.
"""
SOURCE = INDEX_NAME or "."
"""What pip is told to install: without a name, the folder of the clone."""
IN_THE_CLONE = "" if INDEX_NAME else " in the clone of context-pack"
REPOSITORY = "https://example.org/context-pack"
"""Where the project will be published; a placeholder, as is the one in docs/registry/server.json."""
DESCRIPTION = "Curated context for coding agents: packs of anchored code that stay true as the code changes."

MOST_ROOT_BYTES = 120
_PARTS: Mapping[str, str] = {
    "packs": "context packs (notes and live code that one agent hands to the next)",
    "code": "search in code",
    "memory": "project memory",
    "documents": "documents",
    "contexts": "contexts of folders",
    "bundles": "spec bundles",
}
FAMILIES = tuple(_PARTS)
_REMEMBER = """
Remember: `context_search` {query, sources?} finds code, discoveries, past sessions and packs by meaning: \
ask it first; while it says `indexing`, ask again soon. `context_record` {type, content, module?} keeps a \
pattern, rule, decision or issue for later sessions.
"""
_PACKS = """
Read: `output {}` lists packs; `output {"name": …}` or `{"id": "pk_…"}` renders one with the \
code. `mode: "compact"` leaves the code out; a long pack ends with a cursor to continue.

Write with `input`, one `action` per call:
1. `write` {text, name, ttl_minutes}: Markdown whose claims name their code, `src/a.py#Class.method` or \
`src/a.py:10-20`, so that they are flagged when it changes. Or `draft` {ttl_minutes; query, diff or trace}.
2. Part by part: `create`; `upsert_section` {section_key, section_title}; `upsert_ref` {section_key, \
ref_key, path, line_start, line_end or symbol, ref_why?}; `upsert_diagram` {section_key, diagram_key, \
title, mermaid}. `batch` {operations: […]} does up to 100.
3. `set_status` {status: "finalized"} once every ref resolves.
Every change but `create` needs `expected_revision`; on `revision_conflict`, `get` it and try again. \
Packs expire: extend with `touch_ttl` {extend_minutes}. Refs follow their code: `verify` names what does not \
hold, `repair` follows moved ones, `accept` takes changed ones.
"""
_LOOK: Mapping[str, str] = {
    "code": "`context_for` {path} what is known, before edits; "
    "`code_outline` {path} definitions, `find_usages` {name} where one is used, "
    "`grep_codebase` {pattern} finds lines, `read_file` {path, symbol?} reads",
    "documents": "`documents_search` {query} finds documents, `documents_get_section` reads one",
    "contexts": "`query_context` {scope} tells what a folder is for",
    "bundles": "`export_context` and `get_context` read bundles",
}


def instructions(root: str, families: Collection[str] = FAMILIES) -> str:
    """What a client is told of the server: only of tools that it lists, and of the root first.

    Some clients show no more than the first sentence.
    """
    data = os.fsencode(root)
    place = root if len(data) <= MOST_ROOT_BYTES else "…" + data[-MOST_ROOT_BYTES:].decode("utf-8", "ignore")
    serves = ", ".join(words for name, words in _PARTS.items() if name in families)
    text = f"For the project in {place}: {serves}. Paths are relative to it; errors say what to do next.\n"
    text += _REMEMBER if "memory" in families else ""
    text += _PACKS if "packs" in families else ""
    looks = "; ".join(words for name, words in _LOOK.items() if name in families)
    return (text + (f"\nLook: {looks}.\n" if looks else "")).strip()


def install_command(extra: str) -> str:
    """How to install what an optional feature needs."""
    return f"pip install '{SOURCE}[{extra}]'{IN_THE_CLONE}"
