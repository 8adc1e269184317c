"""The one place that knows concrete classes: it opens ports, builds the registry and starts the server.

`serve` is on the path to the first `initialize` answer, so everything but the transport is imported when the
registry is first needed.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from context_pack_adapters.logs import Log
from context_pack_adapters.settings import Settings

if TYPE_CHECKING:
    from context_pack.app import Ports
    from context_pack.toolkit.registry import Registry


def open_ports(settings: Settings) -> Ports:
    """The ports over the real disk, clock and randomness; opening them touches no file."""
    from pathlib import Path

    from context_pack.app import Ports
    from context_pack.kernel.paths import PathPolicy

    from context_pack_adapters.stores.pack_store import FilePackStore
    from context_pack_adapters.stores.source_tree import DiskSourceTree
    from context_pack_adapters.system import SystemClock, SystemIds

    clock, ids = SystemClock(), SystemIds()
    return Ports(
        clock=clock,
        ids=ids,
        source=DiskSourceTree(Path(settings.source_root), PathPolicy(settings.deny)),
        packs=FilePackStore(Path(settings.root), clock, ids),
    )


def load_registry(settings: Settings, log: Log, *, limited: bool = False) -> Registry:
    """Every tool, resource and prompt over the real ports; `limited` applies a connection's rate limits."""
    from context_pack.app import build

    limits = settings.rate_limits if limited else {}
    return build(
        open_ports(settings),
        max_source_bytes=settings.max_source_bytes,
        rate_limits=limits,
        report=log.finished,
        alarm=log.alarm,
    )


class LazyRegistry:
    """Loads the registry once, on the first call that needs it, from whichever thread that is."""

    def __init__(self, settings: Settings, log: Log) -> None:
        self._settings, self._log = settings, log
        self._lock = Lock()
        self.loaded: Registry | None = None

    def __call__(self) -> Registry:
        """The registry of this connection."""
        if self.loaded is None:
            with self._lock:
                if self.loaded is None:
                    self.loaded = load_registry(self._settings, self._log, limited=True)
        return self.loaded


def serve(settings: Settings) -> int:
    """Be the stdio server until the conversation ends; returns the exit code.

    Threads of cancelled calls may still be busy afterwards: the caller ends the process with `os._exit`.
    """
    from context_pack import __version__

    from context_pack_adapters import about
    from context_pack_adapters.mcp.pump import Limits
    from context_pack_adapters.mcp.pump import serve as pump
    from context_pack_adapters.mcp.session import ServerFacts, Session

    log = Log(settings.log_level)
    for complaint in settings.complaints:
        log.write("warn", complaint)
    registry = LazyRegistry(settings, log)
    facts = ServerFacts(about.NAME, about.TITLE, __version__, about.DESCRIPTION, about.INSTRUCTIONS)
    limits = Limits(
        settings.max_message_bytes, settings.initialize_timeout_ms, lambda line: log.write("error", line)
    )
    return pump(lambda send: Session(facts, registry, send), limits)
