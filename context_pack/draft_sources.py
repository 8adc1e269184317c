"""Passages for a question, from everything that is searched: code, packs, discoveries, documents.

Joins memory and documents to what packs ask for. A document is anchored where its collection lies in the
source tree and the passage stands there at its lines; else it is quoted. Where the question is what happens
at some moment, the callers of the best definitions answer it, too, and follow them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from attrs import evolve, frozen

from context_pack.change_sources import beside
from context_pack.code.usages import UsageFinder
from context_pack.documents.commands import MOST_HITS
from context_pack.documents.commands import SearchDocuments as DocumentSearch
from context_pack.documents.search import Finder, RankedPassage
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import RelativePath, is_test
from context_pack.kernel.ports import SourceFile, SourceTree
from context_pack.kernel.text import first_sentence, split_lines
from context_pack.memory.entries import CODE, DISCOVERY, PACK
from context_pack.memory.excerpts import MOST_LINES, WITHIN
from context_pack.memory.search import ContextSearch, MemorySearcher
from context_pack.packs.ports import Excerpt, Excerpted
from context_pack.retrieval.model import FoundPiece, Ranked
from context_pack.retrieval.words import tokens
from context_pack.toolkit.call import Check, CheckedCall, never_cancelled

MOST_DOCUMENT_BYTES = 2 * 1024 * 1024
QUOTED_CHARS = 600
MOST_WORDS = 5
WORTH_SHOWING = 0.1
"""A relevance below which a passage is not worth a reader's time, though a search may list it."""
MOST_PLACES = {CODE: 8, "documents": 3, "memory": 3}
ADDS = 0.45
"""A passage with less of the best one's relevance adds little: there a draft stops."""
USES = "uses "
CALLED_DEFINITIONS, MOST_CALLERS = 2, 2
"""Of so many definitions so many callers are shown."""
_HAPPENING = re.compile(
    r"\bwhat (?:happens|is done|runs)\b|\bwhen (?:is|are|does|do)\b|\bwho (?:calls|uses)\b"
    r"|\bcall(?:ers?\b|ed (?:by|from|when)\b)",
    re.IGNORECASE,
)
_TYPE = re.compile(r"^\s*(?:[\w()]+ )*(?:class|struct|enum|interface|trait|type) \w", re.MULTILINE)
DOC_LINES, DOC_CHARS = 12, 160
_COMMENT = re.compile(r"\s*(?://|/\*|\*|#[:\s])")
_MARKS = re.compile(r"^(?:///?!?|/\*+|\*+/?|#:?)|\*/$")
_DOCSTRING = re.compile(r'"""(.+?)(?:"""|\n\s*\n|\Z)', re.DOTALL)
_NAME = re.compile(r"(?:[\w$]+\.)*([A-Za-z_$][\w$]*)")
NO_ANSWER = frozenset({Code.NOTHING_INDEXED, Code.EMBEDDER_FAILED})


