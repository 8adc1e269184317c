"""Packs and discoveries of the other worktrees of the same git repository: read, never written.

Git keeps a folder for each linked worktree in the common directory; that folder names the worktree's `.git`
file, and that file names the folder. A tree counts only where the two name each other: what a stranger's
project says of places that are not its own is not believed, and so nothing outside can be read by it. The
index of another tree is not shared: it is made from that tree's files, and searching ours finds ours.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

from attrs import evolve

from context_pack.kernel.errors import Code, Failure, clip
from context_pack.kernel.ports import Clock
from context_pack.kernel.times import is_expired
from context_pack.memory.discovery import Discovery
from context_pack.memory.ports import DiscoveryStore
from context_pack.packs.model import Pack
from context_pack.packs.ports import ExcerptStore, PackStore
from context_pack_adapters.files.folder import Folder
from context_pack_adapters.files.opening import Place
from context_pack_adapters.memory.discoveries import DiscoveryFiles
from context_pack_adapters.packs.excerpts import FileExcerptStore
from context_pack_adapters.packs.pack_files import PackFiles
from context_pack_adapters.packs.store import refusal

T = TypeVar("T", bound=Pack | Discovery)

MOST_TREES = 50
MOST_BYTES = 8192


class OtherTree(NamedTuple):
    """A worktree: what it is called, and its storage."""

    name: str
    storage: Place


class OtherTrees:
    """The other worktrees of the repository that a project is in."""

    def __init__(self, source_root: str, storage: Place, clock: Clock) -> None:
        self._source_root, self._storage, self.clock = os.path.abspath(source_root), storage, clock
        self._top = cache(lambda: _repository_of(self._source_root))
        self.pack_files = lru_cache(MOST_TREES)(lambda place: PackFiles(Folder(place).below("packs")))
        self.discoveries = lru_cache(MOST_TREES)(DiscoveryFiles)

    def __iter__(self) -> Iterator[OtherTree]:
        """Each with its storage at the same place below it; none where packs are kept outside the project."""
        top = self._top()
        if top is None or self._storage.top != self._source_root:
            return
        below = os.path.relpath(self._source_root, top)
        inside = () if below == "." else tuple(below.split(os.sep))
        for name, tree in _trees(top):
            yield OtherTree(clip(name), Place(tree, (*inside, *self._storage.inside)))


def _repository_of(folder: str) -> str | None:
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def _trees(top: str) -> Iterator[tuple[str, str]]:
    """The name and folder of every other worktree of a repository, the main one first."""
    common = os.path.join(os.path.realpath(top), ".git")
    if os.path.islink(common):
        return
    if not os.path.isdir(common):
        entry = _entry_of(top)
        if entry is None or not _same(_tree_of(entry), top):
            return
        common = os.path.dirname(os.path.dirname(entry))
        main = os.path.dirname(common)
        if os.path.basename(common) == ".git":
            yield os.path.basename(main), main
    entries = os.path.join(common, "worktrees")
    with suppress(OSError):
        for name in sorted(Folder(entries).names())[:MOST_TREES]:
            entry = os.path.join(entries, name)
            tree = _tree_of(entry)
            # A link below the common directory would be another repository's entry, with trees of its own.
            if os.path.realpath(entry) == entry == _entry_of(tree) and not _same(tree, top):
                yield name, tree


def _entry_of(tree: str) -> str | None:
    """The folder in the common directory that a worktree's `.git` file names."""
    words = _line(tree, ".git")
    entry = os.path.realpath(os.path.join(tree, words.removeprefix("gitdir: ")))
    is_entry = words.startswith("gitdir: ") and os.path.basename(os.path.dirname(entry)) == "worktrees"
    return entry if is_entry else None


def _tree_of(entry: str) -> str:
    """The worktree that an entry names; relative to itself where git was told so (2.48)."""
    return os.path.dirname(os.path.normpath(os.path.join(entry, _line(entry, "gitdir"))))


def _line(folder: str, name: str) -> str:
    """What a small regular file says in its one line; nothing if it cannot be read."""
    try:
        return Folder(folder).read(name, MOST_BYTES)[0].decode("utf-8").rstrip("\n")
    except (OSError, ValueError):
        return ""


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


