"""A source file as snippets (its functions, the heads of its classes, the lines around them) and as an entry.

A definition of more than one line stands alone: functions whole, classes up to the first member that stands
alone, and so do constants of a few lines, which in some languages are how most things are defined
(`const useCart = create(…)`). Shorter constants, definitions of one line and those inside a function belong
to the lines around them. Where nothing is defined, a file is cut into plain windows. Ranges never overlap,
and each is of bounded size.

What weighs more in a keyword search (`names`) is a symbol's qualified name, the path of its file, and what
file and class say of themselves; all that is embedded as well. What became of a file that was not parsed or
has no pieces is a fact of its entry: `plain` or `skipped` say why, `failed` that it should not be so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from attrs import evolve, frozen

from context_pack.kernel.comments import about
from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import RelativePath, module_of
from context_pack.kernel.syntax import Definition, DefinitionKind, NotParsed, Parsed, readable_part
from context_pack.kernel.text import sha256_hex, split_lines
from context_pack.memory.entries import (
    BRIEF,
    CODE,
    DECLARES,
    FAILED,
    NO_CODE,
    OF,
    PART,
    PLAIN,
    SKIPPED,
    SNIPPETS,
    UNREAD,
)
from context_pack.retrieval.model import IndexEntry, Piece

MOST_LINES = 60
MOST_CHARS = 6_000
MOST_SNIPPETS = 400
MOST_HOLDS = 40
LEAST_CONSTANT = 3
"""How many lines a constant has, with what is said of it, that is worth finding by itself."""
LEAST_HEAD = 4
_CONSTRUCTORS = ("__init__", "constructor", "initialize", "init")
LEAST_BETWEEN = 3
"""How many lines with something on them make a run between definitions worth finding."""


@frozen
class Snippet:
    """Lines `start` to `end` of a file, counted from 1, both included.

    `name` is that of the definition, qualified by dots, or empty; `holds` are the names of others in it. A
    definition that is too long for one snippet is several: each is `part` (from 0) of `parts`.
    """

    name: str
    start: int
    end: int
    holds: tuple[str, ...] = ()
    part: int = 0
    parts: int = 1


def snippets_of(lines: Sequence[str], parsed: Parsed | NotParsed) -> list[Snippet]:
    """The snippets of one file, in order; a file without a line has none."""
    definitions = parsed.definitions
    alone = list(_apart(_alone(definitions)))
    found = _around(alone, lines, definitions) if alone or definitions else _run(lines, 1, len(lines))
    starts = frozenset(each.start for each in definitions)
    cut = [piece for snippet in found for piece in _counted(_cut(snippet, lines, starts))][:MOST_SNIPPETS]
    return list(_holding(cut, definitions))


def _alone(definitions: Sequence[Definition]) -> Iterator[Snippet]:
    """The definitions that stand alone, in order; the range of a class goes up to its first member."""
    waiting: Snippet | None = None  # a class whose head may still be cut by a member
    inside = 0
    owners = {each.qualified.rpartition(".")[0] for each in definitions if each.kind is DefinitionKind.METHOD}
    for each in definitions:
        if each.end <= inside or not _stands_alone(each):
            continue
        if waiting is not None:
            if _is_constructor(each, waiting) and each.start - waiting.start < LEAST_HEAD:
                inside = each.end
                yield evolve(waiting, end=each.end)
                waiting = None
                continue
            yield evolve(waiting, end=max(waiting.start, min(waiting.end, each.start - 1)))
            waiting = None
        if each.kind.holds_members or (each.kind is DefinitionKind.CONSTANT and each.qualified in owners):
            waiting = Snippet(each.qualified, each.start, each.end)
        else:
            inside = each.end
            yield Snippet(each.qualified, each.start, each.end)
    if waiting is not None:
        yield waiting


def _is_constructor(each: Definition, owner: Snippet) -> bool:
    """Whether a definition makes the objects of a class."""
    return each.qualified in {
        f"{owner.name}.{name}" for name in (*_CONSTRUCTORS, owner.name.rpartition(".")[2])
    }


def _stands_alone(each: Definition) -> bool:
    least = LEAST_CONSTANT if each.kind is DefinitionKind.CONSTANT else 2
    return each.end - each.start + 1 >= least


def _apart(found: Iterable[Snippet]) -> Iterator[Snippet]:
    """The snippets without overlaps: where two claim a line, the one that begins later has it."""
    before: Snippet | None = None
    for snippet in found:
        if before is not None and before.start < snippet.start:
            yield evolve(before, end=min(before.end, snippet.start - 1))
        before = snippet
    if before is not None:
        yield before


def _around(
    alone: Sequence[Snippet], lines: Sequence[str], definitions: Sequence[Definition]
) -> Iterator[Snippet]:
    """What stands alone, with the file's head before it and runs of other lines between."""
    owners = _Owners(definitions)
    small = frozenset(each.start for each in definitions)
    after = 1
    for snippet in (*alone, Snippet("", len(lines) + 1, len(lines) + 1)):
        if after < snippet.start:
            named = any(line in small for line in range(after, snippet.start))
            for run in _run(lines, after, snippet.start - 1, 1 if named else LEAST_BETWEEN):
                yield evolve(run, name=owners.of(run))
        if snippet.start <= len(lines):
            yield snippet
        after = max(after, snippet.end + 1)


