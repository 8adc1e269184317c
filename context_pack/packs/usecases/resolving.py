"""Refs against the source tree: files are read once per call and their texts kept while they may be needed.

The only calls of the pack feature to `SourceTree`; what a file says about a ref is decided in the domain.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from attrs import define, evolve, field

from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import FileNames, Reason, SourceTree, Unreadable
from context_pack.packs.domain.anchors import anchor_of
from context_pack.packs.domain.model import Ref
from context_pack.packs.domain.source import SourceText
from context_pack.packs.domain.states import Resolution, resolve, resolve_gone, unreadable

MOST_SAME_NAMED = 100
MOST_KEPT_CHARS = 64 * 1024 * 1024

Check = Callable[[], None]
"""Returns while the caller still wants the answer, raises when not."""


def unwatched() -> None:
    """A check for callers that never withdraw."""


@define
class Resolver:
    """Finds the code of refs for one call."""

    tree: SourceTree
    max_bytes: int
    check: Check = unwatched
    _texts: OrderedDict[RelativePath, SourceText | Reason] = field(factory=OrderedDict, init=False)
    _kept: int = field(default=0, init=False)
    _names: FileNames | None = field(default=None, init=False)

    def __call__(self, ref: Ref) -> Resolution:
        """What became of the ref's code."""
        text = self._text(ref.path)
        if isinstance(text, SourceText):
            return resolve(ref, text)
        if text is not Reason.MISSING or ref.anchor is None:
            return unreadable(text)
        return self._elsewhere(ref)

    def anchored(self, ref: Ref) -> Ref:
        """The ref with an anchor of its lines as they are now; without one when they cannot be read."""
        text = self._text(ref.path)
        anchor = anchor_of(text, ref.lines) if isinstance(text, SourceText) else None
        return evolve(ref, anchor=anchor)

    def _elsewhere(self, ref: Ref) -> Resolution:
        """The ref's code in another file of the same name."""
        if self._names is None:
            self._names = self.tree.names()
        paths = self._names.named(ref.path.name)
        found = []
        for path in paths[:MOST_SAME_NAMED]:
            text = self._text(path)
            if path != ref.path and isinstance(text, SourceText):
                found.append((path, text))
        return resolve_gone(ref, found, self._names.complete and len(paths) <= MOST_SAME_NAMED)

    def _text(self, path: RelativePath) -> SourceText | Reason:
        """The text of a file, read once while it is kept."""
        self.check()
        kept = self._texts.get(path)
        if kept is not None:
            self._texts.move_to_end(path)
            return kept
        read = self.tree.read(path, self.max_bytes)
        text = read.reason if isinstance(read, Unreadable) else SourceText(read.text)
        self._texts[path] = text
        self._kept += _weight(text)
        while self._kept > MOST_KEPT_CHARS and len(self._texts) > 1:
            self._kept -= _weight(self._texts.popitem(last=False)[1])
        return text


def _weight(text: SourceText | Reason) -> int:
    return len(text.text) if isinstance(text, SourceText) else 0
