"""Passages for a draft: for a question, from everything that is searched, for a diff, or for a stack trace.

A question is answered by code, packs, discoveries and documents. A document is anchored where its collection
lies in the source tree and the passage stands there at its lines; else it is quoted. Where the question is
what happens at some moment, the callers of the best definitions answer it, too, and follow them. A diff is
answered with the definitions that its new lines are in, then with who calls them and which tests use them,
one hop away, and with what is known of the code that it touches; a stack trace with the functions that its
frames are in.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from attrs import evolve, frozen

from context_pack.code.usages import Usage, UsageFinder
from context_pack.documents.commands import MOST_HITS
from context_pack.documents.commands import SearchDocuments as DocumentSearch
from context_pack.documents.search import Finder, RankedPassage
from context_pack.kernel.comments import head_comment
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import RelativePath, is_test
from context_pack.kernel.ports import Reason
from context_pack.kernel.syntax import Definition
from context_pack.kernel.text import LineRange, counted, first_sentence, one_line
from context_pack.knowledge.about import KnownHere
from context_pack.knowledge.places import ChangedFile
from context_pack.memory.entries import CODE, DISCOVERY, PACK, WITHIN
from context_pack.memory.search import MOST_SHOWN, ContextSearch, MemorySearcher
from context_pack.packs.anchors import SourceText
from context_pack.packs.ports import Excerpt, Excerpted
from context_pack.packs.read import PackReader
from context_pack.packs.resolving import Resolver
from context_pack.retrieval.model import FoundPiece, Ranked
from context_pack.retrieval.words import tokens
from context_pack.toolkit.budget import cut_text
from context_pack.toolkit.call import Check, QuietCall, never_cancelled

QUOTED_CHARS = 600
MOST_WORDS = 5
WORTH_SHOWING = 0.1
"""A relevance below which a passage is not worth a reader's time, though a search may list it."""
MOST_PLACES = {CODE: 8, "documents": 3, "memory": 3}
ADDS = 0.5
"""A passage with less of the best one's relevance adds little: there a draft stops."""
MOST_ANSWERS = 3
"""So many passages of code answer by themselves; others only where they call one of them or are called."""
USES, HAS = "uses ", "has the words "
CALLED_DEFINITIONS, MOST_CALLERS, MOST_TESTS = 2, 2, 3
"""Of so many definitions of an answer, and of each changed one, so many callers and tests are shown."""
MOST_LOOKED_UP = 30
"""Of so many changed definitions callers and tests are looked for."""
SHORT_CALLER, LINES_BESIDE = 12, 1
"""A caller of so many lines is shown whole, a longer one by its line that calls and those beside it."""
LONG_FRAME, LINES_OF_FRAME = 120, 30
"""Of a longer function only so many lines before and after the frame's are shown."""
LONG_TYPE = 60
LINES_BETWEEN = 5
"""Changed lines with so few others between them are one place."""
MOST_KNOWN = 30
NOTHING_CHANGED = "nothing has changed; name an older revision, or give a diff's text"
NO_ANSWER = frozenset({Code.NOTHING_INDEXED, Code.EMBEDDER_FAILED})
DOC_LINES, DOC_CHARS = 12, 160
_HAPPENING = re.compile(
    r"\bwhat (?:happens|is done|runs)\b|\bwhen (?:is|are|does|do)\b|\bwho (?:calls|uses)\b"
    r"|\bcall(?:ers?\b|ed (?:by|from|when)\b)",
    re.IGNORECASE,
)
_TYPE = re.compile(r"^\s*(?:[\w()]+ )*(?:class|struct|enum|interface|trait|type) \w", re.MULTILINE)
_DOCSTRING = re.compile(r'"""(.+?)(?:"""|\n\s*\n|\Z)', re.DOTALL)
_NO_CODE = re.compile(r'""".*?"""|^\s*(?:#|//|\*|/\*)[^\n]*|"[^"\n]*"', re.DOTALL | re.MULTILINE)
"""Documentation, comments and strings; not exactly, which would take a parser for each language."""
_NAME = re.compile(r"(?:[\w$]+\.)*([A-Za-z_$][\w$]*)")


