"""Where the code of refs is now: given refs and a source tree, the state of each.

The only calls of the pack feature to `SourceTree`; what a file says about a ref is decided in the domain. A
file is read once per call. What its own file said about a ref is kept from call to call, and used only after
a look, in the same call, at whether the file is unchanged; code found in another file is never kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import NamedTuple

from attrs import define, evolve, field

from context_pack.kernel.lines import LineRange
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import FileNames, Reason, SourceTree, Stamp, Unreadable
from context_pack.packs.domain.anchors import Anchor, anchor_of
from context_pack.packs.domain.model import Ref
from context_pack.packs.domain.places import MOST_PLACES, identical
from context_pack.packs.domain.source import SourceText
from context_pack.packs.domain.states import Found, Resolution, elsewhere, resolve, unreadable

MOST_SAME_NAMED = 2_000
"""Files of one name that are searched; there are hundreds of `__init__.py` in an ordinary project."""
MOST_TEXT_CHARS = 64 * 1024 * 1024
"""How much text one call keeps, and how much of the files of one name is searched."""
MOST_KEPT_CHARS, ENTRY_CHARS = 16 * 1024 * 1024, 1_024
"""How much is kept from call to call, and what an entry of it weighs besides its code."""

Check = Callable[[], None]
"""Returns while the caller still wants the answer, raises when not."""


def unwatched() -> None:
    """A check for callers that never withdraw."""


class Kept(NamedTuple):
    """What became of a ref when its file had this stamp."""

    stamp: Stamp
    resolution: Resolution


class Memory:
    """What files said about refs, kept from call to call; when it is full, it begins anew.

    Worth it by `benches/side_by_side/render.py`: with it, "again" and "one edited" are within 3 times reading
    the files, without it 7 times and more. Safe to share between threads: what is lost is found out again.
    """

    def __init__(self, most_chars: int = MOST_KEPT_CHARS) -> None:
        self._most = most_chars
        self._chars = 0
        self._kept: dict[tuple[RelativePath, LineRange, Anchor | None], Kept] = {}

    def of(self, ref: Ref) -> Kept | None:
        """What is kept about the lines of a ref."""
        return self._kept.get((ref.path, ref.lines, ref.anchor))

    def keep(self, ref: Ref, kept: Kept) -> None:
        """Keep what became of the lines of a ref."""
        if self._chars > self._most:
            self._kept, self._chars = {}, 0
        self._kept[ref.path, ref.lines, ref.anchor] = kept
        # The code is held twice: as it is, and as it is shown.
        self._chars += ENTRY_CHARS + 2 * len(kept.resolution.excerpt or "")


@define
class Resolver:
    """Finds the code of refs for one call."""

    tree: SourceTree
    max_bytes: int
    check: Check = unwatched
    memory: Memory = field(factory=Memory)
    _unchanged: dict[RelativePath, Stamp] = field(factory=dict, init=False)
    _texts: OrderedDict[RelativePath, SourceText | Reason] = field(factory=OrderedDict, init=False)
    _stamps: dict[RelativePath, Stamp | None] = field(factory=dict, init=False)
    _chars: int = field(default=0, init=False)
    _names: FileNames | None = field(default=None, init=False)

    def expect(self, refs: Iterable[Ref]) -> Resolver:
        """Look, all at once, which files of these refs are as they were in an earlier call."""
        kept = [(ref.path, found.stamp) for ref in refs if (found := self.memory.of(ref)) is not None]
        stamps = dict(kept)
        self.check()
        self._unchanged = {path: stamps[path] for path in self.tree.unchanged(stamps)} if stamps else {}
        return self

    def __call__(self, ref: Ref) -> Resolution:
        """What became of the ref's code."""
        kept = self.memory.of(ref)
        if kept is not None and kept.stamp == self._unchanged.get(ref.path):
            return kept.resolution
        text = self._text(ref.path)
        if isinstance(text, SourceText):
            return self._noted(ref, resolve(ref, text))
        if text is not Reason.MISSING or ref.anchor is None:
            return unreadable(text)
        return self._elsewhere(ref.anchor, ref.path.name)

    def anchored(self, ref: Ref) -> Ref:
        """The ref with an anchor of its lines as they are now; without one when they cannot be read."""
        text = self._text(ref.path)
        if not isinstance(text, SourceText):
            return evolve(ref, anchor=None)
        ref = evolve(ref, anchor=anchor_of(text, ref.lines))
        self._noted(ref, resolve(ref, text))
        return ref

    def _noted(self, ref: Ref, resolution: Resolution) -> Resolution:
        """Keep what was found out for the next call, if the file can tell then whether it holds."""
        stamp = self._stamps.get(ref.path)
        if stamp is not None:
            self.memory.keep(ref, Kept(stamp, resolution))
        return resolution

    def _elsewhere(self, anchor: Anchor, name: str) -> Resolution:
        """Look for code whose file is gone in the other files of that name."""
        if self._names is None:
            self._names = self.tree.names()
        paths = self._names.named(name)
        complete = self._names.complete and len(paths) <= MOST_SAME_NAMED
        hits: list[tuple[Found, str]] = []
        left = MOST_TEXT_CHARS
        for path in paths[:MOST_SAME_NAMED]:
            text = self._text(path)
            left -= _weight(text)
            if left < 0:
                return elsewhere(hits, complete=False)
            if isinstance(text, SourceText) and len(hits) <= MOST_PLACES:
                places = identical(anchor, text)
                complete = complete and places.complete
                hits += [(Found(path, lines), places.excerpt) for lines in places.ranges]
        return elsewhere(hits, complete)

    def _text(self, path: RelativePath) -> SourceText | Reason:
        """The text of a file, read once while it is kept."""
        self.check()
        kept = self._texts.get(path)
        if kept is not None:
            return kept
        read = self.tree.read(path, self.max_bytes)
        text = read.reason if isinstance(read, Unreadable) else SourceText(read.text)
        self._stamps[path] = None if isinstance(read, Unreadable) else read.stamp
        self._texts[path] = text
        self._chars += _weight(text)
        while self._chars > MOST_TEXT_CHARS and len(self._texts) > 1:
            self._chars -= _weight(self._texts.popitem(last=False)[1])
        return text


def _weight(text: SourceText | Reason) -> int:
    return len(text.text) if isinstance(text, SourceText) else 0
