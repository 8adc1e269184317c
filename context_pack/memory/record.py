"""`context_record`: what a call may ask, and the use cases: record, list, forget, accept, import a note."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve, frozen

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.paths import MAX_PATH_BYTES as PATH_CHARS
from context_pack.kernel.ports import Clock
from context_pack.memory.discovery import (
    LEAST_CHARS,
    MODULE_CHARS,
    MOST_CHARS,
    SYMBOL_CHARS,
    CodePlace,
    Discovery,
    DiscoveryType,
    clean,
    id_of,
    is_id,
    parse_lines,
)
from context_pack.memory.notes import Note
from context_pack.memory.ports import CodePlaces, DiscoveryStore, Recorded, SessionLog
from context_pack.toolkit.arguments import arg, choice, text

ACTION = choice("record", "list", "forget")


@frozen
class ContextRecord:
    """The arguments of `context_record`."""

    type: str = arg(choice(*DiscoveryType), "What it is")
    content: str = arg(text(LEAST_CHARS, MOST_CHARS), "What was found out")
    module: str | None = arg(text(0, MODULE_CHARS), "Its module", default=None)
    id: str | None = arg(text(1, 100), "Correct this discovery", default=None)
    supersedes: str | None = arg(text(1, 100), "Discovery it replaces", default=None)
    path: str | None = arg(text(0, PATH_CHARS), "File it is about", default=None)
    lines: str | None = arg(text(0, 30), "Its lines, as 10-20", default=None)
    symbol: str | None = arg(text(0, SYMBOL_CHARS), "Or a definition", default=None)
    action: str = arg(ACTION, "record", default="record")


@frozen
class ListDiscoveries:
    """The arguments of `context_record` with the action `list`."""

    type: str | None = arg(choice(*DiscoveryType), "Only such", default=None)
    module: str | None = arg(text(0, MODULE_CHARS), "Only this module", default=None)
    action: str = arg(ACTION, "list", default="list")


@frozen
class ForgetDiscovery:
    """The arguments of `context_record` with the action `forget`."""

    id: str = arg(text(1, 100), "Discovery to forget")
    action: str = arg(ACTION, "forget", default="forget")


COMMANDS: Mapping[str, type] = {
    "record": ContextRecord,
    "list": ListDiscoveries,
    "forget": ForgetDiscovery,
}
OWN_ONLY = "it was recorded in another session; a person may remove it with 'context-pack memory forget'"


@frozen
class Recorder:
    """Records discoveries in the name of a session."""

    store: DiscoveryStore
    sessions: SessionLog
    clock: Clock
    places: CodePlaces

    def record(self, command: ContextRecord) -> Recorded:
        """Store a discovery; one in the same words is merged.

        With an `id` that discovery says this from now on; one that is superseded stays, and says by what.

        Raises:
            Failure: `invalid_data` for a text out of bounds, or what the store raises.
        """
        said = self._discovery(command)
        if command.id is not None:
            if command.supersedes is not None:
                raise invalid("'id' and 'supersedes' cannot both be given; leave one out", "supersedes")
            changed = self.store.change(self._meant(command.id), lambda known: known.corrected(said))
            return Recorded(changed, merged=True)
        if command.supersedes is None:
            return self.store.record(said)
        superseded = self._meant(command.supersedes)
        if superseded == said.id:
            raise invalid("a discovery cannot supersede itself; say it in other words", "supersedes")
        old = self.store.change(superseded, lambda known: known)  # before anything is kept
        recorded = self.store.record(said)
        self.store.change(old.id, lambda known: evolve(known, superseded_by=recorded.discovery.id))
        return recorded

    def own(self, command: ListDiscoveries) -> list[Discovery]:
        """What this session has recorded, the newest first."""
        return [
            each
            for each in reversed(self.store.all())
            if each.session == self.sessions.id
            and command.type in (None, each.type.value)
            and (command.module or None) in (None, each.module)
        ]

    def forget_own(self, command: ForgetDiscovery) -> str:
        """Remove what this session has recorded; its id.

        Raises:
            Failure: `not_found`, or `invalid_data` for what was there before this session.
        """
        meant = self._meant(command.id)
        known = self.store.change(meant, lambda known: known)
        if known.session != self.sessions.id:
            raise invalid(OWN_ONLY, "id")
        self.store.forget(meant)
        return meant

    def forget(self, discovery_id: str) -> Discovery | None:
        """Remove any discovery and return it, or None when its file was malformed."""
        return self.store.forget(self._meant(discovery_id))

    def accept(self, discovery_id: str) -> Discovery:
        """Anchor a discovery anew where its code is found now: it was read, and still holds.

        Raises:
            Failure: `not_found`, `invalid_data` for one about no code, or `stale_ref` where that is gone.
        """
        known = self.store.change(self._meant(discovery_id), lambda known: known)
        if known.code is None:
            raise invalid("the discovery is about no code; there is nothing to accept", "id")
        (state,) = self.places.states([known.code])
        if state.path is None or state.lines is None:
            raise Failure(Code.STALE_REF, f"the code is not found: {state.reason or state.state}")
        place = evolve(
            self.places.anchored(state.path, parse_lines(state.lines), None), symbol=known.code.symbol
        )
        return self.store.change(known.id, lambda stored: evolve(stored, code=place))

    def of_note(self, note: Note, module: str | None = None) -> ContextRecord:
        """What records a note: with the code that it names, where that is there."""
        for path, lines, symbol in note.places:
            try:
                self.places.anchored(path, None if lines is None else parse_lines(lines), symbol)
            except Failure:
                continue
            return ContextRecord(note.type.value, note.content, module, None, None, path, lines, symbol)
        return ContextRecord(note.type.value, note.content, module)

    def _meant(self, text: str) -> str:
        """The id that begins so; a whole id is its own."""
        if is_id(text):
            return text
        ids = [each.id for each in self.store.all() if each.id.startswith(text.lower())]
        if len(ids) > 1:
            raise invalid("several discoveries begin so; write more of the id", "id")
        if not ids:
            words = "no discovery has that id; 'context-pack memory list' shows them"
            raise Failure(Code.NOT_FOUND, words, {"id": text})
        return ids[0]

    def _code(self, command: ContextRecord) -> CodePlace | None:
        """The code that the discovery is about, anchored."""
        if command.path is command.lines is command.symbol is None:
            return None
        if command.lines is not None and command.symbol is not None:
            raise invalid("'lines' and 'symbol' cannot both be given; leave one out", "symbol")
        lines = None if command.lines is None else parse_lines(command.lines)
        return self.places.anchored(command.path, lines, command.symbol)

    def _discovery(self, command: ContextRecord) -> Discovery:
        content, now = clean(command.content), self.clock.now()
        return Discovery(
            id=id_of(content),
            type=DiscoveryType(command.type),
            content=content,
            module=command.module,
            session=self.sessions.id,
            date=now,
            last_seen=now,
            code=self._code(command),
        )
