"""Source files as entries of an index: one piece per snippet.

What weighs more in a keyword search (`names`) is a symbol's qualified name, the path of its file, and what
file and class say of themselves; all that is embedded as well.
"""

from __future__ import annotations

from context_pack.kernel.digest import sha256_hex
from context_pack.kernel.languages import language_of
from context_pack.kernel.lines import split_lines
from context_pack.kernel.paths import RelativePath, module_of
from context_pack.memory.domain.entries import CODE, SNIPPETS
from context_pack.memory.domain.snippets import Part, Snippet, snippets_of
from context_pack.memory.domain.summaries import about_class, about_file
from context_pack.retrieval.model import Entry, Piece

LEAST_LINES = 4


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