@frozen
class DraftSources:
    """An `Excerpts` over the searches that there are, the files, and what is known of them."""

    reader: PackReader
    usages: UsageFinder | None
    knowledge: KnownHere
    memory: Callable[[], MemorySearcher] | None
    documents: Callable[[], Finder] | None

    def best(self, query: str, limit: int, check: Check = never_cancelled, /) -> Excerpted:
        """The passages of all searches, the best first."""
        notes: dict[str, object] = {}
        passages = [*self._remembered(query, limit, notes, check)]
        passages += self._documented(query, limit, notes, check)
        worth = [item for item in passages if item.score >= WORTH_SHOWING]
        best = _that_matter(sorted(worth, key=lambda item: -item.score)[:limit])
        if _HAPPENING.search(query):
            best = list(self._with_callers(best, check))
        return Excerpted(_grouped(best), notes)

    def changed(self, diff: str, check: Check = never_cancelled, /) -> Excerpted:
        """The definitions that a diff touches, whole; who calls and tests them; what is known there."""
        files = self.knowledge.files_of(diff)
        if not files:
            raise Failure(Code.NOT_FOUND, NOTHING_CHANGED)
        resolver = Resolver.over(self.reader, check)
        items = [item for file in files for item in _touched(file, resolver)]
        for item in [item for item in items if item.title][:MOST_LOOKED_UP]:
            check()
            items += self._users(item, check)
        known = [each for each in self.knowledge.of_diff(files, check).known if not each.is_unreadable]
        texts = {"changed": "\n".join(map(_counted, files))}
        said = (f"{one_line(each.text)} ({each.source})" for each in known)
        return Excerpted(items, {}, {**texts, **_known_text(said)})

    def traced(self, trace: str, check: Check = never_cancelled, /) -> Excerpted:
        """The functions that a trace goes through, in its order, and what is known there."""
        items = []
        for place, line in self.knowledge.lines_of_trace(trace).items():
            lines = place.lines or LineRange(line, line)
            first, last = lines.start, lines.end
            if last - first >= LONG_FRAME:
                first, last = max(first, line - LINES_OF_FRAME), min(last, line + LINES_OF_FRAME)
            name = place.symbol or ""
            items.append(Excerpt("trace", name, 1.0, "", place.path, first, last, f"at line {line}"))
        near = [self.knowledge.near(str(item.path), item.start, item.end, check) for item in items]
        return Excerpted(items, {}, _known_text(line for lines in near for line in lines))

    def _remembered(
        self, query: str, limit: int, notes: dict[str, object], check: Check
    ) -> Iterator[Excerpt]:
        if self.memory is None:
            return
        try:
            search = self.memory().search(ContextSearch(query), check, most=limit)
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
        search = self.documents().search(DocumentSearch(query, limit=min(limit, MOST_HITS)), check)
        if search.stale:
            notes["stale"] = True
        if search.semantic is not None:
            notes["documents"] = {"done": search.semantic.done, "total": search.semantic.total}
        resolver = Resolver.over(self.reader, check)
        for answer in search.answers:
            for hit in answer.hits:
                if hit.ranked.relevance >= WORTH_SHOWING:
                    yield _document(query, hit, resolver)

    def _users(self, item: Excerpt, check: Check) -> Iterator[Excerpt]:
        """Who calls a changed definition, and which tests use it."""
        name = item.title.rpartition(".")[2]
        if item.rank or _NAME.fullmatch(name) is None:
            return
        callers, tests = self._callers(name, check), self._callers(name, check, tests=True)
        for kind, rank, uses in (("callers", 1, callers), ("tests", 3, tests)):
            for use in uses:
                first, last = _beside(use)
                yield Excerpt(kind, use.inside, 0.5, "", use.path, first, last, f"{USES}{name}", rank=rank)

    def _with_callers(self, items: Sequence[Excerpt], check: Check) -> Iterator[Excerpt]:
        """The passages, and after each of the first definitions the places where it is called."""
        left = CALLED_DEFINITIONS
        # Long definitions and their parts hardly find room.
        shown = [item for item in items if not item.partial and item.end - item.start < MOST_SHOWN]
        for item in items:
            yield item
            name = _NAME.fullmatch(item.title)
            if not left or item.kind != CODE or name is None or _TYPE.search(item.text.partition("{")[0]):
                continue  # who names a type says little about what happens
            left -= 1
            for use in self._callers(name[1], check):
                if not any(one.path == use.path and one.start <= use.line <= one.end for one in shown):
                    first, last = _beside(use)
                    what = f"{USES}{name[1]}"
                    yield Excerpt(CODE, use.inside, item.score, "", use.path, first, last, what)

    def _callers(self, name: str, check: Check, *, tests: bool = False) -> Sequence[Usage]:
        """The first uses of a name in other definitions; none if there is no search or no time."""
        try:
            call, most = QuietCall(wanted=check), MOST_TESTS if tests else MOST_CALLERS
            return () if self.usages is None else self.usages.callers(name, most, call, tests=tests)
        except Failure as failure:
            if failure.code is not Code.TIMED_OUT:
                raise
            return ()