class _Owners:
    """Which class each run of lines is in; asked in the order of the lines."""

    def __init__(self, definitions: Sequence[Definition]) -> None:
        self._coming = [each for each in definitions if each.kind.holds_members and _stands_alone(each)][::-1]
        self._open: list[Definition] = []

    def of(self, run: Snippet) -> str:
        """The name of the innermost class around a run, or nothing."""
        while self._coming and self._coming[-1].start < run.start:
            self._close(self._coming[-1].start)
            self._open.append(self._coming.pop())
        self._close(run.end)
        return self._open[-1].qualified if self._open else ""

    def _close(self, line: int) -> None:
        while self._open and self._open[-1].end < line:
            self._open.pop()


def _run(lines: Sequence[str], start: int, end: int, least: int = 1) -> Iterator[Snippet]:
    """The lines of a run, if they are the file's head or say enough."""
    filled = sum(1 for line in lines[start - 1 : end] if line.strip())
    if filled and (start == 1 or filled >= least):
        yield Snippet("", start, end)


def _counted(pieces: Iterable[Snippet]) -> list[Snippet]:
    """The pieces of one snippet; those of a definition know which one they are."""
    several = list(pieces)
    if len(several) < 2 or not several[0].name:
        return several
    return [evolve(piece, part=at, parts=len(several)) for at, piece in enumerate(several)]


def _cut(snippet: Snippet, lines: Sequence[str], starts: frozenset[int]) -> Iterator[Snippet]:
    """A snippet in pieces of bounded size, each without blank lines at its ends."""
    start = snippet.start
    while start <= snippet.end:
        end, chars = start - 1, 0
        while end < min(snippet.end, start + MOST_LINES - 1):
            chars += len(lines[end]) + 1
            if chars > MOST_CHARS and end >= start:
                break
            end += 1
        if end < snippet.end:
            end = _cut_point(lines, start, end, starts)
        trimmed = _trimmed(lines, start, end)
        if trimmed is not None and chars <= 2 * MOST_CHARS:
            yield evolve(snippet, start=trimmed[0], end=trimmed[1])
        start = end + 1


