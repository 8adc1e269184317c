"""Where the code of refs is now: given refs and a source tree, the state of each.

The only calls of the pack feature to `SourceTree`; what files say about a ref is decided by `following`. A
file is read once per call and nothing is kept for the next one, and parsed when definitions are asked for.
The refs of a call that are not found in their files are looked for together, with one walk over the tree
that says whether it saw everything. Only files that hold every part of a name are parsed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from math import inf

from attrs import define, evolve, field, frozen

from context_pack.kernel.errors import Failure
from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Clock, FileNames, Reason, SourceTree, Unreadable
from context_pack.kernel.syntax import Definition, NoSyntax, Spans, Syntax, name_parts
from context_pack.kernel.text import LineRange, close
from context_pack.packs import following
from context_pack.packs.anchors import SourceText, anchor_of
from context_pack.packs.changes import advanced
from context_pack.packs.difference import ComparedText, difference
from context_pack.packs.following import Sought
from context_pack.packs.model import CodeLocation, Pack, Ref
from context_pack.packs.ports import ExcerptStore, NoExcerptStore, PackStore
from context_pack.packs.states import Checked, Resolution, State
from context_pack.toolkit.call import Check, never_cancelled

MOST_SOURCE_BYTES = 2 * 1024 * 1024
"""How large a source file may be if no setting says so."""
MOST_COPIES = 32
"""Places of one text in other files that are looked at; only what tells nothing has more."""
MOST_ASKED_NEAR = 30
"""For how many names of a call it is said what is near."""
STOPPED = "the search of the tree was stopped by its time limit"


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

    def update(self, seen: Pack, change: Callable[[Pack], Pack], check: Check) -> Pack:
        """One read-modify-write of a pack that is still as it was seen; texts that it drops are forgotten."""

        def changed(stored: Pack) -> Pack:
            check()
            stored.check_revision(seen.revision)
            return advanced(stored, change(stored), self.clock.now())

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
    """Finds the code of refs for one call; `check` raises when nobody wants the answer any more."""

    tree: SourceTree
    max_bytes: int
    check: Check = never_cancelled
    syntax: Syntax = field(factory=NoSyntax)
    monotonic: Callable[[], float] = lambda: 0.0
    seconds: float = inf
    """How long all searches of the tree together may take."""
    expected: Sequence[Ref] = ()
    """The refs of the call, which are looked for together."""
    excerpts: ExcerptStore = field(factory=NoExcerptStore)
    anchored_texts: dict[str, str] = field(factory=dict, init=False)
    """The text of every anchor that was made, by its digest."""
    _files: dict[RelativePath, SourceText | Reason] = field(factory=dict, init=False)
    _resolved: dict[Ref, Resolution] = field(factory=dict, init=False)
    _defining: dict[str, tuple[Sequence[SourceText], bool]] = field(factory=dict, init=False)
    _names: FileNames | None = field(default=None, init=False)
    _end: float | None = field(default=None, init=False)
    _asked_near: int = field(default=0, init=False)
    _stopped: bool = field(default=False, init=False)
    """Whether the time was over before everything was looked at."""
    _unread: RelativePath | None = field(default=None, init=False)
    """A file that could not be read, for a reason that may pass."""

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
            access.clock.monotonic,
            min(access.search_seconds, seconds),
            list(refs),
            access.excerpts,
        )

    def __call__(self, ref: Ref) -> Resolution:
        """Find the ref's code and its state."""
        if ref not in self._resolved:
            self._look_for([each for each in {ref, *self.expected} if each not in self._resolved])
        return self._resolved[ref]

    def checked(self, pack: Pack) -> tuple[Checked, ...]:
        """Every ref of a pack with what became of its code, in stored order."""
        return tuple(Checked(section, ref, self(ref)) for section, ref in pack.refs)

    # -- files, each read once per call

    def file(self, path: RelativePath) -> SourceText | Reason:
        """A file, read once."""
        self.check()
        if path not in self._files:
            self._files[path] = self._read(path)
        return self._files[path]

    def _read(self, path: RelativePath) -> SourceText | Reason:
        read = self.tree.read(path, self.max_bytes)
        return read.reason if isinstance(read, Unreadable) else SourceText(path, read.text, self._parsed)

    def _parsed(self, source: SourceText) -> Sequence[Definition]:
        language = language_of(source.path.value)
        known = self.syntax.knows(language)
        return self.syntax.parse(language, source.text).definitions if known else ()

    def names(self) -> FileNames:
        """Files of the tree, to suggest some: all of them if they are known, else those of a quick look."""
        return self._names or self.tree.names()

    # -- the states of refs

    def _look_for(self, refs: Iterable[Ref]) -> None:
        """Decide about refs: by their lines, by their files, then by the tree."""
        elsewhere: list[Sought] = []
        for ref in refs:
            resolution = self._where_it_was(ref)
            if resolution is not None:
                self._resolved[ref] = resolution
            elif ref.anchor is not None:
                elsewhere.append(Sought(ref, ref.anchor))
        kept = self.excerpts.texts({each.anchor.digest for each in elsewhere})
        lost: list[Sought] = []
        for bare in elsewhere:
            self.check()
            sought = evolve(bare, text=kept.get(bare.anchor.digest))
            source = self.file(sought.ref.path)
            resolution = None if isinstance(source, Reason) else following.in_file(sought, source)
            if resolution is None:
                lost.append(sought)
            else:
                self._resolved[sought.ref] = self._compared(sought, resolution)
        if lost:
            self._search_tree(lost)

    def _where_it_was(self, ref: Ref) -> Resolution | None:
        """The state of a ref that its own lines, or their absence, decide; None if it must be looked for."""
        source = self.file(ref.path)
        if isinstance(source, Reason):
            missing = source is Reason.MISSING and ref.anchor is not None
            return None if missing else following.unreadable(source)
        resolution = following.where_it_was(ref, source)
        symbol = None if ref.anchor is None else ref.anchor.symbol
        # Where the same text stands elsewhere in the file, that may be where the definition went.
        twice = symbol and resolution and source.text.count(resolution.excerpt or "") > 1
        return None if twice else resolution

    def _search_tree(self, lost: Sequence[Sought]) -> None:
        """Decide about refs of which their own files say nothing."""
        texts = {each.anchor.digest: each.text for each in lost if each.text is not None}
        symbols = (each.anchor.symbol for each in lost)
        every_copy, defining = self._holding(texts, {symbol.name for symbol in symbols if symbol is not None})
        for each in lost:
            path, symbol = each.ref.path, each.anchor.symbol
            copies = [place for place in every_copy.get(each.anchor.digest, ()) if place.path != path]
            if not each.is_telling:
                copies = [place for place in copies if place.path.name == path.name]
            sources = () if symbol is None else defining.get(symbol.name, ())
            namesakes = (following.namesake(each, source) for source in sources if source.path != path)
            resolution: Resolution | None
            if self._stopped:
                resolution = Resolution(State.UNKNOWN, reason=STOPPED)
            else:
                resolution = following.elsewhere(each, self._meant(each, copies), [*filter(None, namesakes)])
            if resolution is None and self._unread is not None:
                reason = f"not found, and {self._unread} could not be read"
                resolution = Resolution(State.UNKNOWN, reason=reason)
            resolution = resolution or following.gone(each.ref, self.file(path))
            self._resolved[each.ref] = self._compared(each, resolution)

    def _meant(self, sought: Sought, copies: Sequence[CodeLocation]) -> Sequence[CodeLocation]:
        """Of several copies, those in a definition of the anchored name, if there are any."""
        if len(copies) < 2:
            return copies
        meant = []
        for place in copies:
            source = self.file(place.path)
            symbol = sought.anchor.symbol
            if isinstance(source, SourceText) and following.of_the_name(symbol, source, [place.lines]):
                meant.append(place)
        return meant or copies

    def _compared(self, sought: Sought, found: Resolution) -> Resolution:
        """The resolution with what its kept text says: the diff of what changed, the text of what is gone."""
        if sought.text is None:
            return found
        if found.state in (State.STALE, State.UNKNOWN):
            return evolve(found, former=sought.text)
        if found.state is not State.CHANGED or found.excerpt is None or found.found is None:
            return found
        if found.excerpt == sought.text:  # too short to be known by itself, and found by its name
            return evolve(found, state=State.MOVED, reason=None)
        ref, symbol = sought.ref, sought.anchor.symbol
        lines = sought.text.split("\n")
        filled = [at for at, line in enumerate(lines) if line.strip()]  # what was found begins with code
        text = "\n".join(lines[filled[0] : filled[-1] + 1])
        head = None if symbol is None else symbol.signature
        old = ComparedText(text, str(ref.path), ref.lines.start + filled[0], head)
        new = ComparedText(found.excerpt, str(found.found.path), found.found.lines.start, found.signature)
        part = symbol is not None and not symbol.whole
        language = language_of(str(found.found.path))
        change = difference(old, new, language, partial(self._spans, language), part=part)
        return evolve(found, difference=change)

    def _spans(self, language: str, text: str) -> Spans | None:
        spans = self.syntax.spans(language, text) if self.syntax.knows(language) else None
        return spans if isinstance(spans, Spans) else None

    def anchored(self, ref: Ref) -> Ref:
        """The ref with an anchor of its lines as they are now; without one when they cannot be read."""
        source = self.file(ref.path)
        ref = evolve(ref, anchor=None if isinstance(source, Reason) else anchor_of(source, ref.lines))
        if ref.anchor is not None and isinstance(source, SourceText):
            self.anchored_texts[ref.anchor.digest] = source.cut(ref.lines.start, ref.lines.end) or ""
        return ref

    # -- the whole tree

    def defining(self, name: str) -> tuple[Sequence[SourceText], bool]:
        """The files that hold the parts of a name and can be parsed, and whether all were looked at."""
        if name not in self._defining:
            self.look_up([name])
        return self._defining[name]

    def look_up(self, names: Collection[str]) -> None:
        """Look for the definitions of several names with one walk over the tree."""
        if names:
            defining = self._holding({}, names)[1]
            self._defining |= {name: (defining.get(name, ()), not self._stopped) for name in names}

    def names_like(self, name: str) -> set[str]:
        """Names of definitions in files with words like this one; those words too if the time was over.

        Each name takes a walk over the tree, and nobody reads what is near for hundreds of them.
        """
        self._asked_near += 1
        if self._asked_near > MOST_ASKED_NEAR:
            return set()
        last = name_parts(name)[-1]
        first = re.escape(last[0].lower() + last[0].upper())
        # Looking back from the first letter takes a third of the time of a search for the end of a word.
        pattern = re.compile(rf"[{first}](?<!\w.)\w{{{max(0, len(last) - 3)},{len(last) + 1}}}\b")
        files: dict[str, list[RelativePath]] = {}
        for source in self._sources():
            if self.syntax.knows(language_of(source.path.value)):
                for word in set(pattern.findall(source.text)):
                    files.setdefault(word, []).append(source.path)
        words = close(last, files)
        sources = map(self.file, {path for word in words for path in files[word]})
        names = {name for source in sources if isinstance(source, SourceText) for name in source.names}
        return {*names, *words} if self._stopped else names

    def _holding(
        self, texts: Mapping[str, str], names: Collection[str]
    ) -> tuple[Mapping[str, Sequence[CodeLocation]], Mapping[str, Sequence[SourceText]]]:
        """Where these texts stand, by digest, up to a few places; files with all parts of a name, by name."""
        copies: dict[str, list[CodeLocation]] = {digest: [] for digest in texts}
        parts = {name: name_parts(name) for name in names}
        chosen: list[tuple[SourceText, list[str]]] = []
        for source in self._sources():
            for digest, text in texts.items():
                # A file that is called so is what a store kept of the text, and no source.
                if len(copies[digest]) < MOST_COPIES and not source.path.name.startswith(digest):
                    starts = islice(source.occurrences(text), MOST_COPIES)
                    last = text.count("\n")
                    copies[digest] += (
                        CodeLocation(source.path, LineRange(start, start + last)) for start in starts
                    )
            here = [name for name, words in parts.items() if all(word in source.text for word in words)]
            if here and self.syntax.knows(language_of(source.path.value)):
                chosen.append((source, here))
        defining: dict[str, list[SourceText]] = {}
        answers = self.syntax.parse_all((language_of(source.path.value), source.text) for source, _ in chosen)
        for (source, here), answer in zip(chosen, answers, strict=False):
            if not self._go_on():
                break
            source.definitions = answer.definitions
            for name in here:
                defining.setdefault(name, []).append(source)
        return copies, defining

    def _sources(self) -> Iterator[SourceText]:
        """Every file that can be read, while there is time; those not kept already are not kept now."""
        if self._names is None or not self._names.complete:
            self._names = self.tree.names(self._go_on)
        self._stopped = self._stopped or not self._names.complete
        for path in (RelativePath(path) for paths in self._names.paths.values() for path in paths):
            source = self._files.get(path) or self._read(path)
            if not self._go_on():
                return
            if isinstance(source, SourceText):
                yield source
            elif source is Reason.IO:
                self._unread = self._unread or path

    def _go_on(self) -> bool:
        """Whether there is time left to search.

        Raises:
            Cancelled: the caller does not want the answer any more.
        """
        self.check()
        if self._end is None:
            self._end = self.monotonic() + self.seconds
        self._stopped = self._stopped or self.monotonic() > self._end
        return not self._stopped
