"""`context_record`: what a call may ask, and the recording itself."""

from __future__ import annotations

from attrs import evolve, frozen

from context_pack.kernel.errors import invalid
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
    parse_lines,
)
from context_pack.memory.ports import CodePlaces, DiscoveryStore, Recorded, SessionLog
from context_pack.toolkit.arguments import arg, choice, text


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
            return Recorded(self.store.change(command.id, lambda known: known.corrected(said)), merged=True)
        if command.supersedes is None:
            return self.store.record(said)
        if command.supersedes == said.id:
            raise invalid("a discovery cannot supersede itself; say it in other words", "supersedes")
        old = self.store.change(command.supersedes, lambda known: known)  # before anything is kept
        recorded = self.store.record(said)
        self.store.change(old.id, lambda known: evolve(known, superseded_by=recorded.discovery.id))
        return recorded

    def rehearse(self, command: ContextRecord) -> Recorded:
        """What `record` would leave, without keeping it; fails where it would."""
        return self.store.rehearse(self._discovery(command))

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