@frozen
class FoundExcerpts:
    """An `Excerpts` over the searches that there are."""

    tree: SourceTree
    memory: MemorySearcher | None
    documents: Finder | None
    usages: UsageFinder | None

    def best(self, query: str, limit: int, check: Check = never_cancelled, /) -> Excerpted:
        """The passages of all searches, the best first."""
        notes: dict[str, object] = {}
        found = [*self._remembered(query, limit, notes, check), *self._documented(query, limit, notes, check)]
        worth = [item for item in found if item.score >= WORTH_SHOWING]
        best = _that_matter(sorted(worth, key=lambda item: -item.score)[:limit])
        usages = self.usages if _HAPPENING.search(query) else None
        if usages is not None:
            best = list(_with_callers(best, usages, check))
        return Excerpted(_grouped(best), notes)

    def _remembered(
        self, query: str, limit: int, notes: dict[str, object], check: Check
    ) -> Iterator[Excerpt]:
        if self.memory is None:
            return
        try:
            search = self.memory.search(ContextSearch(query), check, most=limit)
        except Failure as failure:
            if failure.code not in NO_ANSWER:
                raise
            notes.update({key: failure.details[key] for key in ("indexing",) if key in failure.details})
            if failure.code is Code.EMBEDDER_FAILED:
                notes["warning"] = failure.message
            return
        if search.indexing is not None:
            notes["indexing"] = {"done": search.indexing.done, "total": search.indexing.total}
        if search.semantic is not None:
            notes["semantic"] = {"done": search.semantic.done, "total": search.semantic.total}
        if search.warnings:
            notes["warning"] = "; ".join(search.warnings)
        code = [hit.found for hit in search.hits if hit.found.corpus == CODE]
        yield from dict.fromkeys(item for hit in search.hits for item in _remembered(query, hit, code))

    def _documented(
        self, query: str, limit: int, notes: dict[str, object], check: Check
    ) -> Iterator[Excerpt]:
        if self.documents is None:
            return
        found = self.documents.search(DocumentSearch(query, limit=min(limit, MOST_HITS)), check)
        if found.stale:
            notes["stale"] = True
        for answer in found.answers:
            for hit in answer.hits:
                if hit.ranked.relevance >= WORTH_SHOWING:
                    yield self._document(query, hit)

    def _document(self, query: str, hit: RankedPassage) -> Excerpt:
        found = hit.ranked.found
        what = _what(query, found)
        title = " / ".join(filter(None, (found.title or found.key, found.heading)))
        path = self._place(hit)
        if path is None:
            title = f"{hit.collection.alias}: {title}"
            return Excerpt("documents", title, hit.ranked.relevance, found.text[:QUOTED_CHARS], what=what)
        return Excerpt("documents", title, hit.ranked.relevance, "", path, found.start, found.end, what)

    def _place(self, hit: RankedPassage) -> str | None:
        """The path in the source tree under which the passage stands at its lines.

        Where the collection lies is known only from its own point of view, so that every end of its place is
        tried, and the text decides.
        """
        found = hit.ranked.found
        parts = [part for part in hit.collection.where.place.replace("\\", "/").split("/") if part]
        for start in range(len(parts), -1, -1):
            try:
                path = RelativePath("/".join([*parts[start:], found.key]))
            except Failure:
                continue
            if not self.tree.is_file(path):
                continue
            file = self.tree.read(path, MOST_DOCUMENT_BYTES)
            if isinstance(file, SourceFile) and _stands(file.text, found.text, found.start, found.end):
                return path.value
        return None


def _that_matter(items: Sequence[Excerpt]) -> list[Excerpt]:
    """The best of each kind, until the next adds little; parts of a definition go with it."""
    chosen: list[Excerpt] = []
    for kind, most in MOST_PLACES.items():
        own = [item for item in items if item.kind == kind]
        whole = [item for item in own if not item.partial and item.score >= ADDS * own[0].score][:most]
        kept = {(item.path, item.title) for item in whole}
        chosen += [
            item for item in own if item in whole or (item.partial and (item.path, item.title) in kept)
        ]
    return sorted(chosen, key=lambda item: -item.score)


def _grouped(items: Sequence[Excerpt]) -> list[Excerpt]:
    """Code by what it is for the question: where to begin, what it rests on, its callers, its tests."""
    code = {item.title.rpartition(".")[2]: item for item in items if item.kind == CODE and item.text}
    # A plain word stands in comments, too: there it is a use only where it is called.
    names = {
        name: re.compile(rf"\b{re.escape(name)}\b" + r"\(" * name.isalpha() * name.islower()) for name in code
    }
    uses = {
        (name, other)
        for name, item in code.items()
        for other, pattern in names.items()
        if other != name and pattern.search(item.text)
    }
    best = next(iter(code), "")
    begun = {name for name, other in uses if other == best} - {other for _, other in uses}

    def group(item: Excerpt) -> str | None:
        if item.kind != CODE or item.path is None:
            return None
        if is_test(RelativePath(item.path)):
            return "4 tests"
        if item.what.startswith(USES):
            return "3 callers"
        return "1 entry" if item.title.rpartition(".")[2] in begun else "2 core"

    return [evolve(item, group=group(item)) for item in items]


