"""Changing packs: create, edit, set the status, delete.

Order of checks, always: arguments, pack found, revision, state, content. Arguments are planned before the
store is asked; files are read before its lock is taken; under the lock there is only a pure function, and
its first question is whether the caller still wants the change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from attrs import evolve, frozen

from context_pack.kernel.errors import Failure, invalid
from context_pack.kernel.times import expiry
from context_pack.packs import values
from context_pack.packs.changes import (
    advanced,
    check_editable,
    check_has_content,
    rename,
    untrustworthy,
)
from context_pack.packs.claims import places_note
from context_pack.packs.commands import (
    MOST_OPERATIONS,
    Create,
    DeletePack,
    Operation,
    PackAtRevision,
    Rename,
    SetStatus,
    TouchTtl,
)
from context_pack.packs.listing import located
from context_pack.packs.model import FIRST, Diagram, Pack, Ref, Section, Status
from context_pack.packs.plans import Part, changed, checked, optional_line, part_of, pointed, warning_of
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
        name = None if command.name is None else values.new_name(command.name)
        title = optional_line(command.title, "title")
        brief = optional_line(command.brief, "brief")
        tags = values.tags(command.tags or ())
        now = self.clock.now()
        expires_at = expiry(now, command.ttl_minutes)

        def make(pack_id: str) -> Pack:
            check()
            return Pack(
                id=pack_id,
                name=name,
                title=title,
                brief=brief,
                status=Status.DRAFT,
                tags=tags,
                revision=FIRST,
                created_at=now,
                updated_at=now,
                expires_at=expires_at,
            )

        return self.store.create(make, name, check)

    def set_status(self, command: SetStatus, check: Check = never_cancelled) -> Pack:
        """Finalize or reopen; a pack that already has the status stays as it is.

        Raises:
            Failure: `invalid_state` for an empty pack, `stale_ref` with every ref that cannot be relied on.
        """
        finalize = command.status == Status.FINALIZED
        pack = located(self.store, command)
        pack.check_revision(command.expected_revision)
        if pack.status == command.status:
            return pack
        after = self._finalized(pack, check) if finalize else evolve(pack, status=Status.DRAFT)

        def change(stored: Pack) -> Pack:
            check()
            stored.check_revision(command.expected_revision)
            # The revision is the one looked at above, and so is the content.
            return advanced(stored, after, self.clock.now())

        return self.store.update(pack.id, change, check)

    def restore(self, handle: str, ttl_minutes: int, check: Check = never_cancelled) -> Pack:
        """Bring an expired pack back for so many minutes, by id or name.

        Raises:
            Failure: `not_found`, or `name_conflict` where a live pack has its name by now.
        """
        now = self.clock.now()
        expires_at = expiry(now, ttl_minutes)
        return self.store.restore(
            handle.strip(), lambda pack: advanced(pack, evolve(pack, expires_at=expires_at), now), check
        )

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
        pack_id = located(self.store, command).id

        digests: set[str] = set()

        def agreed(pack: Pack) -> None:
            check()
            pack.check_revision(command.expected_revision)
            digests.update(pack.digests)

        self.store.delete(pack_id, agreed, check)
        self.forget_excerpts(digests)
        return pack_id

    def _finalized(self, pack: Pack, check: Check) -> Pack:
        """The pack with its refs checked, and those without an anchor anchored."""
        check_has_content(pack)
        resolver = Resolver.over(self, check, (ref for _, ref in pack.refs))
        problems = [problem_record(one) for one in resolver.checked(pack) if not one.resolution.trusted]
        if problems:
            raise untrustworthy(problems)
        sections = [
            evolve(
                section,
                refs=[ref if ref.anchor is not None else resolver.anchored(ref) for ref in section.refs],
            )
            for section in pack.sections
        ]
        self.excerpts.put(resolver.anchored_texts)
        return evolve(pack, sections=sections, status=Status.FINALIZED)

    def apply(
        self, target: PackAtRevision, asked: Operation | Sequence[Operation], check: Check = never_cancelled
    ) -> WrittenPack:
        """Carry out one operation, or a batch of them as one change: all or nothing, one revision.

        Plan, look at the pack, read the files, then one read-modify-write: revision, state, content.

        Raises:
            Failure: of a batch, as the failed operation by itself, with its place in `details.index`.
        """
        batch = isinstance(asked, list | tuple)
        operations = asked if isinstance(asked, list | tuple) else [asked]
        if not 1 <= len(operations) <= MOST_OPERATIONS:
            raise invalid(f"'operations' must have 1 to {MOST_OPERATIONS} items", "operations")
        operations = for_each(operations, checked, batch)

        def check_open(pack: Pack) -> None:
            pack.check_revision(target.expected_revision)
            for_each(operations, lambda each: check_editable(pack, touches=isinstance(each, TouchTtl)), batch)

        pack = located(self.store, target)
        check_open(pack)  # before a file is read: what a refused change points at is neither told nor kept
        resolver = Resolver.over(self, check)
        refs = for_each(operations, lambda each: pointed(each, resolver), batch)
        self.excerpts.put(resolver.anchored_texts)
        named: set[str] = set()

        def change(pack: Pack) -> Pack:
            check()
            check_open(pack)
            named.update(pack.digests)
            now, steps = self.clock.now(), [pack]
            for_each(
                list(zip(operations, refs, strict=True)),
                lambda each: steps.append(changed(steps[-1], each[0], now, each[1])),
                batch,
            )
            touches = any(isinstance(each, TouchTtl) for each in operations)
            return advanced(pack, steps[-1], now, always=touches)

        pack = self.store.update(pack.id, change, check)
        self.forget_excerpts(named - pack.digests)
        parts = [part_of(pack, each) for each in operations]
        diagrams = [part for part in parts if isinstance(part, Diagram)]
        faults = {
            id(diagram): f"the diagram is stored, but cannot be drawn: {fault}"
            for diagram, fault in zip(diagrams, self._faults(diagrams), strict=True)
            if fault is not None
        }
        written = []
        for part, operation in zip(parts, operations, strict=True):
            warning = faults.get(id(part))
            if isinstance(part, Section) and operation.section_description:
                warning = places_note(pack, part)
            written.append(_written(part, resolver, warning))
        return WrittenPack(pack, tuple(written))

    def rename(self, command: Rename, check: Check = never_cancelled) -> Pack:
        """Give a section or a ref another key.

        Raises:
            Failure: `not_found`, `invalid_data` for a key that is taken, and what a change raises.
        """

        def change(pack: Pack) -> Pack:
            check()
            pack.check_revision(command.expected_revision)
            check_editable(pack)
            after = rename(pack, command.section_key, command.ref_key, command.new_key)
            return advanced(pack, after, self.clock.now())

        return self.store.update(located(self.store, command).id, change, check)

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


def _written(part: Part | None, resolver: Resolver, warning: str | None) -> WrittenPart | None:
    """A part with what it points at; of lines that are as they were anchored there is nothing to warn."""
    if not isinstance(part, Ref):
        return None if part is None else WrittenPart(part, warning=warning)
    found = resolver(part)
    return WrittenPart(part, found, None if found.state is State.EXACT else warning_of(part, resolver))


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
