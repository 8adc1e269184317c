"""What the actions of `input` answer, as JSON; and how it is cut to a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from context_pack.kernel.ports import Clock
from context_pack.kernel.times import remaining_seconds
from context_pack.packs import commands
from context_pack.packs.claims import claims_of, doubts_of
from context_pack.packs.definitions import absent_files
from context_pack.packs.draft import PackDrafter
from context_pack.packs.listing import PackLister, listed
from context_pack.packs.model import Pack, Ref, Status
from context_pack.packs.read import PackReader, PackVerifier, Verified
from context_pack.packs.record import to_record
from context_pack.packs.resolving import Resolver
from context_pack.packs.states import COSMETIC, State, problem_record, repair_record, state_line
from context_pack.packs.write import PackWriter, WrittenPart
from context_pack.packs.write_text import WrittenText, counts_of, places_by_file, write_text
from context_pack.toolkit.budget import MORE, cut_text, fit, json_size, room_of, shrunk

Payload = dict[str, Any]
LINE_OF_CLAIM = 160
"""Bytes of a sentence in a line of `verify`."""
LINE_CHARS = 200
"""How much of a line is told of what was anchored."""
CHANGED = ("id", "name", "title", "status", "revision", "updated_at", "expires_at")
"""What every change answers of its pack."""


class PackUseCases(NamedTuple):
    """What is done with packs."""

    lister: PackLister
    reader: PackReader
    writer: PackWriter
    verifier: PackVerifier
    drafter: PackDrafter


def answer_of(
    cases: PackUseCases, clock: Clock, command: Any, operations: Sequence[Any], check: Callable[[], None]
) -> Payload:
    """The answer of an action; `operations` are those of a batch."""
    match command:
        case commands.Get():
            return to_record(cases.reader.get(command), anchors=False)
        case commands.ListPacks():
            return listed(cases.lister.list(command), clock.now())
        case commands.Create():
            return to_record(cases.writer.create(command, check), anchors=False)
        case commands.Write():
            return _text_record(cases, write_text(cases.writer, command, check), check)
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
            return verified_payload(verified, diagram_faults(cases, verified.pack))
        case commands.Diff():
            compared = cases.reader.diff(command)
            steps = [step._asdict() for step in compared.steps]
            return {"id": compared.pack.id, "from": compared.old, "to": compared.new, "changes": steps}
        case commands.Repair():
            repaired = cases.verifier.repair(command, check)
            return {**_mutation(repaired.pack, clock), "repaired": list(map(repair_record, repaired.refs))}
        case commands.Accept():
            repaired = cases.verifier.accept(command, check)
            body = {**_mutation(repaired.pack, clock), "accepted": list(map(repair_record, repaired.refs))}
            lost = [f"{one.section.key}/{one.ref.key} {one.resolution.word}" for one in repaired.lost]
            return {**body, "lost": lost} if lost else body
        case commands.Batch():
            written = cases.writer.apply(command, operations, check)
            return _mutation(written.pack, clock, list(map(_part_line, written.parts)))
    written = cases.writer.apply(command, command, check)
    return _mutation(written.pack, clock, _part_record(written.parts[0]))


def verified_lines(verified: Verified, faults: list[Payload]) -> Payload:
    """How many refs are in which state, and a line for each claim or ref that does not hold."""
    claims, bare = claims_of(verified.pack)
    states = {id(one.ref): one for one in verified.refs}
    rows = [
        f"{'; '.join(state_line(states[id(ref)]) for ref, _ in doubt.refs)}"
        f" | {cut_text(doubt.claim.text, LINE_OF_CLAIM)}"
        for doubt in doubts_of(claims, lambda ref: states[id(ref)].resolution)
    ]
    rows += [f"{state_line(one)}; repair accepts it" for one in verified.refs if one.resolution.cosmetic]
    counts = Counter(one.resolution.word for one in verified.refs)
    whole: Payload = {"id": verified.pack.id, "revision": verified.pack.revision}
    whole |= {word: counts[word] for word in (*State, COSMETIC) if counts[word]}
    optional = {"refs": rows, "without_code": bare, "diagrams": faults}
    return whole | {name: value for name, value in optional.items() if value}


def verified_payload(verified: Verified, faults: list[Payload]) -> Payload:
    """The refs that are not exact as records, with the sentences that rest on them: for commands."""
    claims, bare = claims_of(verified.pack)
    rows = []
    for one in verified.refs:
        if one.resolution.state is not State.EXACT:
            said = [claim.sentence for claim in claims if one.ref in claim.refs and claim.is_prose]
            rows.append({**problem_record(one), **({"claims": said} if said else {})})
    count = len(verified.refs)
    whole: Payload = {"id": verified.pack.id, "revision": verified.pack.revision, "count": count}
    whole |= {"exact": count - len(rows), "refs": rows, **({"without_code": bare} if bare else {})}
    return {**whole, "diagrams": faults} if faults else whole


def _text_record(cases: PackUseCases, written: WrittenText, check: Callable[[], None]) -> Payload:
    """What became of a text: its places by file, what was not found, and warnings; never the text."""
    pack = written.pack
    record = {**to_record(pack, ("id", "name", "revision"), anchors=False), **counts_of(pack)}
    resolver = Resolver.over(cases.writer, check, (ref for _, ref in pack.refs))
    record |= {"found": places_by_file(pack, resolver)}
    warnings = absent_files(pack, resolver)
    reanchored = list(map(state_line, written.reanchored))
    optional = {"reanchored": reanchored, "not_found": dict(written.faults), "warnings": warnings}
    return {**record, **{name: places for name, places in optional.items() if places}}


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
    record: Payload = to_record(written.part, anchors=False)
    if written.resolution is not None:
        found, excerpt = written.resolution.found, written.resolution.excerpt
        lines = [None] if excerpt is None else [line[:LINE_CHARS] for line in excerpt.split("\n")]
        record |= {"state": written.resolution.state.value, "found": found and to_record(found)}
        record |= {"first_line": lines[0], "last_line": lines[-1]}
    return record if written.warning is None else {**record, "warning": written.warning}


PAGED = {"verify": "refs", "diff": "changes"}
ROWS = {"list": "packs", **PAGED, "repair": "repaired", "accept": "accepted", "batch": "changed"}
"""The list of an answer that may be long."""
READ_ALL = 'output {"mode": "compact"} reads the pack page by page'
PARTS = ("sections", "refs")
BESIDE = 100
"""Room for the action and line breaks."""


def fitted(command: Any, payload: Payload, tokens: int) -> Payload:
    """The payload in so many tokens; whatever is left out can be read in another call."""
    action, room = command.action, room_of(tokens) - BESIDE
    rows = ROWS.get(action, "")
    if not isinstance(payload.get(rows), list):
        if json_size(payload) <= room:
            return payload
        small = shrunk(payload, room - 2 * len(READ_ALL))
        here, whole = _counts(small), _counts(payload)
        counts = zip(PARTS, here, whole, strict=True)
        fewer = [f"{some} of {every} {name}" for name, some, every in counts if some < every]
        words = f"{' and '.join(fewer)} are here" if fewer else "the ends of long texts are missing"
        return {MORE: f"{words}; {READ_ALL}", **small}

    def rest(end: int) -> str:
        if action not in ("list", *PAGED):
            return READ_ALL
        offset = end + (command.offset if action == "list" else 0)
        same = " and the same pack" if action in PAGED else ""
        return f'continue with input {{"action": "{action}", "offset": {offset}}}{same}'

    fitting = fit(payload, rows, room, rest, start=command.offset if action in PAGED else 0)
    if action == "list":
        count = len(fitting[rows])
        fitting |= {"count": count, "has_more": payload["has_more"] or count < payload["count"]}
    return fitting


def _counts(pack: Payload) -> tuple[int, int]:
    """How many sections and refs there are; of a written text only the number of sections is told."""
    sections = pack.get("sections", ())
    if not isinstance(sections, list):
        return 0, 0
    return len(sections), sum(len(section["refs"]) for section in sections)
