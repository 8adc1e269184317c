"""Where the code of refs is now: given refs and a source tree, the state of each.

The only calls of the pack feature to `SourceTree`; what files say about a ref is decided by `following`. A
file is read once per call and nothing is kept for the next one, and parsed when definitions are asked for.
The first ref whose lines are not its code has all such refs of the call looked for, with one walk over the
tree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf

from attrs import define, evolve, field, frozen

from context_pack.kernel.errors import Failure
from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Clock, FileNames, Reason, SourceTree
from context_pack.kernel.syntax import NoSyntax, Spans, Syntax, name_parts
from context_pack.kernel.text import close
from context_pack.packs import following
from context_pack.packs.anchors import Anchor, SourceText, anchor_of
from context_pack.packs.difference import ComparedText, difference
from context_pack.packs.following import Candidate, Elsewhere, KeptText, Text
from context_pack.packs.model import CodeLocation, Pack, Ref
from context_pack.packs.pages import Body, Style
from context_pack.packs.ports import ExcerptStore, NoExcerptStore, PackStore
from context_pack.packs.source_files import SourceFiles, TreeSearch
from context_pack.packs.states import Checked, Resolution, State, fence_language
from context_pack.toolkit.call import Check, never_cancelled

MOST_SOURCE_BYTES = 2 * 1024 * 1024
"""How large a source file may be if no setting says so."""
STOPPED = "the search of the tree was stopped by its time limit"
TOO_LONG = "its kept text is lost, and its file is too long to search without it"


@frozen
class PackAccess:
    """What every use case of packs works with: the packs, and the code that their refs are about."""

    store: PackStore
    tree: SourceTree
    clock: Clock
    max_source_bytes: int = MOST_SOURCE_BYTES
    syntax: Syntax = field(factory=NoSyntax, repr=False)
    excerpts: ExcerptStore = field(factory=NoExcerptStore, repr=False)
    search_seconds: float = inf
    """How long a call may search the tree: only a client that waits for an answer has a limit."""

    def forget_excerpts(self, digests: set[str]) -> None:
        """Remove those of these texts, and of the forgotten ones, that no pack names, expired or not.

        Nothing is removed while the packs cannot be read, and nothing is looked at unless a text was dropped.
        """
        if not digests:
            return
        try:
            packs = (*self.store.all(), *self.store.expired())
            self.excerpts.remove(
                {*digests, *self.excerpts.idle()} - {name for pack in packs for name in pack.digests}
            )
        except Failure:
            return


@define
class Resolver:
    """Finds the code of refs for one call."""

    tree: SourceTree
    max_bytes: int
    check: Check = never_cancelled
    syntax: Syntax = field(factory=NoSyntax)
    expected: Sequence[Ref] = ()
    """The refs of the call, which are looked for together."""
    excerpts: ExcerptStore = field(factory=NoExcerptStore)
    monotonic: Callable[[], float] = lambda: 0.0
    seconds: float = inf
    anchored_texts: dict[str, str] = field(factory=dict, init=False)
    """The text of every anchor that was made, by its digest."""
    _resolved: dict[Ref, Resolution] = field(factory=dict, init=False)
    files: SourceFiles = field(init=False)
    _fetched: bool = field(default=False, init=False)
    _end: float | None = field(default=None, init=False)
    _names: FileNames | None = field(default=None, init=False)
    _defining: dict[str, tuple[Sequence[Text], bool]] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self.files = SourceFiles(self.tree, self.max_bytes, self.check, self.syntax)

    @classmethod
    def over(
        cls, access: PackAccess, check: Check, refs: Iterable[Ref] = (), seconds: float = inf
    ) -> Resolver:
        """A resolver for one call that is about these refs."""
        return cls(
            access.tree,
            access.max_source_bytes,
            check,
            access.syntax,
            list(refs),
            access.excerpts,
            access.clock.monotonic,
            min(access.search_seconds, seconds),
        )

    def __call__(self, ref: Ref) -> Resolution:
        """Find the ref's code and its state."""
        if not self._fetched:
            self._fetched = True
            self.files.fetch(each.path for each in self.expected)
        if ref not in self._resolved:
            found = self._where_it_was(ref)
            if found is None:
                every = dict.fromkeys([ref, *self.expected])
                self._look_for([each for each in every if each not in self._resolved])
            else:
                self._resolved[ref] = found
        return self._resolved[ref]

    def checked(self, pack: Pack) -> tuple[Checked, ...]:
        """Every ref of a pack with what became of its code, in stored order."""
        return tuple(Checked(section, ref, self(ref)) for section, ref in pack.refs)

    def _where_it_was(self, ref: Ref) -> Resolution | None:
        """The state of a ref that its own lines, or their absence, decide; None if it must be looked for."""
        source = self.files.text(ref.path)
        if isinstance(source, Reason):
            missing = source is Reason.MISSING and ref.anchor is not None
            return None if missing else following.unreadable(source)
        found = following.where_it_was(ref, source)
        symbol = None if ref.anchor is None else ref.anchor.symbol
        if found is None or symbol is None or found.excerpt is None or source.text.count(found.excerpt) < 2:
            return found
        # The same text stands elsewhere in the file: perhaps that is where the definition went.
        text = Text(ref.path, source, self.files.definitions(ref.path, source))
        here = following.of_the_name(symbol, text, [ref.lines])
        elsewhere = any(each.qualified == symbol.name for each in text.definitions)
        return None if elsewhere and not here else found

    def _look_for(self, refs: Sequence[Ref]) -> None:
        """Decide about every ref whose lines are not its code."""
        self.files.fetch(ref.path for ref in refs)
        lost: list[tuple[Ref, Anchor]] = []
        for ref in refs:
            found = self._where_it_was(ref)
            if found is not None:
                self._resolved[ref] = found
            elif ref.anchor is not None:
                lost.append((ref, ref.anchor))
        kept = {
            digest: KeptText(text)
            for digest, text in self.excerpts.texts({anchor.digest for _, anchor in lost}).items()
        }
        anchors = dict(lost)
        candidates: dict[Ref, Candidate | None] = {}

        def look_in(path: RelativePath, ref: Ref) -> bool:
            """Look for a ref in a file; whether that says anything."""
            found = self._in_file(ref, anchors[ref], kept.get(anchors[ref].digest), path)
            if isinstance(found, Resolution):
                self._resolved[ref] = found
            else:
                candidates[ref] = found
            return found is not None

        for ref in anchors:
            look_in(ref.path, ref)
        lost = [(ref, anchor) for ref, anchor in lost if ref not in self._resolved]
        elsewhere = self._elsewhere(lost, kept, candidates) if lost else {}
        for ref, path in self._renamed(elsewhere).items():
            # The file went there: what it is now says more than copies and namesakes in others.
            if look_in(path, ref):
                elsewhere[ref] = Elsewhere()
        for ref, around in elsewhere.items():
            if ref not in self._resolved:
                source = self.files.text(ref.path)
                home = source if isinstance(source, Reason) else Text(ref.path, source)
                self._resolved[ref] = following.decided(ref, home, candidates[ref], around)
        self._tell_changes(refs, kept)

    def _in_file(
        self, ref: Ref, anchor: Anchor, kept: KeptText | None, path: RelativePath
    ) -> Resolution | Candidate | None:
        """What a file, the ref's own or the one that this became, says of it."""
        self.check()
        text = self.files.parsed(path)
        if isinstance(text, Reason):
            return None
        others = {
            other.anchor.symbol.name
            for other in self.expected
            if other.path == ref.path and other.anchor is not None and other.anchor.symbol is not None
        }
        try:
            return following.in_file(ref, anchor, kept, text, others)
        except OverflowError:
            return following.unknown(TOO_LONG)

    def _elsewhere(
        self,
        lost: Sequence[tuple[Ref, Anchor]],
        kept: Mapping[str, KeptText],
        candidates: Mapping[Ref, Candidate | None],
    ) -> dict[Ref, Elsewhere]:
        """What the tree holds of refs outside their files."""
        search = self.tree_search()
        wanted = {anchor.digest for _, anchor in lost}
        symbols = [anchor.symbol for ref, anchor in lost if candidates[ref] is None]
        names = {symbol.name for symbol in symbols if symbol is not None}
        held = search.holding({digest: kept[digest].text for digest in wanted & kept.keys()}, names)
        result: dict[Ref, Elsewhere] = {}
        for ref, anchor in lost:
            text, unsearched = kept.get(anchor.digest), STOPPED if search.stopped else None
            if text is None:
                try:
                    copies = self._same_name_copies(ref, anchor, search.names)
                except OverflowError:
                    copies, unsearched = [], TOO_LONG
            else:
                copies = [place for place in held.copies.get(anchor.digest, ()) if place.path != ref.path]
                if not text.telling:
                    copies = [place for place in copies if place.path.name == ref.path.name]
            excerpt = "" if not copies else text.text if text is not None else self._cut(copies[0])
            defining = () if anchor.symbol is None or copies else held.defining.get(anchor.symbol.name, ())
            others = (following.namesake(anchor, text, each) for each in defining if each.path != ref.path)
            namesakes = list(filter(None, others))
            called_the_same = [each for each in namesakes if each.text.path.name == ref.path.name]
            result[ref] = Elsewhere(
                excerpt,
                self._meant(anchor, copies),
                called_the_same if len(called_the_same) == 1 else namesakes,
                unsearched,
                search.unread,
            )
        return result

    def _same_name_copies(self, ref: Ref, anchor: Anchor, names: FileNames) -> list[CodeLocation]:
        """Where a text of which only the digest is known stands in files that are called as its own was."""
        places = []
        for path in names.named(ref.path.name):
            source = self.files.text(path) if path != ref.path else Reason.MISSING
            if isinstance(source, SourceText):
                places += [CodeLocation(path, lines) for lines in following.copies_in(anchor, None, source)]
        return places

    def _meant(self, anchor: Anchor, copies: Sequence[CodeLocation]) -> Sequence[CodeLocation]:
        """Of several copies, those in a definition of the anchored name, if there are any."""
        if len(copies) < 2 or anchor.symbol is None:
            return copies
        meant = []
        for place in copies:
            text = self.files.parsed(place.path)
            if isinstance(text, Text) and following.of_the_name(anchor.symbol, text, [place.lines]):
                meant.append(place)
        return meant or copies

    def _renamed(self, elsewhere: Mapping[Ref, Elsewhere]) -> dict[Ref, RelativePath]:
        """Where the files of refs went that are gone, if the text of most of their other refs says so."""
        gone = [ref for ref in elsewhere if self.files.text(ref.path) is Reason.MISSING]
        votes: dict[RelativePath, Counter[RelativePath]] = {}
        for ref in gone:
            paths = {place.path for place in elsewhere[ref].copies}
            if len(paths) == 1 and elsewhere[ref].unsearched is None:
                votes.setdefault(ref.path, Counter()).update(paths)
        went = {path: counts.most_common(1)[0] for path, counts in votes.items()}
        sure = {path: to for path, (to, count) in went.items() if 2 * count > votes[path].total()}
        return {ref: sure[ref.path] for ref in gone if ref.path in sure and len(elsewhere[ref].copies) != 1}

    def _cut(self, place: CodeLocation) -> str:
        source = self.files.text(place.path)
        return "" if isinstance(source, Reason) else source.cut(place.lines.start, place.lines.end) or ""

    def _tell_changes(self, refs: Iterable[Ref], kept: Mapping[str, KeptText]) -> None:
        """Add what the kept texts say: the diff of what changed, the text of what is gone."""
        for ref in refs:
            found, text = self._resolved[ref], kept.get(ref.anchor.digest) if ref.anchor else None
            if text is None or found.difference is not None:
                continue
            if found.state is State.CHANGED:
                self._resolved[ref] = self._compared(ref, found, text)
            elif found.state in (State.STALE, State.UNKNOWN):
                language = fence_language(ref.path)
                body = Body(Style.FENCE, text.lines, language, ref.lines.start)
                self._resolved[ref] = evolve(found, former=body)

    def _compared(self, ref: Ref, found: Resolution, text: KeptText) -> Resolution:
        """The resolution with its diff."""
        if found.excerpt is None or found.found is None:
            return found
        language = language_of(str(found.found.path))
        head = (
            ref.anchor.symbol.signature if ref.anchor is not None and ref.anchor.symbol is not None else None
        )
        old = ComparedText(text.text, str(ref.path), ref.lines.start, head)
        new = ComparedText(found.excerpt, str(found.found.path), found.found.lines.start, found.signature)
        return evolve(
            found, difference=difference(old, new, language, lambda part: self._spans(language, part))
        )

    def _spans(self, language: str, text: str) -> Spans | None:
        spans = self.syntax.spans(language, text) if self.syntax.knows(language) else None
        return spans if isinstance(spans, Spans) else None

    def tree_search(self) -> TreeSearch:
        """A search that ends when the caller's time is over; all of a call share the time."""
        return TreeSearch(self._all_names(), self.files.read_all, self.go_on, self.syntax)

    def go_on(self) -> bool:
        """Whether there is time left to search.

        Raises:
            Cancelled: the caller does not want the answer any more.
        """
        self.check()
        if self._end is None:
            self._end = self.monotonic() + self.seconds
        return self.monotonic() <= self._end

    def _all_names(self) -> FileNames:
        if self._names is None or not self._names.complete:
            self._names = self.tree.names(self.go_on)
        return self._names

    def names(self) -> FileNames:
        """Files of the tree, to suggest some: all of them if they are known, else those of a quick look."""
        return self._names or self.tree.names()

    def defining(self, name: str) -> tuple[Sequence[Text], bool]:
        """The files that hold the parts of a name and can be parsed, and whether all were looked at."""
        if name not in self._defining:
            self.look_up([name])
        return self._defining[name]

    def look_up(self, names: Iterable[str]) -> None:
        """Look for the definitions of several names with one walk over the tree."""
        search, asked = self.tree_search(), list(names)
        defining = search.holding({}, asked).defining
        self._defining |= {name: (defining.get(name, ()), not search.stopped) for name in asked}

    def names_like(self, name: str) -> set[str]:
        """Names of definitions in files with words like this one; those words too if the time was over."""
        search, last = self.tree_search(), name_parts(name)[-1]
        files = search.words_like(last)
        words = close(last, files)
        paths = {path for word in words for path in files[word]}
        texts = [text for path in paths if isinstance(text := self.files.parsed(path), Text)]
        found = {each for text in texts for each in text.names}
        return {*found, *words} if search.stopped else found

    def anchored(self, ref: Ref) -> Ref:
        """The ref with an anchor of its lines as they are now; without one when they cannot be read."""
        text = self.files.text(ref.path)
        if not isinstance(text, SourceText):
            return evolve(ref, anchor=None)
        ref = evolve(ref, anchor=anchor_of(text, ref.lines, self.files.definitions(ref.path, text)))
        if ref.anchor is not None:
            self.anchored_texts[ref.anchor.digest] = text.cut(ref.lines.start, ref.lines.end) or ""
        return ref