def _that_matter(items: Sequence[Excerpt]) -> list[Excerpt]:
    """The best of each kind, until the next adds little; parts of a definition go with it."""
    chosen: list[Excerpt] = []
    for kind, most in MOST_PLACES.items():
        own = [item for item in items if item.kind == kind]
        whole = [item for item in own if not item.partial and item.score >= ADDS * own[0].score]
        whole = (_related(whole, _Names(own)) if kind == CODE else whole)[:most]
        places = {(item.path, item.title): item for item in whole}
        chosen += whole
        chosen += [item for item in own if item.partial and (item.path, item.title) in places]
    return sorted(chosen, key=lambda item: -item.score)


def _related(items: Sequence[Excerpt], names: _Names) -> list[Excerpt]:
    """The best hits, then those that call one of them or that one of them calls.

    What only has words of the question is mostly about something else: of 133 refs of drafts without this
    rule a reader found 71 unnecessary, 30 met by chance and 25 that neither call the answer nor are called.
    With five answers in place of three, 29 of 40 drafts had the right definition whole (26), and 38 % of the
    refs that were judged were unnecessary (32 %).
    """
    code = [item for item in items if not _in_test(item)] or items
    answers = code[:MOST_ANSWERS]
    related = list(answers)
    for item in items:
        if item in answers:
            continue
        calls = [names.of(answer) for answer in answers if names.uses(item, answer)]
        called = [names.of(answer) for answer in answers if names.uses(answer, item)]
        if calls or called:
            relation = f"calls {calls[0]}" if calls else f"called by {called[0]}"
            does = "" if item.what.startswith(HAS) else item.what
            related.append(evolve(item, what="; ".join(filter(None, (relation, does)))))
    return related


def _in_test(item: Excerpt) -> bool:
    return item.path is not None and is_test(RelativePath(item.path))


class _Names:
    """Which pieces of code use the names of which others."""

    def __init__(self, items: Iterable[Excerpt]) -> None:
        self._texts: dict[tuple[str | None, str], str] = defaultdict(str)
        for item in items:
            if item.kind == CODE:
                self._texts[item.path, item.title] += _NO_CODE.sub("", item.text) + "\n"

    def of(self, item: Excerpt) -> str:
        """The name that a definition has by itself."""
        return item.title.rpartition(".")[2]

    def uses(self, item: Excerpt, other: Excerpt) -> bool:
        """Whether one calls or makes what the other defines; names in comments, strings or types do not."""
        name = self.of(other)
        if _NAME.fullmatch(name) is None or name == self.of(item):
            return False
        called = r"(?![\w$])" if (item.path or "").endswith(".rb") and "_" in name else r"(?:[({]|::|\.new\b)"
        call = rf"(?<![\w$])(?<!def )(?<!func )(?<!class )(?<!fn ){re.escape(name)}{called}"
        return re.search(call, self._texts.get((item.path, item.title), "")) is not None


