"""The last revisions of packs: kept by a store around the store, and compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from context_pack.kernel.classes import frozen
from context_pack.kernel.errors import Code, Failure
from context_pack.packs.domain.model import Listed, Pack
from context_pack.packs.domain.revisions import Step, steps_between
from context_pack.packs.ports import PackHistory, PackStore, Waiting, patiently
from context_pack.packs.usecases.commands import Diff
from context_pack.packs.usecases.naming import located


@frozen
class Compared:
    """Two revisions of a pack and what changed from one to the other."""

    pack: Pack
    old: int
    new: int
    steps: tuple[Step, ...]


@frozen
class RememberingStore:
    """A `PackStore` that keeps each revision which another one stores."""

    inner: PackStore
    history: PackHistory

    def get(self, pack_id: str) -> Pack:
        """As the other says."""
        return self.inner.get(pack_id)

    def find(self, name: str) -> Pack:
        """As the other says."""
        return self.inner.find(name)

    def all(self) -> Sequence[Pack]:
        """As the other says."""
        return self.inner.all()

    def summaries(self) -> Sequence[Listed]:
        """As the other says."""
        return self.inner.summaries()

    def create(self, make: Callable[[str], Pack], name: str | None, waiting: Waiting = patiently) -> Pack:
        """As the other does, and keep the first revision."""
        return self._kept(self.inner.create(make, name, waiting))

    def update(self, pack_id: str, change: Callable[[Pack], Pack], waiting: Waiting = patiently) -> Pack:
        """As the other does, and keep the new revision; the old one too, if it was made elsewhere."""
        before: list[Pack] = []

        def changed(pack: Pack) -> Pack:
            before.append(pack)
            return change(pack)

        after = self.inner.update(pack_id, changed, waiting)
        if before and before[-1].revision != after.revision:
            self.history.keep(before[-1], after)
        return after

    def delete(self, pack_id: str, check: Callable[[Pack], None], waiting: Waiting = patiently) -> None:
        """As the other does, and forget every revision."""
        self.inner.delete(pack_id, check, waiting)
        self.history.forget(pack_id)

    def expired(self, trashed: bool = True) -> Sequence[Pack]:
        """As the other says."""
        return self.inner.expired(trashed)

    def restore(self, handle: str, change: Callable[[Pack], Pack], waiting: Waiting = patiently) -> Pack:
        """As the other does, and keep the new revision."""
        return self._kept(self.inner.restore(handle, change, waiting))

    def _kept(self, pack: Pack) -> Pack:
        self.history.keep(pack)
        return pack


def compared(store: PackStore, history: PackHistory, command: Diff) -> Compared:
    """What changed between two revisions: the last two, or from one to the present, or between two.

    Raises:
        Failure: `not_found` for a revision that is not kept; `details.revisions` names those that are.
    """
    pack = located(store, command)
    kept = sorted({*history.revisions(pack.id), pack.revision})
    earlier = [revision for revision in kept if revision < pack.revision]
    new = pack.revision if command.to_revision is None else command.to_revision
    old = command.from_revision if command.from_revision is not None else (earlier[-1] if earlier else new)

    def at(revision: int) -> Pack:
        found = pack if revision == pack.revision else history.get(pack.id, revision)
        if found is None:
            words = f"revision {revision} of the pack is not kept; there are {', '.join(map(str, kept))}"
            raise Failure(Code.NOT_FOUND, words, {"revision": revision, "revisions": kept})
        return found

    return Compared(pack, old, new, tuple(steps_between(at(old), at(new))))
