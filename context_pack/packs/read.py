"""Reading a pack, whole or as a rendered page. Takes no lock and changes nothing."""

from __future__ import annotations

from attrs import evolve, field, frozen

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.packs.changes import Step, steps_between
from context_pack.packs.claims import Remark, remarks_on
from context_pack.packs.commands import Diff, NamedPack, RenderPack
from context_pack.packs.handover import markdown_of
from context_pack.packs.listing import located
from context_pack.packs.model import Pack, Status
from context_pack.packs.ports import PackHistory
from context_pack.packs.render import Bookmark, Mode, Rendered, render
from context_pack.packs.resolving import PackAccess, Resolver
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
            found = pack if revision == pack.revision else None
            if found is None and history is not None:
                found = history.get(pack.id, revision)
            if found is None:
                words = f"revision {revision} of the pack is not kept; there are {', '.join(map(str, kept))}"
                raise Failure(Code.NOT_FOUND, words, {"revision": revision, "revisions": kept})
            return found

        return Compared(pack, old, new, tuple(steps_between(at(old), at(new))))

    def render(self, command: RenderPack, check: Check = never_cancelled) -> Rendered:
        """A page of the pack with its code.

        Raises:
            Failure: `invalid_state` when the pack has another status than asked for, `revision_conflict` when
                it has changed since the page that the cursor came from.
        """
        wanted = None if command.status is None else Status(command.status)
        mode = None if command.mode is None else Mode(command.mode)
        mark = None if command.cursor is None else Bookmark.decode(command.cursor)
        if mark is not None and command.id is None and command.name is None:
            command = evolve(command, id=mark.pack_id)
        pack = located(self.store, command)
        at = (0, 0)
        if mark is not None:
            mark.check(pack)
            if mode is not None and mode is not mark.mode:
                raise invalid(
                    "'mode' is not that of the cursor; leave it out, or start without cursor", "mode"
                )
            at, mode = (mark.item, mark.line), mark.mode
        if wanted is not None and pack.status is not wanted:
            message = (
                f"the pack is {pack.status}, not {wanted}; ask for {pack.status} or leave the status out"
            )
            details = {"status": pack.status.value, "required": wanted.value}
            raise Failure(Code.INVALID_STATE, message, details)
        return self._rendered(pack, mode or Mode.FULL, command.max_tokens, at, check)

    def document(self, named: NamedPack, mode: str = Mode.FULL) -> str:
        """The whole pack as one Markdown text, however long."""
        return self._rendered(self.get(named), _mode(mode), WITHOUT_END).text

    def markdown(self, named: NamedPack) -> str:
        """The pack as a text that can be edited and written back."""
        return markdown_of(self.get(named))

    def lint(self, named: NamedPack) -> list[Remark]:
        """What whoever wrote the pack should look at again."""
        return remarks_on(self.get(named))

    def _rendered(
        self,
        pack: Pack,
        mode: Mode,
        tokens: int,
        at: tuple[int, int] = (0, 0),
        check: Check = never_cancelled,
    ) -> Rendered:
        """A page."""
        resolver = Resolver.over(self, check, (ref for _, ref in pack.refs))
        return render(pack, resolver, self.clock.now(), mode, tokens, at)


def _mode(value: str) -> Mode:
    try:
        return Mode(value)
    except ValueError:
        raise invalid(f"'mode' must be one of: {', '.join(Mode)}", "mode") from None