def _grouped(items: Sequence[Excerpt]) -> list[Excerpt]:
    """Code by what it is for the question: where to begin, what it rests on, its callers, its tests."""
    code, names = [item for item in items if item.kind == CODE and not item.partial], _Names(items)

    def group(item: Excerpt) -> str | None:
        if item.kind != CODE or item.path is None:
            return None
        if _in_test(item):
            return "4 tests"
        if item.what.startswith(USES):
            return "3 callers"
        begins = names.uses(item, code[0]) and not any(names.uses(other, item) for other in code)
        return "1 entry" if begins else "2 core"

    return [evolve(item, group=group(item)) for item in items]


def _what(query: str, piece: FoundPiece) -> str:
    """What a hit does for the question: what it says of itself, else the words of the question in it."""
    does = _does(piece.text, piece.key) if piece.corpus == CODE and piece.heading else ""
    has = set(tokens(f"{piece.heading} {piece.key} {piece.text}"))
    words = [word for word in dict.fromkeys(re.findall(r"[\w'-]+", query)) if has & set(tokens(word))]
    return does or (f"{HAS}{', '.join(words[:MOST_WORDS])}" if words else "")


def _does(text: str, path: str) -> str:
    """What a definition says that it does: the first sentence of the comment above it or of its docstring."""
    head = "\n".join(text.split("\n")[:DOC_LINES])
    docstring = _DOCSTRING.search(head)
    if docstring:
        return cut_text(first_sentence(docstring[1]), DOC_CHARS)
    lines = "\n".join(map(str.strip, head.split("\n")))
    return cut_text(head_comment(lines, RelativePath(path).suffix[1:]), DOC_CHARS)


def _document(query: str, hit: RankedPassage, resolver: Resolver) -> Excerpt:
    piece = hit.ranked.found
    what = _what(query, piece)
    title = " / ".join(filter(None, (piece.title or piece.key, piece.heading)))
    path = _place(hit, resolver)
    if path is None:
        title = f"{hit.collection.alias}: {title}"
        return Excerpt("documents", title, hit.ranked.relevance, piece.text[:QUOTED_CHARS], what=what)
    return Excerpt("documents", title, hit.ranked.relevance, "", path, piece.start, piece.end, what)


def _place(hit: RankedPassage, resolver: Resolver) -> str | None:
    """The path in the source tree under which the passage stands at its lines.

    Where the collection lies is known only from its own point of view, so that every end of its place is
    tried, and the text decides.
    """
    piece = hit.ranked.found
    passage = piece.text.replace("\r\n", "\n").strip()
    parts = [part for part in hit.collection.where.place.replace("\\", "/").split("/") if part]
    for start in range(len(parts), -1, -1):
        try:
            path = RelativePath("/".join([*parts[start:], piece.key]))
        except Failure:
            continue
        source = resolver.file(path) if resolver.tree.is_file(path) else Reason.MISSING
        if isinstance(source, SourceText) and passage in "\n".join(source.lines[piece.start - 1 : piece.end]):
            return path.value
    return None


