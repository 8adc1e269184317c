"""Changing packs: create, edit, set the status, delete.

Order of checks, always: arguments, pack found, revision, state, content. Files are read before the store's
lock is taken; under the lock there is only a pure function, and its first question is whether the caller
still wants the change. Since it asks for the revision again, what was looked at before is what is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from attrs import evolve, frozen

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.times import expiry
from context_pack.packs.changes import (
    advanced,
    check_editable,
    check_has_content,
    new_pack,
    rename,
    untrustworthy,
)
from context_pack.packs.claims import places_note
from context_pack.packs.commands import (
    MOST_OPERATIONS,
    Create,
    DeletePack,
    NamedPack,
    PackAtRevision,
    Rename,
    SetStatus,
)
from context_pack.packs.definitions import warning_of
from context_pack.packs.listing import located
from context_pack.packs.model import Diagram, Pack, Ref, Section, Status
from context_pack.packs.operations import Operation, Part, UpsertSection
from context_pack.packs.ports import DiagramCheck
from context_pack.packs.resolving import PackAccess, Resolver
from context_pack.packs.states import Resolution, State, problem_record
from context_pack.toolkit.call import Check, never_cancelled

T = TypeVar("T")
R = TypeVar("R")


class DiagramFault(NamedTuple):
    """A diagram that cannot be drawn, and why."""

    section: str
    diagram: str
    fault: str


@frozen
class WrittenPart:
    """A part as it now is; of a ref, what it points at; and what is wrong with it, if anything."""

    part: Part
    resolution: Resolution | None = None
    warning: str | None = None


@frozen
class WrittenPack:
    """A pack after a change, and the parts that each operation was about; None for one that is gone."""

    pack: Pack
    parts: tuple[WrittenPart | None, ...] = ()


@frozen
class PackWriter(PackAccess):
    """Makes and changes packs; with a `diagram_check` it says which diagrams cannot be drawn."""

    diagram_check: DiagramCheck | None = None

    def create(self, command: Create, check: Check = never_cancelled) -> Pack:
        """Make a new draft; its name must be free among live packs."""
        words = {"title": command.title, "brief": command.brief, "tags": command.tags}
        pack = new_pack(self.clock.now(), command.ttl_minutes, command.name, **words)
        check()
        return self.store.create(lambda pack_id: evolve(pack, id=pack_id), pack.name, check)

    def set_status(self, command: SetStatus, check: Check = never_cancelled) -> Pack:
        """Finalize or reopen; a pack that already has the status stays as it is.

        Raises:
            Failure: `invalid_state` for an empty pack, `stale_ref` with every ref that cannot be relied on.
        """
        pack = self._seen(command)
        if pack.status == command.status:
            return pack
        finalize = command.status == Status.FINALIZED
        after = self._finalized(pack, check) if finalize else evolve(pack, status=Status.DRAFT)
        return self.update(pack, lambda _: after, check)

    def restore(self, handle: str, ttl_minutes: int, check: Check = never_cancelled) -> Pack:
        """Bring an expired pack back for so many minutes, by id or name.

        Raises:
            Failure: `not_found`, or `name_conflict` where a live pack has its name by now.
        """
        now = self.clock.now()
        expires_at = expiry(now, ttl_minutes)
        handle = handle.strip()
        try:
            return self.store.restore(
                handle, lambda pack: advanced(pack, evolve(pack, expires_at=expires_at), now), check
            )
        except Failure as failure:
            if failure.code is Code.NOT_FOUND and self._is_live(handle):
                words = "that pack has not expired: it is there, and nothing is to be restored"
                raise Failure(failure.code, words, failure.details) from None
            raise

    def _is_live(self, handle: str) -> bool:
        try:
            located(self.store, NamedPack(id=handle))
        except Failure:
            return False
        return True

    def discard(self, handle: str, check: Check = never_cancelled) -> Pack:
        """Remove an expired pack for good, by id or name.

        Raises:
            Failure: `not_found`.
        """
        pack = self.store.discard(handle.strip(), check)
        self.forget_excerpts(pack.digests)
        return pack

    def delete(self, command: DeletePack, check: Check = never_cancelled) -> str:
        """Remove a pack; returns its id."""
        pack = self._seen(command)

        def agreed(stored: Pack) -> None:
            check()
            stored.check_revision(command.expected_revision)

        self.store.delete(pack.id, agreed, check)
        self.forget_excerpts(pack.digests)
        return pack.id

    def rename(self, command: Rename, check: Check = never_cancelled) -> Pack:
        """Give a section or a ref another key.

        Raises:
            Failure: `not_found`, `invalid_data` for a key that is taken, and what a change raises.
        """
        pack = self._seen(command)
        check_editable(pack)
        keys = command.section_key, command.ref_key, command.new_key
        return self.update(pack, lambda stored: rename(stored, *keys), check)

    def _seen(self, target: PackAtRevision) -> Pack:
        """The pack that is to be changed, if it is as the caller saw it."""
        pack = located(self.store, target)
        pack.check_revision(target.expected_revision)
        return pack

    def _finalized(self, pack: Pack, check: Check) -> Pack:
        """The pack with its refs checked, and those without an anchor anchored."""
        check_has_content(pack)
        resolver = Resolver.over(self, check, (ref for _, ref in pack.refs))
        problems = [problem_record(one) for one in resolver.checked(pack) if not one.resolution.trusted]
        if problems:
            raise untrustworthy(problems)
        sections = [
            evolve(section, refs=[ref if ref.anchor else resolver.anchored(ref) for ref in section.refs])
            for section in pack.sections
        ]
        self.excerpts.put(resolver.anchored_texts)
        return evolve(pack, sections=sections, status=Status.FINALIZED)

    def apply(
        self, target: PackAtRevision, asked: Operation | Sequence[Operation], check: Check = never_cancelled
    ) -> WrittenPack:
        """Carry out one operation, or a batch of them as one change: all or nothing, one revision.

        Raises:
            Failure: of a batch, as the failed operation by itself, with its place in `details.index`.
        """
        batch = not isinstance(asked, Operation)
        operations = [asked] if isinstance(asked, Operation) else asked
        if not 1 <= len(operations) <= MOST_OPERATIONS:
            raise invalid(f"'operations' must have 1 to {MOST_OPERATIONS} items", "operations")
        pack = self._seen(target)
        # Before a file is read: what a refused change points at is neither told nor kept.
        for_each(operations, lambda each: check_editable(pack) if each.edits else None, batch)
        resolver = Resolver.over(self, check)
        now = self.clock.now()
        changes = for_each(operations, lambda each: each.planned(resolver, now), batch)
        self.excerpts.put(resolver.anchored_texts)

        def change(stored: Pack) -> Pack:
            steps = [stored]
            for_each(changes, lambda each: steps.append(each(steps[-1])), batch)
            return steps[-1]

        pack = self.update(pack, change, check)
        parts = [each.part(pack) for each in operations]
        diagrams = [part for part in parts if isinstance(part, Diagram)]
        faults = dict(zip(map(id, diagrams), self._faults(diagrams), strict=True))

        def written(operation: Operation, part: Part | None) -> WrittenPart | None:
            if part is None:
                return None
            if isinstance(part, Ref):
                resolution = resolver(part)
                # Of lines that are as they were anchored there is nothing to warn.
                exact = resolution.state is State.EXACT
                return WrittenPart(part, resolution, None if exact else warning_of(part, resolver))
            warning = None
            if isinstance(part, Section) and isinstance(operation, UpsertSection):
                warning = places_note(pack, part) if operation.section_description else None
            elif fault := faults.get(id(part)):
                warning = f"the diagram is stored, but cannot be drawn: {fault}"
            return WrittenPart(part, warning=warning)

        return WrittenPack(pack, tuple(map(written, operations, parts)))

    def diagram_faults(self, pack: Pack) -> list[DiagramFault]:
        """Every diagram of the pack that cannot be drawn."""
        there = [(section.key, diagram) for section in pack.sections for diagram in section.diagrams]
        faults = self._faults([diagram for _, diagram in there])
        return [
            DiagramFault(section, diagram.key, fault)
            for (section, diagram), fault in zip(there, faults, strict=True)
            if fault is not None
        ]

    def _faults(self, diagrams: Sequence[Diagram]) -> Sequence[str | None]:
        if self.diagram_check is None or not diagrams:
            return [None] * len(diagrams)
        return self.diagram_check.faults([diagram.mermaid for diagram in diagrams])


def for_each(items: Sequence[T], do: Callable[[T], R], batch: bool = True) -> list[R]:
    """Call `do` with each item in order; in a batch, a failure names its operation."""
    done: list[R] = []
    for index, item in enumerate(items):
        try:
            done.append(do(item))
        except Failure as failure:
            if not batch or "index" in failure.details:
                raise
            message = f"operation {index}: {failure.message}"
            raise Failure(failure.code, message, {**failure.details, "index": index}) from None
    return done
