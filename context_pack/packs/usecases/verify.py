"""Checking what packs promise: the state of every ref, and pointing moved refs at their code again."""

from __future__ import annotations

from attrs import evolve, field, frozen

from context_pack.kernel.ports import Clock, SourceTree
from context_pack.kernel.syntax import NoSyntax, Syntax
from context_pack.packs.domain.changes import advanced, check_editable, put_ref
from context_pack.packs.domain.model import Pack, Ref
from context_pack.packs.domain.states import Checked, State
from context_pack.packs.ports import ExcerptStore, NoExcerptStore, PackSettings, PackStore
from context_pack.packs.usecases.commands import Named, Repair
from context_pack.packs.usecases.naming import check_seen, located
from context_pack.packs.usecases.resolving import Check, Memory, Resolver, unwatched


@frozen
class Verified:
    """A pack and the state of each of its refs, in stored order."""

    pack: Pack
    refs: tuple[Checked, ...]

    @property
    def trusted(self) -> bool:
        """Whether every ref still finds the code it promises."""
        return all(checked.resolution.trusted for checked in self.refs)


@frozen
class Repaired:
    """A pack after its repair, and the refs that had moved, as they were before."""

    pack: Pack
    refs: tuple[Checked, ...]


@frozen
class PackVerifier:
    """Compares packs with the source tree."""

    store: PackStore
    tree: SourceTree
    clock: Clock
    settings: PackSettings = field(factory=PackSettings)
    memory: Memory = field(factory=Memory, eq=False, repr=False)
    syntax: Syntax = field(factory=NoSyntax, repr=False)
    excerpts: ExcerptStore = field(factory=NoExcerptStore, repr=False)

    def verify(self, named: Named, check: Check = unwatched) -> Verified:
        """The state of every ref; changes nothing."""
        pack = located(self.store, named)
        resolver = Resolver.over(self, check, (ref for _, ref in pack.refs)).recalling()
        return Verified(pack, _checked(pack, resolver))

    def repair(self, command: Repair, check: Check = unwatched) -> Repaired:
        """Rewrite path and lines of the moved refs, and nothing else."""
        pack = located(self.store, command)
        _check_draft(pack, command)
        resolver = Resolver.over(self, check, (ref for _, ref in pack.refs))
        moved: list[Checked] = []
        after = pack
        for one in _checked(pack, resolver):
            ref = _followed(one, resolver)
            if ref is not None:
                moved.append(one)
                after = put_ref(after, one.section.key, ref)

        self.excerpts.put(resolver.anchored_texts)

        def change(stored: Pack) -> Pack:
            check()
            _check_draft(stored, command)
            # The revision is the one looked at above, and so is the content.
            return advanced(stored, after, self.clock.now())

        return Repaired(self.store.update(pack.id, change, check), tuple(moved))


def _checked(pack: Pack, resolver: Resolver) -> tuple[Checked, ...]:
    return tuple(Checked(section, ref, resolver(ref)) for section, ref in pack.refs)


def _followed(one: Checked, resolver: Resolver) -> Ref | None:
    """The ref at the place its code has moved to; None if it has not, or is no longer there."""
    found = one.resolution.found
    if one.resolution.state is not State.MOVED or found is None:
        return None
    ref = resolver.anchored(evolve(one.ref, path=found.path, lines=found.lines))
    same = (
        ref.anchor is not None and one.ref.anchor is not None and ref.anchor.digest == one.ref.anchor.digest
    )
    return ref if same else None


def _check_draft(pack: Pack, command: Repair) -> None:
    check_seen(pack, command)
    check_editable(pack)