def _touched(file: ChangedFile, resolver: Resolver) -> Iterator[Excerpt]:
    """The innermost definitions around the new lines of a file, then new lines that are in none.

    Of a long type only its changed lines are shown, because its members are definitions of their own.
    """
    path = None if file.new is None else RelativePath.lenient(file.new)
    source = None if path is None else resolver.file(path)
    if path is None or not isinstance(source, SourceText):
        return
    owners: dict[int, Definition] = {}
    for each in sorted(source.definitions, key=lambda each: each.start - each.end):
        owners.update(dict.fromkeys(range(each.start, each.end + 1), each))
    counts: Counter[tuple[int, int, str]] = Counter()
    loose: list[int] = []
    for hunk in file.hunks:
        # Where something was only taken away, the line before the place says where it was.
        for number in range(
            max(1, hunk.new_start), min(hunk.new_start + max(1, hunk.new_count), source.count + 2)
        ):
            owner = owners.get(number)
            if owner is None or (owner.kind.holds_members and owner.end - owner.start >= LONG_TYPE):
                loose += [number] if any(map(str.strip, source.lines[number - 1 : number])) else []
            else:
                counts[owner.start, owner.end, owner.qualified] += hunk.new_count > 0
    for start, end, name in sorted(counts):
        if not any(low <= start and end <= high and (low, high) != (start, end) for low, high, _ in counts):
            new = counted(counts[start, end, name], "new line")
            rank = 2 if is_test(path) else 0
            yield Excerpt("changed", name, 1.0, "", path.value, start, end, new, rank=rank)
    for start, end in _runs(loose):
        inside = owners.get(start)
        name = path.name if inside is None else inside.qualified
        yield Excerpt("changed", name, 0.5, "", path.value, start, end, "changed lines", rank=2)


def _remembered(query: str, hit: Ranked, code: Sequence[FoundPiece]) -> Iterator[Excerpt]:
    """A hit of memory as excerpts: code, a ref's code, or a discovery.

    Of a ref into lines that were found as code themselves, the code is enough.
    """
    piece, facts = hit.found, hit.found.entry_facts
    if piece.corpus == CODE:
        title, what, within = piece.heading or piece.key, _what(query, piece), piece.facts.get(WITHIN)
        if within is not None:
            first, last = within
            yield Excerpt(CODE, title, hit.relevance, "", piece.key, first, last, what)
        excerpt = Excerpt(CODE, title, hit.relevance, piece.text, piece.key, piece.start, piece.end, what)
        yield excerpt if within is None else evolve(excerpt, partial=True)
    elif piece.corpus == PACK and "path" in facts:
        path, start, end = str(facts["path"]), int(facts["startLine"]), int(facts["endLine"])
        if not any(one.key == path and one.start <= end and start <= one.end for one in code):
            # The text of a ref begins with its title, or its key where it has none.
            title = piece.text.partition("\n")[0]
            yield Excerpt("code", title, hit.relevance, "", path, start, end, _what(query, piece))
    elif piece.corpus == DISCOVERY:
        title = " about ".join(filter(None, (str(facts["type"]), piece.module)))
        yield Excerpt("memory", title, hit.relevance, piece.text, what=_what(query, piece))


def _beside(caller: Usage) -> tuple[int, int]:
    """The lines of a caller that are shown."""
    first, last = caller.around
    if last - first >= SHORT_CALLER:
        return max(first, caller.line - LINES_BESIDE), min(last, caller.line + LINES_BESIDE)
    return first, last


def _runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Line numbers as first and last lines."""
    runs: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if runs and number <= runs[-1][1] + LINES_BETWEEN:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return runs


def _counted(file: ChangedFile) -> str:
    """A file of a diff, and how many lines it lost and gained."""
    old, new = sum(hunk.old_count for hunk in file.hunks), sum(hunk.new_count for hunk in file.hunks)
    way = file.new or f"{file.old}, which is gone"
    if file.old is None:
        way = f"{way}, which is new"
    elif file.new not in (None, file.old):
        way = f"{file.new}, which was {file.old}"
    return f"- {way}: +{new} -{old}"


def _known_text(sentences: Iterable[str]) -> dict[str, str]:
    """What is known of the places, as the text of a section."""
    lines = dict.fromkeys(f"- {sentence}" for sentence in sentences)
    return {"known": "\n".join(list(lines)[:MOST_KNOWN])} if lines else {}
