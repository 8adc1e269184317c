"""Where the code of refs is now: given refs and a source tree, the state of each.

The only calls of the pack feature to `SourceTree`; what files say about a ref is decided in the domain. A
file is read once per call. What its own file proves about a ref is kept from call to call, and used only
after a look, in the same call, at whether the file is unchanged; what was found in the tree is never kept.
The first ref whose file does not have its text has the tree searched for all such refs of the call.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from attrs import define, evolve, field, frozen

from context_pack.kernel.errors import Failure
from context_pack.kernel.languages import language_of
from context_pack.kernel.nearness import close
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Clock, FileNames, Reason, SourceFile, SourceTree, Stamp, Unreadable
from context_pack.kernel.syntax import Definition, NoSyntax, Spans, Syntax, name_parts
from context_pack.packs.domain.anchors import Anchor, anchor_of
from context_pack.packs.domain.difference import ComparedText, difference
from context_pack.packs.domain.ladder import Text, beyond, in_file, named, unreadable
from context_pack.packs.domain.model import CodeLocation, Pack, Ref
from context_pack.packs.domain.source import SourceText
from context_pack.packs.domain.states import Checked, Resolution, State
from context_pack.packs.ports import ExcerptStore, NoExcerptStore, PackStore
from context_pack.packs.usecases.tree_search import Keys, TreeSearch, Unheld

MOST_SOURCE_BYTES = 2 * 1024 * 1024
"""How large a source file may be if no setting says so."""
MOST_TEXT_CHARS = 64 * 1024 * 1024
"""How much text one call keeps."""
SEARCH_SECONDS, SEARCH_CHARS = 3.0, 256 * 1024 * 1024
"""How long the tree is searched, and how much text of it."""
NAMED_SECONDS = 10.0
"""How long it is searched for a name that somebody gave, and that is refused if the time is too short."""
MOST_KEPT_CHARS, ENTRY_CHARS = 16 * 1024 * 1024, 1_024
"""How much is kept from call to call, and what an entry of it weighs besides its code."""
MOST_FILES, MOST_KEYS = 50_000, 1_000
"""Of how many files it is kept what they do not hold, and of how many things."""

Check = Callable[[], None]
"""Returns while the caller still wants the answer, raises when not."""


RefKey = tuple[str, int, int, str | None]
"""Where a ref points, and the digest of what it is anchored to, which stands for the whole anchor."""


def unwatched() -> None:
    """A check for callers that never cancel."""


class KeptResolution(NamedTuple):
    """The resolution of a ref when its file had this stamp."""

    stamp: Stamp
    resolution: Resolution


class RefMemory:
    """A cache of resolutions between calls; cleared when it is full.

    Worth it by `benches/side_by_side/render.py`: with it, "again" and "one edited" are within 3 times reading
    the files, without it 7 times and more. Safe to share between threads: what is lost is found out again.
    """

    def __init__(self, most_chars: int = MOST_KEPT_CHARS) -> None:
        self._most = most_chars
        self._chars = 0
        self._kept: dict[RefKey, KeptResolution] = {}
        self.without: dict[RelativePath, tuple[Stamp, Keys]] = {}
        """What files were found not to hold when they had this stamp."""

    def of(self, ref: Ref) -> KeptResolution | None:
        """The cached resolution of a ref."""
        return self._kept.get(_key(ref))

    def keep(self, ref: Ref, stamp: Stamp | None, found: Resolution) -> None:
        """Keep what became of the lines of a ref, if a stamp can tell whether it still holds."""
        if stamp is None:
            return
        if self._chars > self._most:
            self._kept, self._chars = {}, 0
        self._kept[_key(ref)] = KeptResolution(stamp, found)
        # The code is held twice: as it is, and as it is shown.
        self._chars += ENTRY_CHARS + 2 * len(found.excerpt or "")


@frozen
class PackAccess:
    """What every use case of packs works with: the packs, and the code that their refs are about."""

    store: PackStore
    tree: SourceTree
    clock: Clock
    max_source_bytes: int = MOST_SOURCE_BYTES
    memory: RefMemory = field(factory=RefMemory, eq=False, repr=False)
    """What earlier calls found out."""
    syntax: Syntax = field(factory=NoSyntax, repr=False)
    excerpts: ExcerptStore = field(factory=NoExcerptStore, repr=False)

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


def _key(ref: Ref) -> RefKey:
    """What the resolution of a ref depends on."""
    digest = None if ref.anchor is None else ref.anchor.digest
    return ref.path.value, ref.lines.start, ref.lines.end, digest


@define
class Resolver:
    """Finds the code of refs for one call."""

    tree: SourceTree
    max_bytes: int
    check: Check = unwatched
    memory: RefMemory = field(factory=RefMemory)
    syntax: Syntax = field(factory=NoSyntax)
    monotonic: Callable[[], float] = lambda: 0.0
    expected: Sequence[Ref] = ()
    excerpts: ExcerptStore = field(factory=NoExcerptStore)
    anchored_texts: dict[str, str] = field(factory=dict, init=False)
    """The text of every anchor that was made, by its digest."""
    _found: dict[RefKey, Resolution] = field(factory=dict, init=False)
    _recalled: dict[int, Resolution] = field(factory=dict, init=False)
    """What earlier calls found out about refs of this one, by their identity, where that still holds."""
    _texts: OrderedDict[RelativePath, SourceText | Reason] = field(factory=OrderedDict, init=False)
    _chars: int = field(default=0, init=False)
    _read: int = field(default=0, init=False)
    _names: FileNames | None = field(default=None, init=False)

    @classmethod
    def over(cls, access: PackAccess, check: Check, refs: Iterable[Ref] = ()) -> Resolver:
        """A resolver for one call that is about these refs; it reads every file anew."""
        parts = (access.memory, access.syntax, access.clock.monotonic, list(refs), access.excerpts)
        return cls(access.tree, access.max_source_bytes, check, *parts)

    def recalling(self) -> Resolver:
        """Look, all at once, which files of the refs are as they were in an earlier call; read the others."""
        kept = [(ref, found) for ref in self.expected if (found := self.memory.of(ref)) is not None]
        stamps = {ref.path: found.stamp for ref, found in kept}
        self.check()
        same = self.tree.unchanged(stamps) if stamps else ()
        unchanged = {path: stamps[path] for path in same}
        self._recalled = {
            id(ref): found.resolution for ref, found in kept if found.stamp == unchanged.get(ref.path)
        }
        self.fetch(ref.path for ref in self.expected if id(ref) not in self._recalled)
        return self

    def unchanged(self, stamps: Mapping[RelativePath, Stamp]) -> bool:
        """Whether all of these files are as they were."""
        self.check()
        return len(self.tree.unchanged(stamps)) == len(stamps)

    def proof(self) -> Mapping[RelativePath, Stamp] | None:
        """The files that prove the state of every ref of the call; None if it takes more than those."""
        stamps: dict[RelativePath, Stamp] = {}
        for ref in self.expected:
            kept = self.memory.of(ref)
            if kept is None or stamps.setdefault(ref.path, kept.stamp) != kept.stamp:
                return None
            # What another thread keeps meanwhile may be of another state of the file.
            given = self._recalled.get(id(ref))
            if given is not kept.resolution and (given is not None or self._stamp(ref.path) != kept.stamp):
                return None
        return stamps

    def __call__(self, ref: Ref) -> Resolution:
        """Find the ref's code and its state."""
        found = self._recalled.get(id(ref))
        if found is None and self._found:
            found = self._found.get(_key(ref))
        found = found or self._at_home(ref)
        if found is None:
            self._search(ref)
            found = self._found[_key(ref)]
        return found

    def checked(self, pack: Pack) -> tuple[Checked, ...]:
        """Every ref of a pack with what became of its code, in stored order."""
        return tuple(Checked(section, ref, self(ref)) for section, ref in pack.refs)

    def _at_home(self, ref: Ref) -> Resolution | None:
        """The resolution within the ref's own file; None if the rest of the tree must be searched."""
        text = self.text(ref.path)
        if isinstance(text, Reason):
            return None if text is Reason.MISSING and ref.anchor is not None else unreadable(text)
        found = in_file(ref, text)
        if found is not None:
            self.memory.keep(ref, text.stamp, found)
        return found

    def _search(self, ref: Ref) -> None:
        """Look in the tree for every ref of the call whose file does not have its text."""
        asked = [
            each
            for each in dict.fromkeys([ref, *self.expected])
            if _key(each) not in self._found and id(each) not in self._recalled
        ]
        self.fetch(each.path for each in asked)
        homes = {
            each: (each.anchor, self._home(each))
            for each in asked
            if each.anchor is not None and self._at_home(each) is None
        }
        wanted = [
            (each, not isinstance(home, Text) or named(anchor, home) is None)
            for each, (anchor, home) in homes.items()
        ]
        elsewhere = self._tree_search().elsewhere(wanted)
        for each, (anchor, home) in homes.items():
            found = beyond(each, anchor, home, elsewhere[each])
            self._found[_key(each)] = self._compared(each, anchor, found, elsewhere[each].text)

    def _compared(self, ref: Ref, anchor: Anchor, found: Resolution, text: str | None) -> Resolution:
        """The resolution with its diff, if the anchored text is known."""
        if found.state is not State.CHANGED or text is None or found.excerpt is None or found.found is None:
            return found
        language = language_of(str(found.found.path))
        head = None if anchor.symbol is None else anchor.symbol.signature
        old = ComparedText(text, str(ref.path), ref.lines.start, head)
        new = ComparedText(found.excerpt, str(found.found.path), found.found.lines.start, found.signature)
        change = difference(old, new, lambda part: self._without_comments(language, part))
        return evolve(found, difference=change)

    def _without_comments(self, language: str, text: str) -> str:
        spans = self.syntax.spans(language, text) if self.syntax.knows(language) else None
        for start, end in reversed(spans.comments) if isinstance(spans, Spans) else ():
            text = text[:start] + text[end:]
        return text

    def _tree_search(self, seconds: float = SEARCH_SECONDS) -> TreeSearch:
        """A search that ends in time."""
        end, most = self.monotonic() + seconds, self._read + SEARCH_CHARS
        return TreeSearch(
            self.names(),
            self.texts,
            lambda: self.monotonic() <= end and self._read <= most,
            self.syntax,
            self._without(),
            self._note_without,
            self.excerpts.texts,
        )

    def names(self) -> FileNames:
        """The files of the tree, from one walk."""
        if self._names is None:
            self._names = self.tree.names()
        return self._names

    def parsed(self, path: RelativePath) -> Text | Reason:
        """A file with its definitions."""
        text = self.text(path)
        return text if isinstance(text, Reason) else Text(path, text, self._definitions(path, text))

    def defining(self, name: str) -> tuple[Sequence[Text], bool]:
        """The files that hold the parts of a name and can be parsed, and whether all were looked at."""
        search = self._tree_search(NAMED_SECONDS)
        return [text for text, _ in search.defining([name])], search.complete

    def names_like(self, name: str) -> set[str]:
        """Names of definitions in files with words like this one; those words too if the time was over."""
        search, last = self._tree_search(), name_parts(name)[-1]
        files = search.words_like(last)
        words = close(last, files)
        paths = {path for word in words for path in files[word]}
        found = {each for text, _ in search.defining(words, paths) for each in text.names}
        return found if search.complete else {*found, *words}

    def _without(self) -> dict[RelativePath, Keys]:
        """The texts that unchanged files are known not to contain."""
        known = dict(self.memory.without)
        same = self.tree.unchanged({path: stamp for path, (stamp, _) in known.items()}) if known else ()
        return {path: known[path][1] for path in same}

    def _note_without(self, files: Iterable[Unheld], keys: Keys) -> None:
        kept = self.memory.without
        for path, stamp in files:
            known = kept.get(path)
            if stamp is None or (known is None and len(kept) >= MOST_FILES):
                continue
            more = known is not None and known[0] == stamp and len(known[1]) < MOST_KEYS
            kept[path] = (stamp, keys | known[1] if known is not None and more else keys)

    def _home(self, ref: Ref) -> Text | Reason:
        text = self.text(ref.path)
        if isinstance(text, Reason):
            return text
        parsed = ref.anchor is not None and (ref.anchor.symbol or ref.anchor.beside)
        return Text(ref.path, text, self._definitions(ref.path, text) if parsed else ())

    def anchored(self, ref: Ref) -> Ref:
        """The ref with an anchor of its lines as they are now; without one when they cannot be read."""
        text = self.text(ref.path)
        if not isinstance(text, SourceText):
            return evolve(ref, anchor=None)
        ref = evolve(ref, anchor=anchor_of(text, ref.lines, self._definitions(ref.path, text)))
        if ref.anchor is not None:
            excerpt = text.cut(ref.lines.start, ref.lines.end) or ""
            self.anchored_texts[ref.anchor.digest] = excerpt
            place = CodeLocation(ref.path, ref.lines)
            found = self._found[_key(ref)] = Resolution(State.EXACT, place, None, excerpt)
            self.memory.keep(ref, text.stamp, found)
        return ref

    def _definitions(self, path: RelativePath, text: SourceText) -> Sequence[Definition]:
        language = language_of(path.value)
        return self.syntax.parse(language, text.text).definitions if self.syntax.knows(language) else ()

    def text(self, path: RelativePath) -> SourceText | Reason:
        """The text of a file, read once while it is kept."""
        self.check()
        kept = self._texts.get(path)
        if kept is not None:
            return kept
        return self._taken(path, self.tree.read(path, self.max_bytes))

    def _stamp(self, path: RelativePath) -> Stamp | None:
        text = self._texts.get(path)
        return text.stamp if isinstance(text, SourceText) else None

    def fetch(self, paths: Iterable[RelativePath]) -> None:
        """Read files that will be asked for, quicker than one by one, as far as they are kept until then."""
        most = self._read + MOST_TEXT_CHARS // 2
        for _ in self.texts(dict.fromkeys(paths), keep=True, listed=False):
            if self._read > most:
                return

    def texts(
        self, paths: Iterable[RelativePath], keep: bool, listed: bool = True
    ) -> Iterator[tuple[RelativePath, SourceText | Reason]]:
        """The text of each of these different files of `names`, read in one go where it is not kept."""
        asked = list(paths)
        kept = list(map(self._texts.get, asked))
        new = [path for path, text in zip(asked, kept, strict=True) if text is None]
        reading = self.tree.read_all(new, self.max_bytes, listed)
        for path, text in zip(asked, kept, strict=True):
            self.check()
            yield path, self._taken(path, next(reading), keep) if text is None else text

    def _taken(
        self, path: RelativePath, read: SourceFile | Unreadable, keep: bool = True
    ) -> SourceText | Reason:
        """A file that was read, as it is kept for the rest of the call if it is."""
        text = read.reason if isinstance(read, Unreadable) else SourceText(read.text, read.stamp)
        size = _weight(text)
        self._read += size
        if keep:
            self._texts[path] = text
            self._chars += size
            while self._chars > MOST_TEXT_CHARS and len(self._texts) > 1:
                self._chars -= _weight(self._texts.popitem(last=False)[1])
        return text


def _weight(text: SourceText | Reason) -> int:
    return len(text.text) if isinstance(text, SourceText) else 0