def _cut_point(lines: Sequence[str], start: int, end: int, starts: frozenset[int]) -> int:
    """Where to end a piece of at most these lines: in its second half before a definition or at a blank."""
    second_half = range(end, start + (end - start) // 2, -1)
    for line in second_half:
        if line + 1 in starts:
            return line
    for line in second_half:
        if not lines[line - 1].strip():
            return line
    return end


def _trimmed(lines: Sequence[str], start: int, end: int) -> tuple[int, int] | None:
    while start <= end and not lines[start - 1].strip():
        start += 1
    while end >= start and not lines[end - 1].strip():
        end -= 1
    return (start, end) if start <= end else None


def _holding(snippets: Iterable[Snippet], definitions: Sequence[Definition]) -> Iterator[Snippet]:
    """The snippets with the names of what they hold."""
    at = 0
    for snippet in snippets:
        while at < len(definitions) and definitions[at].line < snippet.start:
            at += 1
        held: list[str] = []
        while at < len(definitions) and definitions[at].line <= snippet.end:
            if definitions[at].qualified != snippet.name:
                held.append(definitions[at].name)
            at += 1
        yield evolve(snippet, holds=tuple(held[:MOST_HOLDS])) if held else snippet


LEAST_LINES = 4
BRIEF_LINES = 6
_COMMENTS = ("//", "#:", "# ", "/*", "*", "--")
_BODY = re.compile(r"[{=]")
_BRACED = frozenset({"go", "rust", "java", "c", "cpp", "csharp", "objc", "php", "swift", "typescript"})
_DECLARING = frozenset({DefinitionKind.INTERFACE, DefinitionKind.TRAIT, DefinitionKind.TYPE})


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
        facts=_facts(PLAIN, parsed) if isinstance(parsed, NotParsed) else _unread(parsed),
    )


def skipped_entry(path: str, stamp: str, why: NotParsed) -> IndexEntry:
    """A file that has nothing to find, kept without pieces so that it is not read again before it changes."""
    return IndexEntry(CODE, path, "", stamp, facts=_facts(SKIPPED, why))


def _facts(outcome: str, why: NotParsed) -> dict[str, Any]:
    return {outcome: why.reason, FAILED: True} if why.failed else {outcome: why.reason}


def _unread(parsed: Parsed) -> dict[str, Any]:
    return {UNREAD: parsed.unread_in_words} if parsed.unread_in_words else {}


def _pieces(path: str, lines: Sequence[str], snippets: Sequence[Snippet], parsed: Parsed) -> list[Piece]:
    file = about(parsed.heads)
    classes = {each.qualified: about([each.doc]) for each in parsed.definitions if each.kind.holds_members}
    kinds = {(each.qualified, each.start): each.kind for each in parsed.definitions}
    owners = {each.qualified: each.kind for each in parsed.definitions if each.kind.holds_members}
    language, pieces = language_of(path), []
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
                facts=_facts_of(
                    snippet,
                    lines,
                    kinds.get((snippet.name, snippet.start)),
                    owners.get(snippet.name),
                    language,
                ),
            )
        )
    return pieces


def _facts_of(
    snippet: Snippet,
    lines: Sequence[str],
    kind: DefinitionKind | None,
    owner: DefinitionKind | None,
    language: str,
) -> dict[str, Any]:
    """Which part of how many a snippet is, and what ranking wants to know of it."""
    facts: dict[str, Any] = {PART: snippet.part, OF: snippet.parts} if snippet.parts > 1 else {}
    if kind is None:
        return facts | {DECLARES: True} if owner in _DECLARING else facts
    code = _code(lines[snippet.start - 1 : snippet.end])
    body = language not in _BRACED or len(code) > BRIEF_LINES or any(map(_BODY.search, code))
    if kind in _DECLARING or not body:
        facts[DECLARES] = True
    return facts | {BRIEF: True} if len(code) < BRIEF_LINES else facts


def _code(lines: Sequence[str]) -> list[str]:
    """The lines without blank ones, comments and docstrings."""
    code, quoted = [], False
    for line in filter(None, map(str.strip, lines)):
        marks = line.count('"""')
        if not (quoted or marks or line.startswith(_COMMENTS)):
            code.append(line)
        quoted = quoted != (marks % 2 == 1)
    return code


def _speaks_for_file(snippet: Snippet) -> bool:
    """Whether a snippet carries the description of its file; very small or private ones do not."""
    private = snippet.name.rpartition(".")[2].startswith("_")
    return snippet.end - snippet.start + 1 >= LEAST_LINES and not private


def code_digest(text: str) -> str:
    """A digest of a file's text and of the way it is cut."""
    return sha256_hex(f"{SNIPPETS}\n{text}")