def _with_callers(items: Sequence[Excerpt], usages: UsageFinder, check: Check) -> Iterator[Excerpt]:
    """The passages, and after each of the first definitions the places where it is called."""
    left = CALLED_DEFINITIONS
    # Long definitions and their parts hardly find room.
    shown = [item for item in items if not item.partial and item.end - item.start < MOST_LINES]
    for item in items:
        yield item
        name = _NAME.fullmatch(item.title)
        if not left or item.kind != CODE or name is None or _TYPE.search(item.text.partition("{")[0]):
            continue  # who names a type says little about what happens
        left -= 1
        try:
            callers = usages.callers(name[1], MOST_CALLERS, CheckedCall(wanted=check))
        except Failure as failure:
            if failure.code is not Code.TIMED_OUT:
                raise
            callers = []
        for caller in callers:
            if any(one.path == caller.path and one.start <= caller.line <= one.end for one in shown):
                continue
            first, last = beside(caller)
            yield Excerpt(CODE, caller.inside, item.score, "", caller.path, first, last, f"{USES}{name[1]}")


def _what(query: str, found: FoundPiece) -> str:
    """What a hit does for the question: what it says of itself, else the words of the question in it."""
    does = _does(found.text) if found.corpus == CODE and found.heading else ""
    has = set(tokens(f"{found.heading} {found.key} {found.text}"))
    words = [word for word in dict.fromkeys(re.findall(r"[\w'-]+", query)) if has & set(tokens(word))]
    return does or (f"has {', '.join(words[:MOST_WORDS])}" if words else "")


def _does(text: str) -> str:
    """What a definition says that it does: the first sentence of the comment above it or of its docstring."""
    head = "\n".join(text.split("\n")[:DOC_LINES])
    docstring = _DOCSTRING.search(head)
    above = takewhile(_COMMENT.match, head.split("\n"))
    words = docstring[1].split("\n") if docstring else [_MARKS.sub("", line.strip()) for line in above]
    return first_sentence(" ".join(map(str.strip, words)).strip())[:DOC_CHARS]


def _stands(text: str, passage: str, start: int, end: int) -> bool:
    """Whether a passage is what the lines say."""
    lines = "\n".join(split_lines(text)[start - 1 : end])
    return passage.replace("\r\n", "\n").strip() in lines


def _remembered(query: str, hit: Ranked, code: Sequence[FoundPiece]) -> Iterator[Excerpt]:
    """A hit of memory as excerpts: code, a ref's code, or a discovery.

    Of a ref into lines that were found as code themselves, the code is enough.
    """
    found, facts = hit.found, hit.found.entry_facts
    if found.corpus == CODE:
        title, what, within = found.heading or found.key, _what(query, found), found.facts.get(WITHIN)
        if within is not None:
            first, last = within
            yield Excerpt(CODE, title, hit.relevance, "", found.key, first, last, what)
        piece = Excerpt(CODE, title, hit.relevance, found.text, found.key, found.start, found.end, what)
        yield piece if within is None else evolve(piece, partial=True)
    elif found.corpus == PACK and "path" in facts:
        path, start, end = str(facts["path"]), int(facts["startLine"]), int(facts["endLine"])
        if not any(one.key == path and one.start <= end and start <= one.end for one in code):
            # The text of a ref begins with its title, or its key where it has none.
            title = found.text.partition("\n")[0]
            yield Excerpt("code", title, hit.relevance, "", path, start, end, _what(query, found))
    elif found.corpus == DISCOVERY:
        title = " about ".join(filter(None, (str(facts["type"]), found.module)))
        yield Excerpt("memory", title, hit.relevance, found.text, what=_what(query, found))
