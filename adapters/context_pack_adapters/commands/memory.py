"""What the memory commands share: the store, and discoveries in rows and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from context_pack.kernel.instants import format_instant
from context_pack_adapters.commands.shell import Shell

if TYPE_CHECKING:
    from context_pack.memory.domain.discovery import Discovery
    from context_pack.memory.ports import MemoryPorts
    from context_pack.memory.usecases.record import Recorder

TYPES = ("pattern", "rule", "decision", "issue")


def open_memory(shell: Shell) -> tuple[MemoryPorts, Recorder]:
    """The memory of the project, and what records into it."""
    from context_pack.memory.usecases.record import Recorder
    from context_pack_adapters.bootstrap import open_ports

    ports = open_ports(shell.settings)
    assert ports.memory is not None
    return ports.memory, Recorder(ports.memory.discoveries, ports.memory.sessions, ports.clock)


def as_json(discovery: Discovery) -> dict[str, Any]:
    """A discovery as JSON."""
    record: dict[str, Any] = {"id": discovery.id, "type": discovery.type.value, "content": discovery.content}
    if discovery.module is not None:
        record["module"] = discovery.module
    return {**record, "session": discovery.session, "date": format_instant(discovery.date, True)}


def tell(counts: Mapping[str, int], shell: Shell) -> None:
    """A line of counts, on stderr."""
    shell.terminal.note(", ".join(f"{count} {what}" for what, count in counts.items()))
