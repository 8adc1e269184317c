"""What the actions of `input` answer that make, change, check or compare packs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from context_pack.kernel.classes import frozen
from context_pack.kernel.instants import format_instant
from context_pack.kernel.ports import Clock
from context_pack.kernel.ttl import remaining_seconds
from context_pack.packs.domain.model import Pack
from context_pack.packs.domain.record import to_record
from context_pack.packs.domain.states import repair_record, state_record
from context_pack.packs.usecases import commands
from context_pack.packs.usecases.cases import PackUseCases

if TYPE_CHECKING:
    from context_pack.packs.usecases.plans import Part
    from context_pack.packs.usecases.verify import Repaired
    from context_pack.packs.usecases.write import WrittenRef

Payload = dict[str, Any]
LINE_CHARS = 200
"""How much of a line is told of what was anchored."""


@frozen
class ActionAnswers:
    """Carries out actions of one call."""

    cases: PackUseCases
    clock: Clock
    check: Callable[[], None]

    def of(self, command: Any, operations: Sequence[Any]) -> Payload:
        """The answer of an action; `operations` are those of a batch."""
        match command:
            case commands.Create():
                return to_record(self.cases.writer.create(command, self.check), anchors=False)
            case commands.Draft():
                drafted = self.cases.drafter.draft(command, self.check)
                return {**to_record(drafted.pack, anchors=False), "tokens": drafted.tokens, **drafted.notes}
            case commands.Batch():
                written = self.cases.writer.apply(command, operations, self.check)
                parts = zip(written.parts, written.pointed, strict=True)
                return self._mutation(written.pack, [_part_record(part, pointed) for part, pointed in parts])
            case commands.SetStatus():
                return self._mutation(self.cases.writer.set_status(command, self.check), None)
            case commands.DeletePack():
                return {"id": self.cases.writer.delete(command, self.check), "deleted": True}
            case commands.Verify():
                return self._verify(command)
            case commands.Diff():
                return self._diff(command)
            case commands.Repair():
                return self._repaired(self.cases.verifier.repair(command, self.check), "repaired")
            case commands.Accept():
                return self._repaired(self.cases.verifier.accept(command, self.check), "accepted")
        written = self.cases.writer.apply(command, command, self.check)
        return self._mutation(written.pack, _part_record(written.parts[0], written.pointed[0]))

    def _verify(self, command: commands.Verify) -> Payload:
        verified = self.cases.verifier.verify(command, self.check)
        refs = [state_record(checked) for checked in verified.refs]
        return {"id": verified.pack.id, "revision": verified.pack.revision, "refs": refs}

    def _diff(self, command: commands.Diff) -> Payload:
        found = self.cases.reader.diff(command)
        steps = [
            {"what": step.what, "part": step.part, "name": step.name, "details": step.details}
            for step in found.steps
        ]
        return {"id": found.pack.id, "from": found.old, "to": found.new, "changes": steps}

    def _repaired(self, repaired: Repaired, name: str) -> Payload:
        refs = [repair_record(checked) for checked in repaired.refs]
        return {**self._mutation(repaired.pack, None), name: refs}

    def _mutation(self, pack: Pack, changed: Any) -> Payload:
        """The answer of every change."""
        return {
            "id": pack.id,
            "name": pack.name,
            "title": pack.title,
            "status": pack.status.value,
            "revision": pack.revision,
            "updated_at": format_instant(pack.updated_at),
            "expires_at": format_instant(pack.expires_at),
            "ttl_remaining_seconds": remaining_seconds(pack.expires_at, self.clock.now()),
            "changed": changed,
        }


def _part_record(part: Part | None, pointed: WrittenRef | None) -> Payload | None:
    """A section, ref or diagram as it now is; None when it is gone.

    A ref comes with what it points at: where, the first and last line there, and perhaps a warning.
    """
    if part is None or pointed is None:
        return None if part is None else to_record(part, anchors=False)
    found, excerpt = pointed.resolution.found, pointed.resolution.excerpt
    lines = [] if excerpt is None else excerpt.split("\n")
    record = {
        **to_record(part, anchors=False),
        "state": pointed.resolution.state.value,
        "found": found and to_record(found),
        "first_line": lines[0][:LINE_CHARS] if lines else None,
        "last_line": lines[-1][:LINE_CHARS] if lines else None,
    }
    return record if pointed.warning is None else {**record, "warning": pointed.warning}
