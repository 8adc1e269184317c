"""What memory holds as entries of an index, and what it takes to show a found piece again.

Corpora: `discovery`, `session`, `pack`, `code`. What weighs more in a keyword search (`names`) is a symbol's
qualified name, the file's path, and what file and class say of themselves; all that is embedded as well.
"""

from __future__ import annotations

from typing import Any

from context_pack.kernel.digest import canonical_json, sha256_hex
from context_pack.kernel.instants import format_instant
from context_pack.kernel.languages import language_of
from context_pack.kernel.lines import split_lines
from context_pack.kernel.paths import RelativePath, module_of
from context_pack.memory.domain.discovery import Discovery
from context_pack.memory.domain.session import Session, summary
from context_pack.memory.domain.snippets import Part, Snippet, snippets_of
from context_pack.memory.domain.summaries import about_class, about_file
from context_pack.retrieval.model import Entry, Piece

DISCOVERY, SESSION, PACK, CODE = "discovery", "session", "pack", "code"
CORPORA = (DISCOVERY, SESSION, PACK, CODE)
SNIPPETS = "snippets/3"
"""Another way to cut files needs another name, so that what was indexed before is cut again."""
LEAST_LINES = 4


def discovery_entry(discovery: Discovery) -> Entry:
    """A discovery; its type and module can be filtered by."""
    facts = {
        "type": discovery.type.value,
        "module": discovery.module,
        "session": discovery.session,
        "date": format_instant(discovery.date, whole_seconds=True),
    }
    names = " ".join(filter(None, (discovery.type.value, discovery.module)))
    return _note(
        DISCOVERY,
        discovery.id,
        discovery.content,
        names,
        facts,
        kind=discovery.type.value,
        module=discovery.module or "",
    )


def session_entry(session: Session) -> Entry:
    """A session, by its summary."""
    facts = {"session": session.id, "date": format_instant(session.started, whole_seconds=True)}
    return _note(SESSION, session.id, summary(session), "session", facts)


def pack_entry(key: str, title: str, text: str, module: str, facts: dict[str, Any]) -> Entry:
    """A section or a ref of a pack."""
    return _note(PACK, key, text, title, facts, module=module)


def _note(
    corpus: str, key: str, text: str, names: str, facts: dict[str, Any], kind: str = "", module: str = ""
) -> Entry:
    """An entry of one piece."""
    lines = len(split_lines(text))
    piece = Piece(text, 1, max(1, lines), context=names, names=names)
    digest = sha256_hex(canonical_json([text, names, facts, kind, module]))
    return Entry(corpus, key, digest, kind=kind, module=module, size=len(text), pieces=(piece,), facts=facts)


def code_entry(path: str, text: str, digest: str, stamp: str) -> Entry:
    """A source file in snippets, each verbatim at its lines."""
    lines, snippets = split_lines(text), snippets_of(path, text)
    passages = ["\n".join(lines[snippet.start - 1 : snippet.end]) for snippet in snippets]
    classes = {
        snippet.name: about_class(path, passage)
        for snippet, passage in zip(snippets, passages, strict=True)
        if snippet.part is Part.CLASS
    }
    file = about_file(path, text)
    pieces = []
    for snippet, passage in zip(snippets, passages, strict=True):
        # What the file and the class say of themselves is said of what is in them, but not twice of itself.
        owner = classes.get(snippet.name.rpartition(".")[0], "")
        about = " ".join(filter(None, (file if snippet.start > 1 else "", owner)))
        pieces.append(
            Piece(
                passage,
                snippet.start,
                snippet.end,
                heading=snippet.name,
                context="\n".join(filter(None, (f"{path} {snippet.name}".strip(), about))),
                names=" ".join(
                    filter(None, (snippet.name, path, about if _speaks_for_file(snippet) else ""))
                ),
                facts={"part": snippet.part.value},
            )
        )
    return Entry(
        CODE,
        path,
        digest,
        stamp,
        title=path,
        size=len(text),
        kind=language_of(path),
        module=module_of(RelativePath(path)),
        pieces=tuple(pieces),
    )


def _speaks_for_file(snippet: Snippet) -> bool:
    """Whether what its file is about may be looked for here: not in the smallest helpers of it."""
    private = snippet.name.rpartition(".")[2].startswith("_")
    return snippet.end - snippet.start + 1 >= LEAST_LINES and not private


def code_digest(text: str) -> str:
    """What changes with a file's text or with the way it is cut."""
    return sha256_hex(f"{SNIPPETS}\n{text}")
