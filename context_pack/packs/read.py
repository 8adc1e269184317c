"""Reading a pack whole or as a page, comparing its revisions, checking its refs and following their code."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import evolve, field, frozen

from context_pack.kernel.errors import Code, Failure, clip, invalid
from context_pack.packs.anchors import digest_of
from context_pack.packs.changes import Step, check_editable, put_ref, steps_between, untrustworthy
from context_pack.packs.commands import Accept, Diff, NamedPack, PackAtRevision, RenderPack, Repair
from context_pack.packs.listing import located
from context_pack.packs.model import Pack
from context_pack.packs.ports import PackHistory
from context_pack.packs.render import Bookmark, Mode, Rendered, render
from context_pack.packs.resolving import PackAccess, Resolver
from context_pack.packs.states import Checked, Resolution, State, problem_record
from context_pack.toolkit.call import Check, never_cancelled

WITHOUT_END = 10**12
"""A token budget that no pack exceeds."""


@frozen
class Compared:
    """Two revisions of a pack and what changed from one to the other."""

    pack: Pack
    old: int
    new: int
    steps: tuple[Step, ...]


@frozen
class PackReader(PackAccess):
    """Reads live packs."""

    history: PackHistory | None = field(default=None, repr=False)

    def get(self, named: NamedPack) -> Pack:
        """The pack."""
        return located(self.store, named)

    def diff(self, command: Diff) -> Compared:
        """What changed between two revisions: to the present unless named, from the last kept before that.

        Raises:
            Failure: `not_found` for a revision that is not kept; `details.revisions` names those that are.
        """
        pack = self.get(command)
        history = self.history
        kept = sorted({*(history.revisions(pack.id) if history else ()), pack.revision})
        new = pack.revision if command.to_revision is None else command.to_revision
        old = command.from_revision
        if old is None:
            old = max((revision for revision in kept if revision < new), default=new)

        def at(revision: int) -> Pack:
            if revision == pack.revision:
                return pack
            former = None if history is None else history.get(pack.id, revision)
            if former is None:
                words = f"revision {revision} of the pack is not kept; there are {', '.join(map(str, kept))}"
                raise Failure(Code.NOT_FOUND, words, {"revision": revision, "revisions": kept})
            return former

        return Compared(pack, old, new, tuple(steps_between(at(old), at(new))))

    def render(self, command: RenderPack, check: Check = never_cancelled) -> Rendered:
        """A page of the pack with its code.

        Raises:
            Failure: `invalid_state` when the pack has another status than asked for, `revision_conflict` when
                it has changed since the page that the cursor came from.
        """
        mark = None if command.cursor is None else Bookmark.decode(command.cursor)
        if mark is not None and command.id is None and command.name is None:
            command = evolve(command, id=mark.pack_id)
        pack = located(self.store, command)
        mode, at = Mode(command.mode or (mark.mode if mark else Mode.FULL)), (0, 0)
        if mark is not None:
            mark.check(pack)
            at = mark.item, mark.line
            if mode is not mark.mode:
                words = "'mode' is not that of the cursor; leave it out, or start without cursor"
                raise invalid(words, "mode")
        if command.status not in (None, pack.status):
            words = f"the pack is {pack.status}, not {command.status}; ask for {pack.status} or leave it out"
            details = {"status": pack.status.value, "required": command.status}
            raise Failure(Code.INVALID_STATE, words, details)
        return self._rendered(pack, mode, command.max_tokens, at, check)

    def document(self, named: NamedPack, mode: str = Mode.FULL) -> str:
        """The whole pack as one Markdown text, however long."""
        if mode not in set(Mode):
            raise invalid(f"'mode' must be one of: {', '.join(Mode)}", "mode")
        return self._rendered(self.get(named), Mode(mode), WITHOUT_END).text

    def _rendered(
        self,
        pack: Pack,
        mode: Mode,
        tokens: int,
        at: tuple[int, int] = (0, 0),
        check: Check = never_cancelled,
    ) -> Rendered:
        resolver = Resolver.over(self, check, (ref for _, ref in pack.refs))
        return render(pack, resolver, self.clock.now(), mode, tokens, at)


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
    lost: tuple[Checked, ...] = ()
    """The refs whose code was not found, so that they stay as they were."""


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
        checked = resolver.checked(pack)
        if names is None:
            chosen = [one for one in checked if wants(one.resolution)]
        else:
            chosen = _named(checked, names)
        done: list[Checked] = []
        after = pack
        for one in chosen:
            place, excerpt = one.resolution.found, one.resolution.excerpt
            if one.resolution.state not in (State.MOVED, State.CHANGED) or place is None or excerpt is None:
                continue
            ref = resolver.anchored(evolve(one.ref, path=place.path, lines=place.lines))
            # A file may have changed again between the search of the tree and this look at it.
            if ref.anchor is not None and ref.anchor.digest == digest_of(excerpt):
                done.append(one)
                after = put_ref(after, one.section.key, ref)
        self.excerpts.put(resolver.anchored_texts)
        lost = tuple(one for one in checked if one.resolution.found is None)
        return Repaired(self.update(pack, lambda _: after, check), tuple(done), lost)


def _named(checked: Sequence[Checked], names: Sequence[str]) -> list[Checked]:
    """The refs of these names, each a key or `section/key`; each must mean one whose code is found."""
    chosen: dict[str, Checked] = {}
    for name in names:
        same = [one for one in checked if name in (one.ref.key, f"{one.section.key}/{one.ref.key}")]
        if len(same) > 1:
            raise invalid(f"'{clip(name)}' is in several sections; say section/ref", "refs")
        if not same:
            words = f"the pack has no ref '{clip(name)}'; get the pack to see its keys"
            raise Failure(Code.NOT_FOUND, words, {"ref": clip(name)})
        chosen[f"{same[0].section.key}/{same[0].ref.key}"] = same[0]
    lost = [problem_record(one) for one in chosen.values() if one.resolution.found is None]
    if lost:
        raise untrustworthy(lost)
    return list(chosen.values())
