"""The last revisions of packs, compared."""

from __future__ import annotations

from context_pack.kernel.classes import frozen
from context_pack.kernel.errors import Code, Failure
from context_pack.packs.domain.model import Pack
from context_pack.packs.domain.revisions import Step, steps_between
from context_pack.packs.ports import PackHistory, PackStore
from context_pack.packs.usecases.commands import Diff
from context_pack.packs.usecases.naming import located


@frozen
class Compared:
    """Two revisions of a pack and what changed from one to the other."""

    pack: Pack
    old: int
    new: int
    steps: tuple[Step, ...]


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
