"""`context_record`: what a call may ask, and the recording itself."""

from __future__ import annotations

from attrs import frozen

from context_pack.kernel.ports import Clock
from context_pack.memory.domain.discovery import (
    LEAST_CHARS,
    MODULE_CHARS,
    MOST_CHARS,
    Discovery,
    DiscoveryType,
    clean,
    id_of,
)
from context_pack.memory.ports import DiscoveryStore, Recorded, SessionLog
from context_pack.toolkit.arguments import arg, choice, text


@frozen
class ContextRecord:
    """The arguments of `context_record`."""

    type: str = arg(choice(*DiscoveryType), "What it is")
    content: str = arg(text(LEAST_CHARS, MOST_CHARS), "What was found out")
    module: str | None = arg(text(0, MODULE_CHARS), "Module it is about", default=None)


@frozen
class Recorder:
    """Records discoveries in the name of a session."""

    store: DiscoveryStore
    sessions: SessionLog
    clock: Clock

    def record(self, command: ContextRecord) -> Recorded:
        """Keep it; what was said before in the same words is merged.

        Raises:
            Failure: `invalid_data` for a text out of bounds, or what the store raises.
        """
        return self.store.record(self._discovery(command))

    def rehearse(self, command: ContextRecord) -> Recorded:
        """What `record` would leave, without keeping it; fails where it would."""
        return self.store.rehearse(self._discovery(command))

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
        )
