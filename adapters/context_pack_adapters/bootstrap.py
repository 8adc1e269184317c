"""The one place that knows concrete classes: it opens ports, builds the registry and starts the server.

`serve` is on the path to the first `initialize` answer, so everything but the transport is imported when the
registry is first needed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection
from threading import Lock, RLock, Thread
from typing import TYPE_CHECKING

from context_pack import __version__
from context_pack.kernel.errors import Code, Failure
from context_pack_adapters import about
from context_pack_adapters.logs import Log
from context_pack_adapters.mcp import pump
from context_pack_adapters.mcp.protocol_versions import ServerFacts
from context_pack_adapters.mcp.pump import Limits
from context_pack_adapters.mcp.session import ProtocolSession
from context_pack_adapters.settings import AUTO, Settings, no_project
from context_pack_adapters.stores.events import EventKind

if TYPE_CHECKING:
    from context_pack.composition import Ports
    from context_pack.toolkit.limits import Metrics
    from context_pack.toolkit.registry import Finished, Registry
    from context_pack_adapters.disk.private import PrivateFolder
    from context_pack_adapters.disk_ports import DiskPorts
    from context_pack_adapters.index.background import ChildBackground
    from context_pack_adapters.stores.events import Event
    from context_pack_adapters.stores.pack_watch import PackWatch

NO_PROJECT = (
    "The server was started in {}, which is no project: set CONTEXT_PACK_SOURCE_ROOT to the folder of the "
    "project in the client's configuration, or start the client in that folder"
)
SEARCH_SHARE = 0.5
"""How much of a call's time the search for the code of refs may take; the rest is for the answer."""


def storage_trouble(settings: Settings) -> str | None:
    """Why nothing can be kept in the storage root, in words; None if nothing is known against it."""
    from context_pack_adapters.disk.opening import Place
    from context_pack_adapters.disk.placing import link_in_the_way

    found = link_in_the_way(Place.of(settings.root, settings.source_root))
    return found and (
        f"{found}: it is a link, and our files are not kept behind links; "
        "put a folder in its place, or set CONTEXT_PACK_ROOT to another folder"
    )


def check_settings(settings: Settings) -> None:
    """Refuse to read or write where a variable says something that is not understood.

    Raises:
        Failure: `invalid_data`, with what to set.
    """
    if settings.refusals:
        raise Failure(Code.INVALID_DATA, "; ".join(settings.refusals))


def open_ports(settings: Settings) -> Ports:
    """The ports over the real disk, clock and randomness; long work is done inside the calls.

    Raises:
        Failure: `io_error`, if a link is in the way to our files; `invalid_data`, if the settings do not
            say where these are.
    """
    from context_pack_adapters.disk_ports import DiskPorts

    check_settings(settings)
    trouble = storage_trouble(settings)
    if trouble is not None:
        raise Failure(Code.IO_ERROR, trouble)
    return DiskPorts(settings)


def load_registry(settings: Settings, log: Log) -> Registry:
    """Every tool, resource and prompt over the real ports, without the rate limits of a connection."""
    from context_pack.app import build

    return build(
        open_ports(settings),
        max_source_bytes=settings.max_source_bytes,
        report=log.finished,
        alarm=log.alarm,
    )


