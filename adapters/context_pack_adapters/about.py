"""How the server introduces itself. Plain text, loaded before `initialize` is answered."""

from __future__ import annotations

NAME = "context-pack"
TITLE = "Context Pack"
DESCRIPTION = "Curated context for coding agents: packs of anchored code that stay true as the code changes."

INSTRUCTIONS = """\
Context packs carry what one agent learned about a codebase to the next: sections with notes, refs \
(path + lines, shown as live code) and Mermaid diagrams.

Remember: `context_search` {query} finds code, discoveries, past sessions and packs by meaning: ask \
it first; while it says `indexing`, ask again soon. `context_record` {type, content, module?} keeps a \
pattern, rule, decision or issue for later sessions.

Read: `output {}` lists packs; `output {"name": …}` or `{"id": "pk_…"}` renders one with the \
code. `mode: "compact"` leaves the code out; a long pack ends with a cursor to continue.

Write with `input`, one `action` per call:
1. `create` {ttl_minutes, name?, title?, brief?, tags?} -> id, revision 1; or `draft` {query, ttl_minutes, \
max_tokens?}: a pack that answers a question.
2. `upsert_section` {section_key, section_title, section_description?}; then `upsert_ref` {section_key, \
ref_key, path, line_start, line_end or symbol, ref_title?, ref_why?, group?} and `upsert_diagram` \
{section_key, diagram_key, title, mermaid, diagram_why?}. Keys: 2-64 of a-z 0-9 - _. `batch` \
{operations: […]} does up to 100 in one revision.
3. `set_status` {status: "finalized"} once every ref resolves.
Every change but `create` needs `expected_revision`; on `revision_conflict`, `get` the pack and try again.

Look: `code_outline` {path} lists definitions, `find_usages` {name} where one is used, `grep_codebase` \
{pattern} finds lines, `read_file` {path, symbol?, includeDeps?} reads; `documents_search` {query} \
finds documentation, `documents_get_section` reads one; `list_contexts` and `query_context` \
{scope} tell what folders are for; `export_context` and `get_context` read bundles.

Refs are anchored to their code: when lines move, the pack follows and says so; when code changed or is \
gone, it says that instead. `verify` reports each ref's state, `repair` follows moved ones, `accept` takes \
changed ones.

Paths are relative to the source root. Packs expire: extend with `touch_ttl` {extend_minutes}. Errors say \
what to do next."""


def is_watchable(uri: str) -> bool:
    """Whether subscribers of this resource are notified of changes: only packs are watched."""
    return uri.startswith("context://pack/")
