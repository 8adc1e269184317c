"""Where the code of refs is now: given refs and a source tree, the state of each.

The only calls of the pack feature to `SourceTree`; what files say about a ref is decided by `following`. A
file is read once per call and nothing is kept for the next one, and parsed when definitions are asked for.
The first ref whose lines are not its code has all such refs of the call looked for, with one walk over the
tree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
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
from context_pack.packs.changes import advanced
from context_pack.packs.difference import ComparedText, difference
from context_pack.packs.following import KeptText, Sought, Text
from context_pack.packs.model import CodeLocation, Pack, Ref
from context_pack.packs.ports import ExcerptStore, NoExcerptStore, PackStore
from context_pack.packs.source_files import SourceFiles
from context_pack.packs.states import Checked, Resolution, State
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

    def update(
        self, seen: Pack, change: Callable[[Pack], Pack], check: Check, *, always: bool = False
    ) -> Pack:
        """One read-modify-write of a pack that is still as it was seen; texts that it drops are forgotten.

        `always` counts a revision also where nothing has changed.
        """

        def changed(stored: Pack) -> Pack:
            check()
            stored.check_revision(seen.revision)
            return advanced(stored, change(stored), self.clock.now(), always=always)

        stored = self.store.update(seen.id, changed, check)
        self.forget_excerpts(seen.digests - stored.digests)
        return stored

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
    files: SourceFiles = field(init=False)
    _resolved: dict[Ref, Resolution] = field(factory=dict, init=False)
    _defining: dict[str, tuple[Sequence[Text], bool]] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self.files = SourceFiles(
            self.tree, self.max_bytes, self.check, self.syntax, self.monotonic, self.seconds
        )

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
        lost: list[Sought] = []
        for ref in refs:
            found = self._where_it_was(ref)
            if found is not None:
                self._resolved[ref] = found
            elif ref.anchor is not None:
                lost.append(Sought(ref, ref.anchor))
        kept = self.excerpts.texts({each.anchor.digest for each in lost})
        named: dict[RelativePath, set[str]] = {}
        for ref in self.expected:
            if ref.anchor is not None and ref.anchor.symbol is not None:
                named.setdefault(ref.path, set()).add(ref.anchor.symbol.name)
        for each in lost:
            text, each.others = kept.get(each.anchor.digest), named.get(each.ref.path, ())
            each.kept = None if text is None else KeptText(text)
            self._look_in(each.ref.path, each)
        nowhere = [each for each in lost if each.ref not in self._resolved]
        if nowhere:
            unread = self._search_tree(nowhere)
            for each, path in self._renamed_files(nowhere):
                # The file went there: what it is now says more than copies and namesakes in others.
                if self._look_in(path, each):
                    each.copies, each.namesakes = (), ()
            for each in nowhere:
                if each.ref not in self._resolved:
                    home = self.files.parsed(each.ref.path)
                    self._resolved[each.ref] = following.decided(each, home, unread)
        for each in lost:
            if each.kept is not None:
                self._resolved[each.ref] = self._compared(each.ref, self._resolved[each.ref], each.kept)

    def _look_in(self, path: RelativePath, sought: Sought) -> bool:
        """Look for a ref in a file, its own or the one that this became; whether that says anything."""
        self.check()
        text = self.files.parsed(path)
        try:
            found = None if isinstance(text, Reason) else following.in_file(sought, text)
        except OverflowError:
            found = following.unknown(TOO_LONG)
        if isinstance(found, Resolution):
            self._resolved[sought.ref] = found
        else:
            sought.candidate = found
        return found is not None

    def _search_tree(self, lost: Sequence[Sought]) -> RelativePath | None:
        """Add what the tree holds of refs outside their files; answers a file that could not be read."""
        texts = {each.anchor.digest: each.kept.text for each in lost if each.kept is not None}
        symbols = [each.anchor.symbol for each in lost if each.changed is None]
        held = self.files.holding(texts, {symbol.name for symbol in symbols if symbol is not None})
        for each in lost:
            path, symbol = each.ref.path, each.anchor.symbol
            each.unsearched = STOPPED if held.stopped else None
            copies = [place for place in held.copies.get(each.anchor.digest, ()) if place.path != path]
            if each.kept is not None and not each.kept.telling:
                copies = [place for place in copies if place.path.name == path.name]
            each.copies = self._meant(each.anchor, copies)
            defining = () if symbol is None or copies else held.defining.get(symbol.name, ())
            others = (following.namesake(each, text) for text in defining if text.path != path)
            namesakes = list(filter(None, others))
            called_the_same = [one for one in namesakes if one.text.path.name == path.name]
            each.namesakes = called_the_same if len(called_the_same) == 1 else namesakes
        return held.unread

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

    def _renamed_files(self, lost: Sequence[Sought]) -> list[tuple[Sought, RelativePath]]:
        """Where the files of refs went that are gone, if the text of most of their other refs says so."""
        gone = [each for each in lost if self.files.text(each.ref.path) is Reason.MISSING]
        votes: dict[RelativePath, Counter[RelativePath]] = {}
        for each in gone:
            paths = {place.path for place in each.copies}
            if len(paths) == 1 and each.unsearched is None:
                votes.setdefault(each.ref.path, Counter()).update(paths)
        went = {path: counts.most_common(1)[0] for path, counts in votes.items()}
        sure = {path: to for path, (to, count) in went.items() if 2 * count > votes[path].total()}
        return [
            (each, sure[each.ref.path]) for each in gone if each.ref.path in sure and len(each.copies) != 1
        ]

    def _compared(self, ref: Ref, found: Resolution, kept: KeptText) -> Resolution:
        """The resolution with what its kept text says: the diff of what changed, the text of what is gone."""
        if found.state in (State.STALE, State.UNKNOWN):
            return evolve(found, former=kept.text)
        if found.state is not State.CHANGED or found.excerpt is None or found.found is None:
            return found
        language = language_of(str(found.found.path))
        symbol = None if ref.anchor is None else ref.anchor.symbol
        filled = [at for at, line in enumerate(kept.lines) if line.strip()]  # what was found begins with code
        text = "\n".join(kept.lines[filled[0] : filled[-1] + 1])
        head = None if symbol is None else symbol.signature
        old = ComparedText(text, str(ref.path), ref.lines.start + filled[0], head)
        new = ComparedText(found.excerpt, str(found.found.path), found.found.lines.start, found.signature)
        part = symbol is not None and not symbol.whole
        spans_of = partial(self._spans, language)
        return evolve(found, difference=difference(old, new, language, spans_of, part=part))

    def _spans(self, language: str, text: str) -> Spans | None:
        spans = self.syntax.spans(language, text) if self.syntax.knows(language) else None
        return spans if isinstance(spans, Spans) else None

    def names(self) -> FileNames:
        """Files of the tree, to suggest some: all of them if they are known, else those of a quick look."""
        return self.files.names(quick=True)

    def defining(self, name: str) -> tuple[Sequence[Text], bool]:
        """The files that hold the parts of a name and can be parsed, and whether all were looked at."""
        if name not in self._defining:
            self.look_up([name])
        return self._defining[name]

    def look_up(self, names: Iterable[str]) -> None:
        """Look for the definitions of several names with one walk over the tree."""
        asked = list(names)
        if asked:
            held = self.files.holding({}, asked)
            self._defining |= {name: (held.defining.get(name, ()), not held.stopped) for name in asked}

    def names_like(self, name: str) -> set[str]:
        """Names of definitions in files with words like this one; those words too if the time was over."""
        last = name_parts(name)[-1]
        files, complete = self.files.words_like(last)
        words = close(last, files)
        texts = map(self.files.parsed, {path for word in words for path in files[word]})
        found = {each for text in texts if isinstance(text, Text) for each in text.names}
        return found if complete else {*found, *words}

    def anchored(self, ref: Ref) -> Ref:
        """The ref with an anchor of its lines as they are now; without one when they cannot be read."""
        text = self.files.text(ref.path)
        if not isinstance(text, SourceText):
            return evolve(ref, anchor=None)
        ref = evolve(ref, anchor=anchor_of(text, ref.lines, self.files.definitions(ref.path, text)))
        if ref.anchor is not None:
            self.anchored_texts[ref.anchor.digest] = text.cut(ref.lines.start, ref.lines.end) or ""
        return ref