class _StoreOfAllTrees(Generic[T]):
    """What stores share that also read other worktrees; what is in several is the own one."""

    def __init__(self, own: Any, trees: OtherTrees) -> None:
        self._own, self._trees = own, trees

    def _stored(self, storage: Place) -> tuple[Sequence[T], Failure | None]:
        """What another tree's storage holds, and what of it cannot be read."""
        raise NotImplementedError

    def all(self) -> Sequence[T]:
        """Everything of the own tree, and what can be read of the others."""
        own: Sequence[T] = self._own.all()
        return [*own, *self._others(own)[0]]

    def readable(self) -> tuple[Sequence[T], Failure | None]:
        """All that can be read, the own first, and the failure of what cannot."""
        own, failure = self._own.readable()
        others, trouble = self._others(own)
        return [*own, *others], failure or trouble

    def _others(self, own: Iterable[T]) -> tuple[list[T], Failure | None]:
        ids, values, troubles = {each.id for each in own}, list[T](), []
        for tree in self._trees:
            try:
                found, failure = self._stored(tree.storage)
            except Failure as caught:
                found, failure = (), caught
            if failure is not None:
                troubles.append(f"in worktree {tree.name}: {failure.message}")
            new = [each for each in found if each.id not in ids]
            ids |= {each.id for each in new}
            values += (evolve(each, worktree=tree.name) for each in new)
        return values, Failure(Code.UNAVAILABLE, "; ".join(troubles)) if troubles else None


class PacksOfAllTrees(_StoreOfAllTrees[Pack]):
    """A `PackStore` that also reads the packs of other worktrees."""

    def __init__(self, own: PackStore, trees: OtherTrees) -> None:
        super().__init__(own, trees)
        self.create, self.update, self.delete = own.create, own.update, own.delete
        self.expired, self.discard, self.restore = own.expired, own.discard, own.restore

    def get(self, pack_id: str) -> Pack:
        """The live pack with that id, of the own tree or of another."""
        return self._found(self._own.get, "id", pack_id)

    def find(self, name: str) -> Pack:
        """The live pack with that name, of the own tree or of another."""
        return self._found(self._own.find, "name", name)

    def _found(self, own: Callable[[str], Pack], field: str, value: str) -> Pack:
        try:
            return own(value)
        except Failure as failure:
            if failure.code is not Code.NOT_FOUND:
                raise
            packs, trouble = self._others(())
            for pack in packs:
                if getattr(pack, field) == value:
                    return pack
            if trouble is None:
                raise
            raise Failure(failure.code, f"{failure.message}; {trouble.message}", failure.details) from None

    def _stored(self, storage: Place) -> tuple[Sequence[Pack], Failure | None]:
        packs, broken = self._trees.pack_files(storage).all()
        now = self._trees.clock.now()
        return [pack for pack in packs if not is_expired(pack.expires_at, now)], (
            refusal(broken) if broken else None
        )


class ExcerptsOfAllTrees:
    """An `ExcerptStore` that also reads the texts of other worktrees."""

    def __init__(self, own: ExcerptStore, trees: OtherTrees) -> None:
        self._own, self._trees = own, trees
        self.put, self.remove, self.idle = own.put, own.remove, own.idle

    def texts(self, digests: Collection[str]) -> Mapping[str, str]:
        """The texts with these digests."""
        texts = dict(self._own.texts(digests))
        if texts.keys() < set(digests):
            for tree in self._trees:
                missing = set(digests) - texts.keys()
                texts |= FileExcerptStore(tree.storage, self._trees.clock).texts(missing)
        return texts


class DiscoveriesOfAllTrees(_StoreOfAllTrees[Discovery]):
    """A `DiscoveryStore` that also reads the discoveries of other worktrees."""

    def __init__(self, own: DiscoveryStore, trees: OtherTrees) -> None:
        super().__init__(own, trees)
        self.record, self.change, self.forget = own.record, own.change, own.forget

    def _stored(self, storage: Place) -> tuple[Sequence[Discovery], Failure | None]:
        return self._trees.discoveries(storage).readable()
