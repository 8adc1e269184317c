"""Checks the state of every ref of a pack, and points refs at their moved code again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import evolve, frozen

from context_pack.kernel.errors import Code, Failure, clip, invalid
from context_pack.packs.anchors import digest_of
from context_pack.packs.changes import check_editable, put_ref, untrustworthy
from context_pack.packs.commands import Accept, NamedPack, PackAtRevision, Repair
from context_pack.packs.listing import located
from context_pack.packs.model import Pack, Ref
from context_pack.packs.resolving import PackAccess, Resolver
from context_pack.packs.states import Checked, Resolution, State, problem_record
from context_pack.toolkit.call import Check, never_cancelled


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
    """A pack after refs of it were pointed at their code again, and those refs as they were before."""

    pack: Pack
    refs: tuple[Checked, ...]


@frozen
class PackVerifier(PackAccess):
    """Compares packs with the source tree."""

    def verify(self, named: NamedPack, check: Check = never_cancelled) -> Verified:
        """The state of every ref; changes nothing."""
        pack = located(self.store, named)
        resolver = Resolver.over(self, check, (ref for _, ref in pack.refs))
        return Verified(pack, resolver.checked(pack))

    def repair(self, command: Repair, check: Check = never_cancelled) -> Repaired:
        """Point refs whose code moved at it again, and anchor those anew that changed only cosmetically."""
        return self._rewritten(command, check, lambda found: found.state is State.MOVED or found.cosmetic)

    def accept(self, command: Accept, check: Check = never_cancelled) -> Repaired:
        """Anchor changed refs anew where they are found now: those that are named, or all of them.

        Raises:
            Failure: `not_found` for a ref that is not there, `stale_ref` for one whose code is not found.
        """
        return self._rewritten(command, check, lambda found: found.state is State.CHANGED, command.refs)

    def _rewritten(
        self,
        command: PackAtRevision,
        check: Check,
        wants: Callable[[Resolution], bool],
        names: Sequence[str] | None = None,
    ) -> Repaired:
        """Point the refs that are wanted, or those of these names, at where they are found."""
        pack = located(self.store, command)
        pack.check_revision(command.expected_revision)
        check_editable(pack)
        resolver = Resolver.over(self, check, (ref for _, ref in pack.refs))
        done: list[Checked] = []
        after = pack
        checked = resolver.checked(pack)
        wanted = [one for one in checked if wants(one.resolution)]
        for one in wanted if names is None else _named(checked, names):
            ref = _followed(one, resolver)
            if ref is not None:
                done.append(one)
                after = put_ref(after, one.section.key, ref)
        self.excerpts.put(resolver.anchored_texts)
        return Repaired(self.update(pack, lambda _: after, check), tuple(done))


def _named(checked: Sequence[Checked], names: Sequence[str]) -> list[Checked]:
    """The refs of these names, each a key or `section/key`; each must mean one whose code is found."""
    chosen: set[int] = set()
    for name in names:
        found = [
            place
            for place, one in enumerate(checked)
            if name in (one.ref.key, f"{one.section.key}/{one.ref.key}")
        ]
        if len(found) > 1:
            raise invalid(f"'{clip(name)}' is in several sections; say section/ref", "refs")
        if not found:
            words = f"the pack has no ref '{clip(name)}'; get the pack to see its keys"
            raise Failure(Code.NOT_FOUND, words, {"ref": clip(name)})
        chosen.update(found)
    refs = [checked[place] for place in sorted(chosen)]
    lost = [problem_record(one) for one in refs if one.resolution.found is None]
    if lost:
        raise untrustworthy(lost)
    return refs


def _followed(one: Checked, resolver: Resolver) -> Ref | None:
    """The ref at the place where its code was found; None if it is where it was, or no longer there."""
    found, excerpt = one.resolution.found, one.resolution.excerpt
    if one.resolution.state not in (State.MOVED, State.CHANGED) or found is None or excerpt is None:
        return None
    ref = resolver.anchored(evolve(one.ref, path=found.path, lines=found.lines))
    return ref if ref.anchor is not None and ref.anchor.digest == digest_of(excerpt) else None