class Connection:
    """The parts of one connection besides the transport; the stores are opened when the tools are loaded."""

    def __init__(self, settings: Settings, log: Log) -> None:
        self._settings, self._log = settings, log
        self._lock = Lock()
        self._session: ProtocolSession | None = None
        self._watch: PackWatch | None = None
        self._is_looking = False
        self._worker: ChildBackground | None = None
        self._ports: DiskPorts | None = None
        self.registry: Registry | None = None

    def open(self, send: Callable[[bytes], None]) -> ProtocolSession:
        """The session of this connection."""
        root, because = self._settings.source_root, self._settings.source_because
        facts = ServerFacts(
            about.NAME,
            about.TITLE,
            __version__,
            about.DESCRIPTION,
            "\n".join(self._settings.refusals)
            or about.instructions(root, self._families() if self._settings.tools else about.FAMILIES),
            {"context-pack/sourceRoot": root, "context-pack/sourceRootBecause": because},
        )
        self._session = ProtocolSession(
            facts,
            self.load,
            send,
            warm_up=self._warm_up,
            alarm=self._log.alarm,
            on_watch=self.watch,
            is_watchable=about.is_watchable,
            monotonic=time.monotonic,
            call_seconds=self._settings.call_seconds,
            page_tokens=self._settings.page_tokens,
            changing_tools=self._settings.tools == (AUTO,),
            families=self._families if self._settings.tools and not self._settings.refusals else None,
        )
        return self._session

    def _families(self) -> Collection[str]:
        """The families of tools to list: those that were chosen, or those with something to serve."""
        if self._settings.tools != (AUTO,):
            return self._settings.tools
        from context_pack_adapters.stores.served_families import served_families

        return served_families(self._settings)

    def load(self) -> Registry:
        """The registry of this connection, with its rate limits; whichever thread asks first makes it."""
        with self._lock:
            if self.registry is None:
                self.registry = self._build()
            return self.registry

    def _build(self) -> Registry:
        from context_pack.app import build
        from context_pack_adapters.disk_ports import DiskPorts, background
        from context_pack_adapters.private_places import open_places
        from context_pack_adapters.stores.pack_watch import PackWatch

        check_settings(self._settings)
        places = open_places(self._settings)
        if places.temporary:
            self._log.write("warn", f"indexes and sessions are kept until the server ends: {places.trouble}")
        self._worker = background(self._settings, places, self._on_task_done)
        ports = DiskPorts(self._settings, self._worker, self._on_event, places)
        ports.open_all()
        self._ports = ports
        self._watch = PackWatch(
            ports.packs, self._settings.source_root, ports.clock, ports.packs_mark, self._wanted, self._notify
        )

        def report(finished: Finished) -> None:
            ports.sessions.called(finished.tool)
            self._log.finished(finished)

        return build(
            ports,
            max_source_bytes=self._settings.max_source_bytes,
            search_seconds=self._settings.call_seconds * SEARCH_SHARE,
            rate_limits=self._settings.rate_limits,
            lock=RLock(),
            root=self._settings.source_root,
            report=report,
            alarm=self._log.alarm,
        )

    def _warm_up(self) -> None:
        """Load what takes longest before a first call, while the client waits for its model."""
        self.load()

    def _on_event(self, event: Event) -> None:
        """Record a store event in the session, and notify clients of packs that were made or removed."""
        ports, session, watch = self._ports, self._session, self._watch
        assert ports is not None
        assert session is not None
        assert watch is not None
        if event.path is not None:
            ports.sessions.read(event.path)
        if event.kind is EventKind.WRITING:
            ports.sessions.keep()
        if event.pack is not None:
            ports.sessions.touched(event.pack.id)
            if event.kind is not EventKind.SEEN and session.subscriptions.watching:
                watch.wake()
            elif event.kind in (EventKind.MADE, EventKind.REMOVED):
                session.subscriptions.changed((), True)

    def watch(self, more: bool) -> None:
        """Look at packs that somebody newly wants to hear of; of less to watch the next look learns."""
        if not more:
            if self._watch is not None:
                self._watch.wake()
            return
        self.load()
        assert self._watch is not None
        with self._lock:
            if not self._is_looking:
                Thread(target=self._watch.run, name="packs", daemon=True).start()
                self._is_looking = True
        try:
            self._watch.follow()
        except Failure as failure:
            self._log.write("warn", f"changes of packs are not seen yet: {failure.message}")
        except OSError as error:
            self._log.write("warn", f"changes of packs are not seen yet: {error.strerror}")

    def _wanted(self) -> tuple[frozenset[str], bool]:
        """What subscribers want to hear of."""
        assert self._session is not None
        subscriptions = self._session.subscriptions
        return subscriptions.watched, subscriptions.watching

    def _notify(self, uris: list[str], listed: bool) -> None:
        assert self._session is not None
        self._session.subscriptions.changed(uris, listed)

    def _on_task_done(self, task: str) -> None:
        """Send list_changed to clients that listed resources before these documents were indexed."""
        from context_pack.documents.usecases.sync import TASK

        if task == TASK and self._session is not None and self._session.subscriptions.watching:
            self._session.subscriptions.changed((), True)

    def close(self) -> None:
        """Keep for later connections what was read, counted and noted in this one, and end its worker."""
        ports = self._ports
        if ports is None:
            return
        ports.access.flush()
        if self.registry is not None:
            self._keep_stats(self.registry.metrics, ports.places.state)
        ports.sessions.end()
        if self._worker is not None:  # last: a child may take its time, and the process has not much left
            self._worker.stop_all()
        if ports.places.temporary:
            from context_pack_adapters.disk.temporary import remove_temporary_home

            remove_temporary_home()

    def _keep_stats(self, metrics: Metrics, state: PrivateFolder) -> None:
        """Save the metrics of this connection for `context-pack stats`."""
        from context_pack_adapters.stores.stats_files import StatsFiles

        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        try:
            StatsFiles(state).save(metrics, stamp, os.urandom(4).hex())
        except (OSError, RuntimeError) as error:  # the latter from a call that still counts itself
            self._log.write("warn", f"the statistics were not kept: {type(error).__name__}")


def serve(settings: Settings) -> int:
    """Run the stdio server until the conversation ends; returns the exit code.

    Threads of cancelled calls may still be busy afterwards: the caller ends the process with `os._exit`.
    """
    log = Log(settings.log_level)
    place = no_project(settings)
    if place:  # its tools would read, index and serve everything a person has
        settings = settings._replace(refusals=(*settings.refusals, NO_PROJECT.format(place)))
    for complaint in settings.complaints:
        log.write("warn", complaint)
    for refusal in settings.refusals:
        log.write("error", refusal)
    trouble = storage_trouble(settings)
    if trouble is not None:
        log.write("error", trouble)
        return 1
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
