"""The start of the server: the way to the first `initialize` answer.

Everything but the transport is in `served`, which is loaded when the tools are first asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from threading import Lock
from typing import TYPE_CHECKING

from context_pack import __version__
from context_pack_adapters import about
from context_pack_adapters.logs import Log
from context_pack_adapters.server import pump
from context_pack_adapters.server.protocol_versions import ServerFacts
from context_pack_adapters.server.pump import Limits
from context_pack_adapters.server.session import ProtocolSession
from context_pack_adapters.settings import AUTO, Settings, no_project

if TYPE_CHECKING:
    from context_pack.toolkit.registry import Registry
    from context_pack_adapters.served import Served

PACKS = "context://pack/"
"""The only resources whose subscribers hear of changes begin so."""
NO_PROJECT = (
    "The server was started in {}, which is no project: set CONTEXT_PACK_SOURCE_ROOT to the folder of the "
    "project in the client's configuration, or start the client in that folder"
)


class Connection:
    """The parts of one connection besides the transport; the stores are opened when the tools are loaded."""

    def __init__(self, settings: Settings, log: Log) -> None:
        place = no_project(settings)
        if place:  # its tools would read, index and serve everything a person has
            settings = settings._replace(refusals=(*settings.refusals, NO_PROJECT.format(place)))
        self._settings, self._log = settings, log
        for complaint in settings.complaints:
            log.write("warn", complaint)
        for refusal in settings.refusals:
            log.write("error", refusal)
        self._lock = Lock()
        self._session: ProtocolSession | None = None
        self._served: Served | None = None

    def open(self, send: Callable[[bytes], None]) -> ProtocolSession:
        """The session of this connection."""
        settings = self._settings
        root, because = settings.source_root, settings.source_because
        facts = ServerFacts(
            about.NAME,
            about.TITLE,
            __version__,
            about.DESCRIPTION,
            "\n".join(settings.refusals)
            or about.instructions(root, self._families() if settings.tools else about.FAMILIES),
            {"context-pack/sourceRoot": root, "context-pack/sourceRootBecause": because},
        )
        self._session = ProtocolSession(
            facts,
            self._registry,
            send,
            warm_up=self._warm_up,
            alarm=self._log.alarm,
            on_watch=self._watch,
            is_watchable=lambda uri: not settings.refusals and uri.startswith(PACKS),
            monotonic=time.monotonic,
            call_seconds=settings.call_seconds,
            page_tokens=settings.page_tokens,
            changing_tools=settings.tools == (AUTO,),
            families=self._families if settings.tools and not settings.refusals else None,
        )
        return self._session

    def _families(self) -> Collection[str]:
        """The families of tools to list: those that were chosen, or those with something to serve."""
        if self._settings.tools != (AUTO,):
            return self._settings.tools
        from context_pack_adapters.served_families import served_families

        return served_families(self._settings)

    def _load(self) -> Served:
        """What this connection serves; whichever thread asks first makes it."""
        from context_pack_adapters.served import Served

        assert self._session is not None
        with self._lock:
            if self._served is None:
                self._served = Served(self._settings, self._log, self._session.subscriptions)
            return self._served

    def _registry(self) -> Registry:
        if self._settings.refusals:
            from context_pack_adapters.served import refusing_registry

            return refusing_registry(self._settings, self._log)
        return self._load().registry

    def _warm_up(self) -> None:
        if not self._settings.refusals:
            self._load().warm_up()

    def _watch(self, more: bool) -> None:
        if self._served is not None or (more and not self._settings.refusals):
            self._load().watch(more)

    def close(self) -> None:
        """Close what was served."""
        if self._served is not None:
            self._served.close()


def serve(settings: Settings) -> int:
    """Run the stdio server until the conversation ends; returns the exit code.

    Threads of cancelled calls may still be busy afterwards: the caller ends the process with `os._exit`.
    """
    log = Log(settings.log_level)
    connection = Connection(settings, log)
    limits = Limits(
        settings.max_message_bytes,
        settings.initialize_timeout_ms,
        lambda line: log.write("error", line),
        settings.call_seconds,
    )
    try:
        code = pump.serve(connection.open, limits)
    except Exception as error:  # an end in words, whatever is wrong with this installation
        log.alarm("serve", error)
        return 1
    connection.close()
    return code
