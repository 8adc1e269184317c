"""Refs against the source tree: a file is read once per call, for all refs into it, and then let go.

With sightings of earlier calls, a file that has not changed since is only looked at and not read. The only
calls of the pack feature to `SourceTree`; what a file says about a ref is decided in the domain.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence

from attrs import define, evolve, field

from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import FileNames, Reason, SourceTree, Stamp, Unreadable
from context_pack.packs.domain.anchors import anchor_of
from context_pack.packs.domain.model import Ref
from context_pack.packs.domain.source import SourceText
from context_pack.packs.domain.states import Hunt, Resolution, resolve, unreadable
from context_pack.packs.usecases.sightings import Sighting, Sightings

MOST_SAME_NAMED = 2_000
"""Files of one name that are searched; there are hundreds of `__init__.py` in an ordinary project."""
MOST_KEPT_CHARS = 64 * 1024 * 1024
MOST_HUNTED_CHARS = 4 * MOST_KEPT_CHARS
"""How much of the files of one name is searched."""

Check = Callable[[], None]
"""Returns while the caller still wants the answer, raises when not."""


def unwatched() -> None:
    """A check for callers that never withdraw."""


@define
class Resolver:
    """Finds the code of refs for one call; `refs` are all that it will be asked about, if they are known."""

    tree: SourceTree
    max_bytes: int
    check: Check = unwatched
    sightings: Sightings = field(factory=Sightings)
    refs: Sequence[Ref] = ()
    _resolved: dict[int, Resolution] | None = field(default=None, init=False)
    _asked: list[Ref] = field(factory=list, init=False)
    _by_path: dict[str, list[Ref]] = field(factory=dict, init=False)
    _texts: OrderedDict[RelativePath, SourceText | Reason] = field(factory=OrderedDict, init=False)
    _stamps: dict[RelativePath, Stamp | None] = field(factory=dict, init=False)
    _kept: int = field(default=0, init=False)
    _names: FileNames | None = field(default=None, init=False)

    def __call__(self, ref: Ref) -> Resolution:
        """What became of the ref's code."""
        if self._resolved is None:
            self._resolved = self._still_seen()
        self._asked.append(ref)
        found = self._resolved.get(id(ref))
        if found is None:
            self._resolve_all(ref, self._resolved)
            found = self._resolved[id(ref)]
        return found

    def anchored(self, ref: Ref) -> Ref:
        """The ref with an anchor of its lines as they are now; without one when they cannot be read."""
        text = self._text(ref.path)
        anchor = anchor_of(text, ref.lines) if isinstance(text, SourceText) else None
        ref = evolve(ref, anchor=anchor)
        if isinstance(text, SourceText) and anchor is not None:
            self._note(ref, resolve(ref, text))
        return ref

    def unchanged(self, sightings: Iterable[Sighting]) -> bool:
        """Whether every file is as it was sighted."""
        stamps = {sighting.ref.path: sighting.stamp for sighting in sightings}
        self.check()
        return len(self.tree.unchanged(stamps)) == len(stamps)

    def sighted(self) -> tuple[Sighting, ...] | None:
        """The sightings of everything that was asked; None if some of it cannot be seen again."""
        resolved = self._resolved or {}
        found = (self.sightings.of(ref) for ref in self._asked)
        # An older sighting of the same ref may be of another answer than the one that was given.
        known = tuple(one for one in found if one is not None and one.resolution is resolved[id(one.ref)])
        return known if len(known) == len(self._asked) else None

    def _still_seen(self) -> dict[int, Resolution]:
        """What earlier calls found out that still holds."""
        for ref in self.refs:
            self._by_path.setdefault(ref.path.value, []).append(ref)
        seen = [sighting for ref in self.refs if (sighting := self.sightings.of(ref)) is not None]
        stamps = {sighting.ref.path: sighting.stamp for sighting in seen}
        self.check()
        same = {path.value: stamps[path] for path in self.tree.unchanged(stamps)} if stamps else {}
        return {id(one.ref): one.resolution for one in seen if same.get(one.ref.path.value) == one.stamp}

    def _resolve_all(self, asked: Ref, resolved: dict[int, Resolution]) -> None:
        """Resolve a ref, and with it the others into its file, so that the file can be let go."""
        todo = [ref for ref in self._by_path.get(asked.path.value, (asked,)) if id(ref) not in resolved]
        text = self._text(asked.path, keep=not self.refs)
        for ref in todo:
            self.check()
            if isinstance(text, SourceText):
                resolved[id(ref)] = self._note(ref, resolve(ref, text))
            elif text is not Reason.MISSING or ref.anchor is None:
                resolved[id(ref)] = unreadable(text)
            elif id(ref) not in resolved:
                self._look_elsewhere(ref, resolved)

    def _note(self, ref: Ref, resolution: Resolution) -> Resolution:
        """Keep what was found out for the next call, if the file can tell then whether it holds."""
        stamp = self._stamps.get(ref.path)
        if stamp is not None:
            self.sightings.note(Sighting(ref, stamp, resolution))
        return resolution

    def _look_elsewhere(self, asked: Ref, resolved: dict[int, Resolution]) -> None:
        """Look for the ref's code in other files of the same name, each of which is read once.

        With it for the code of every ref whose file had that name and is gone too: a whole folder may have.
        """
        if self._names is None:
            self._names = self.tree.names()
        paths = self._names.named(asked.path.name)
        complete = self._names.complete and len(paths) <= MOST_SAME_NAMED
        there = set(paths)
        alike = [ref for ref in self.refs or (asked,) if ref.path.name == asked.path.name]
        hunts = {
            id(ref): Hunt(ref.anchor)
            for ref in alike
            if ref.anchor is not None and id(ref) not in resolved
            if ref.path == asked.path or (ref.path not in there and self._text(ref.path) is Reason.MISSING)
        }
        left = MOST_HUNTED_CHARS
        for path in paths[:MOST_SAME_NAMED]:
            text = self._text(path, keep=False)
            left -= _weight(text)
            if left < 0:
                complete = False
                break
            if isinstance(text, SourceText):
                for hunt in hunts.values():
                    self.check()
                    hunt.look(path, text)
        resolved.update((found, hunt.outcome(complete)) for found, hunt in hunts.items())

    def _text(self, path: RelativePath, *, keep: bool = True) -> SourceText | Reason:
        """The text of a file, read once while it is kept."""
        self.check()
        kept = self._texts.get(path)
        if kept is not None:
            self._texts.move_to_end(path)
            return kept
        read = self.tree.read(path, self.max_bytes)
        text = read.reason if isinstance(read, Unreadable) else SourceText(read.text)
        self._stamps[path] = None if isinstance(read, Unreadable) else read.stamp
        if keep:
            self._texts[path] = text
            self._kept += _weight(text)
            while self._kept > MOST_KEPT_CHARS and len(self._texts) > 1:
                self._kept -= _weight(self._texts.popitem(last=False)[1])
        return text


def _weight(text: SourceText | Reason) -> int:
    return len(text.text) if isinstance(text, SourceText) else 0
