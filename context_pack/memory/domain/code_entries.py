"""Source files as entries of an index: one piece per snippet.

What weighs more in a keyword search (`names`) is a symbol's qualified name, the path of its file, and what
file and class say of themselves; all that is embedded as well. What became of a file that was not parsed or
has no pieces is a fact of its entry: `plain` or `skipped` say why, `failed` that it should not be so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from context_pack.kernel.comments import about
from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import RelativePath, module_of
from context_pack.kernel.syntax import NotParsed, Parsed, readable_part
from context_pack.kernel.text import sha256_hex, split_lines
from context_pack.memory.domain.entries import CODE, FAILED, NO_CODE, PLAIN, SKIPPED, SNIPPETS
from context_pack.memory.domain.snippets import MOST_LINES, Snippet, snippets_of
from context_pack.memory.domain.wholes import OF, PART
from context_pack.retrieval.model import IndexEntry, Piece

LEAST_LINES = 4


def code_entry(path: str, text: str, digest: str, stamp: str, parsed: Parsed | NotParsed) -> IndexEntry:
    """A source file in snippets, each verbatim at its lines.

    One that failed has no digest, so that whoever looks at it again tries again.
    """
    lines, language = split_lines(text), language_of(path)
    snippets = snippets_of(lines[:MOST_LINES] if language in NO_CODE else lines, parsed)
    return IndexEntry(
        CODE,
        path,
        "" if isinstance(parsed, NotParsed) and parsed.failed else digest,
        stamp,
        title=path,
        size=len(text),
        kind=language,
        module=module_of(RelativePath(path)),
        pieces=tuple(_pieces(path, lines, snippets, readable_part(parsed))),
        facts=_facts(PLAIN, parsed) if isinstance(parsed, NotParsed) else {},
    )


def skipped_entry(path: str, stamp: str, why: NotParsed) -> IndexEntry:
    """A file that has nothing to find, kept without pieces so that it is not read again before it changes."""
    return IndexEntry(CODE, path, "", stamp, facts=_facts(SKIPPED, why))


def _facts(outcome: str, why: NotParsed) -> dict[str, Any]:
    return {outcome: why.reason, FAILED: True} if why.failed else {outcome: why.reason}


def _pieces(path: str, lines: Sequence[str], snippets: Sequence[Snippet], parsed: Parsed) -> list[Piece]:
    file = about(parsed.heads)
    classes = {each.qualified: about([each.doc]) for each in parsed.definitions if each.kind.holds_members}
    pieces = []
    for snippet in snippets:
        # What the file and the class say of themselves is said of what is in them, but not twice of itself.
        owner = classes.get(snippet.name.rpartition(".")[0], "")
        docs = " ".join(filter(None, (file if snippet.start > 1 else "", owner)))
        for_file = docs if _speaks_for_file(snippet) else ""
        pieces.append(
            Piece(
                "\n".join(lines[snippet.start - 1 : snippet.end]),
                snippet.start,
                snippet.end,
                heading=snippet.name,
                context="\n".join(filter(None, (f"{path} {snippet.name}".strip(), docs))),
                names=" ".join(filter(None, (snippet.name, *snippet.holds, path, for_file))),
                facts={PART: snippet.part, OF: snippet.parts} if snippet.parts > 1 else {},
            )
        )
    return pieces


def _speaks_for_file(snippet: Snippet) -> bool:
    """Whether a snippet carries the description of its file; very small or private ones do not."""
    private = snippet.name.rpartition(".")[2].startswith("_")
    return snippet.end - snippet.start + 1 >= LEAST_LINES and not private


def code_digest(text: str) -> str:
    """A digest of a file's text and of the way it is cut."""
    return sha256_hex(f"{SNIPPETS}\n{text}")
