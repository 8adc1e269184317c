"""What the actions of `input` answer that make, change, check or compare packs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from context_pack.kernel.ports import Clock
from context_pack.kernel.times import remaining_seconds
from context_pack.packs import commands
from context_pack.packs.cases import PackUseCases
from context_pack.packs.claims import claims_of, doubts_of
from context_pack.packs.model import Pack, Ref, Status
from context_pack.packs.record import to_record
from context_pack.packs.states import COSMETIC, State, repair_record, state_line, state_record
from context_pack.packs.verify import Verified
from context_pack.packs.write import WrittenPart
from context_pack.packs.write_text import WrittenText, counts_of, places_by_file, write_text
from context_pack.toolkit.budget import cut_text

Payload = dict[str, Any]
LINE_CHARS = 200
"""How much of a line is told of what was anchored."""
CHANGED = ("id", "name", "title", "status", "revision", "updated_at", "expires_at")
"""What every change answers of its pack."""


def answer_of(
    cases: PackUseCases, clock: Clock, command: Any, operations: Sequence[Any], check: Callable[[], None]
) -> Payload:
    """The answer of an action; `operations` are those of a batch."""
    match command:
        case commands.Create():
            return to_record(cases.writer.create(command, check), anchors=False)
        case commands.Write():
            return _text_record(write_text(cases.writer, command, check))
        case commands.Draft():
            drafted = cases.drafter.draft(command, check)
            return {**to_record(drafted.pack, anchors=False), "tokens": drafted.tokens, **drafted.notes}
        case commands.SetStatus():
            pack = cases.writer.set_status(command, check)
            faults = [] if pack.status is Status.DRAFT else diagram_faults(cases, pack)
            return {**_mutation(pack, clock), **({"diagrams": faults} if faults else {})}
        case commands.DeletePack():
            return {"id": cases.writer.delete(command, check), "deleted": True}
        case commands.Verify():
            verified = cases.verifier.verify(command, check)
            return _verified_record(verified, diagram_faults(cases, verified.pack))
        case commands.Diff():
            found = cases.reader.diff(command)
            steps = [step._asdict() for step in found.steps]
            return {"id": found.pack.id, "from": found.old, "to": found.new, "changes": steps}
        case commands.Repair():
            repaired = cases.verifier.repair(command, check)
            return {**_mutation(repaired.pack, clock), "repaired": list(map(repair_record, repaired.refs))}
        case commands.Accept():
            repaired = cases.verifier.accept(command, check)
            return {**_mutation(repaired.pack, clock), "accepted": list(map(repair_record, repaired.refs))}
        case commands.Batch():
            written = cases.writer.apply(command, operations, check)
            return _mutation(written.pack, clock, list(map(_part_line, written.parts)))
    written = cases.writer.apply(command, command, check)
    return _mutation(written.pack, clock, _part_record(written.parts[0]))


def _verified_record(verified: Verified, faults: list[Payload]) -> Payload:
    """How many refs are exact, and each that is not, with the sentences that rest on it."""
    claims, bare = claims_of(verified.pack)
    rows = []
    for one in verified.refs:
        if one.resolution.state is not State.EXACT:
            said = [claim.sentence for claim in claims if one.ref in claim.refs and one.ref.spellings]
            rows.append({**state_record(one), **({"claims": said} if said else {})})
    counts = {"count": len(verified.refs), "exact": len(verified.refs) - len(rows)}
    whole = {"id": verified.pack.id, "revision": verified.pack.revision, **counts, "refs": rows}
    whole |= {"without_code": bare} if bare else {}
    return {**whole, "diagrams": faults} if faults else whole


LINE_OF_CLAIM = 160
"""Bytes of a sentence in a line of `verify`."""


def verified_lines(verified: Verified, faults: list[Payload]) -> Payload:
    """How many refs are in which state, and one line for each claim or ref that does not hold."""
    claims, bare = claims_of(verified.pack)
    states = {id(one.ref): one.resolution for one in verified.refs}
    sections = {id(one.ref): one.section.key for one in verified.refs}
    doubts = doubts_of(claims, lambda ref: states[id(ref)])
    lines = []
    for doubt in doubts:
        refs = (state_line(sections[id(ref)], ref, found) for ref, found in doubt.refs)
        lines.append(f"{'; '.join(refs)} | {cut_text(doubt.claim.text, LINE_OF_CLAIM)}")
    lines += [
        f"{state_line(one.section.key, one.ref, one.resolution)}; repair accepts it"
        for one in verified.refs
        if one.resolution.cosmetic
    ]
    counts = Counter(found.word for found in states.values())
    whole = {
        "id": verified.pack.id,
        "revision": verified.pack.revision,
        "count": len(verified.refs),
        **{word: counts[word] for word in (*State, COSMETIC) if counts[word]},
        "claims": len(claims),
        "refs": lines,
    }
    whole |= {"without_code": bare} if bare else {}
    return {**whole, "diagrams": faults} if faults else whole


def _text_record(written: WrittenText) -> Payload:
    """What became of a text: its places by file, and what was not found; never the text."""
    pack = written.pack
    record = {**to_record(pack, ("id", "name", "revision"), anchors=False), **counts_of(pack)}
    record |= {"found": places_by_file(pack)}
    return {**record, "not_found": dict(written.faults)} if written.faults else record


def diagram_faults(cases: PackUseCases, pack: Pack) -> list[Payload]:
    return [fault._asdict() for fault in cases.writer.diagram_faults(pack)]


def _mutation(pack: Pack, clock: Clock, changed: Any = None) -> Payload:
    """The answer of every change."""
    left = remaining_seconds(pack.expires_at, clock.now())
    return {**to_record(pack, CHANGED, anchors=False), "ttl_remaining_seconds": left, "changed": changed}


def _part_line(written: WrittenPart | None) -> str | None:
    """A part that a batch wrote, in one line: its key, where a ref points, and what is wrong with it."""
    if written is None:
        return None
    line = written.part.key
    if isinstance(written.part, Ref):
        line = f"{line} {written.part.path}:{written.part.lines}"
    if written.resolution is not None and written.resolution.state is not State.EXACT:
        line = f"{line} {written.resolution.state}"
    return line if written.warning is None else f"{line}: {written.warning}"


def _part_record(written: WrittenPart | None) -> Payload | None:
    """A section, ref or diagram as it now is, perhaps with a warning; None when it is gone.

    A ref comes with what it points at: where, and the first and last line there.
    """
    if written is None:
        return None
    record = to_record(written.part, anchors=False)
    if written.resolution is None:
        return record if written.warning is None else {**record, "warning": written.warning}
    found, excerpt = written.resolution.found, written.resolution.excerpt
    lines = [] if excerpt is None else excerpt.split("\n")
    record |= {
        "state": written.resolution.state.value,
        "found": found and to_record(found),
        "first_line": lines[0][:LINE_CHARS] if lines else None,
        "last_line": lines[-1][:LINE_CHARS] if lines else None,
    }
    return record if written.warning is None else {**record, "warning": written.warning}
