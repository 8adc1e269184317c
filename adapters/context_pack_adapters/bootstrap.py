"""The one place that knows concrete classes: it opens ports, builds the registry and starts the server.

`serve` is on the path to the first `initialize` answer, so everything but the transport is imported when the
registry is first needed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from threading import Lock, RLock, Timer
from typing import TYPE_CHECKING

from context_pack_adapters.logs import Log
from context_pack_adapters.settings import AUTO, Settings, no_project

if TYPE_CHECKING:
    from context_pack.composition import Ports
    from context_pack.kernel.ports import Clock, IdSource
    from context_pack.toolkit.limits import Metrics
    from context_pack.toolkit.registry import Finished, Registry
    from context_pack_adapters.disk.private import PrivateFolder
    from context_pack_adapters.disk_ports import DiskPorts
    from context_pack_adapters.index.background import ChildBackground
    from context_pack_adapters.mcp.session import ProtocolSession
    from context_pack_adapters.stores.events import Event
    from context_pack_adapters.stores.pack_news import News, NewsSource
    from context_pack_adapters.stores.pack_sources import PackSources
    from context_pack_adapters.stores.session_files import SessionFiles

NO_PROJECT = (
    "The server was started in {}, which is no project: set CONTEXT_PACK_SOURCE_ROOT to the folder of the "
    "project in the client's configuration, or start the client in that folder"
)
SEARCH_SHARE = 0.5
"""How much of a call's time the search for the code of refs may take; the rest is for the answer."""
NOTE_SECONDS = 0.2
"""How long the notes of a session that is not open yet may wait."""


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
    from context_pack.kernel.errors import Code, Failure

    if settings.refusals:
        raise Failure(Code.INVALID_DATA, "; ".join(settings.refusals))


def open_ports(settings: Settings) -> Ports:
    """The ports over the real disk, clock and randomness; long work is done inside the calls.

    Raises:
        Failure: `io_error`, if a link is in the way to our files; `invalid_data`, if the settings do not
            say where these are.
    """
    from context_pack.kernel.errors import Code, Failure
    from context_pack_adapters.disk_ports import DiskPorts

    check_settings(settings)
    trouble = storage_trouble(settings)
    if trouble is not None:
        raise Failure(Code.IO_ERROR, trouble)
    return DiskPorts(settings)


def memory_ports(
    files: Mapping[str, str | bytes], clock: Clock | None, ids: IdSource | None, deny: tuple[str, ...]
) -> Ports:
    """The ports in memory, over the given files; the real clock and randomness unless others are given."""
    from context_pack.composition import Ports
    from context_pack.documents.ports import DocumentPorts
    from context_pack.kernel.instants import format_instant
    from context_pack.kernel.paths import PathPolicy
    from context_pack.kernel.text import sha256_hex
    from context_pack.memory.domain.discovery import uuid_of
    from context_pack.memory.ports import MemoryPorts
    from context_pack.retrieval.searching import Searching
    from context_pack_adapters import inmemory as twins
    from context_pack_adapters.disk.gitignore import IgnoreFile
    from context_pack_adapters.disk.ignore import IgnoredPaths
    from context_pack_adapters.embed.hashed import HashedEmbedder
    from context_pack_adapters.html.drawing import DrawnDiagrams
    from context_pack_adapters.index.memory import MemoryIndex
    from context_pack_adapters.inmemory.collections import MemoryCollections
    from context_pack_adapters.inmemory.contexts import MemoryProjects
    from context_pack_adapters.inmemory.memory import MemoryCodeTree, MemoryDiscoveryStore, MemorySessionLog
    from context_pack_adapters.search.memory import MemorySearch
    from context_pack_adapters.stores.collection_locks import ThreadLocks
    from context_pack_adapters.syntax import shared_syntax
    from context_pack_adapters.system import SystemClock, SystemIds

    time, policy = clock or SystemClock(), PathPolicy(deny)
    syntax = shared_syntax()

    def hides(lines: str, scope: str) -> bool:
        return IgnoreFile(lines).verdict(scope, True) is True

    fast = HashedEmbedder()
    index = MemoryIndex(fast)
    packs = twins.MemoryPackStore(time, ids or SystemIds())
    session = bytes.fromhex(sha256_hex(format_instant(time.now())))  # named after its start
    return Ports(
        clock=time,
        source=twins.MemorySourceTree(files, policy),
        syntax=syntax,
        search=MemorySearch(files, policy),
        packs=packs,
        excerpts=twins.MemoryExcerptStore(time),
        history=packs.history,
        diagrams=DrawnDiagrams(),
        access=twins.MemoryAccessLog(time),
        bundles=twins.MemoryBundleStore(),
        contexts=MemoryProjects(files, hides),
        documents=DocumentPorts(
            MemoryCollections(files, policy, lambda read: IgnoredPaths(read).ignores),
            ThreadLocks(),
            MemoryIndex(fast),
            fast,
        ),
        memory=MemoryPorts(
            discoveries=MemoryDiscoveryStore(),
            sessions=MemorySessionLog(time, uuid_of(session, version=8)),
            tree=MemoryCodeTree(files, policy),
            index=index,
            searching=Searching(index, fast, None, monotonic=time.monotonic),
            syntax=syntax,
        ),
    )


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
    """The parts of one connection besides the transport, each made when it is first needed."""

    def __init__(self, settings: Settings, log: Log) -> None:
        self._settings, self._log = settings, log
        self._lock = Lock()
        self._news: NewsSource | None = None
        self._sources: PackSources | None = None
        self._session: ProtocolSession | None = None
        self._worker: ChildBackground | None = None
        self._ports: DiskPorts | None = None
        self.registry: Registry | None = None
        self._notes: deque[Callable[[SessionFiles], None]] = deque()

    def open(self, send: Callable[[bytes], None]) -> ProtocolSession:
        """The session of this connection."""
        import time

        from context_pack import __version__
        from context_pack_adapters import about
        from context_pack_adapters.mcp.session import ProtocolSession, ServerFacts

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
            published=about.published,
            alarm=self._log.alarm,
            on_watch=self.watch,
            tells=about.tells_changes,
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

        check_settings(self._settings)
        places = open_places(self._settings)
        if places.temporary:
            self._log.write("warn", f"indexes and sessions are kept until the server ends: {places.trouble}")
        self._worker = background(self._settings, places, self._on_task_done)
        self._ports = ports = DiskPorts(self._settings, self._worker, self._on_event, places)

        def report(finished: Finished) -> None:
            self._note(lambda session: session.called(finished.tool))
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

    def _on_event(self, event: Event) -> None:
        """Record a store event in the session, and notify clients of packs that were made or removed."""
        path, pack = event.path, event.pack
        if path is not None:
            self._note(lambda session: session.read(path))
            return
        from context_pack_adapters.stores.events import EventKind

        if event.kind is EventKind.WRITING:
            self._write_notes()
            assert self._ports is not None
            self._ports.sessions.keep()
        if pack is not None:
            if event.kind in (EventKind.MADE, EventKind.REMOVED):
                self._pack_news().came_or_went(pack)
            self._note(lambda session: session.touched(pack.id))

    def _note(self, note: Callable[[SessionFiles], None]) -> None:
        """Add a note to the session: at once if it is open, else from another thread, as opening is slow."""
        assert self._ports is not None
        if self._ports.opened("sessions") and not self._notes:
            note(self._ports.sessions)
            return
        self._notes.append(note)
        if len(self._notes) == 1:
            timer = Timer(NOTE_SECONDS, self._write_notes)
            timer.daemon = True
            timer.start()

    def _write_notes(self) -> None:
        """Write the queued notes, oldest first."""
        while self._notes and self._ports is not None:
            with suppress(IndexError):
                self._notes.popleft()(self._ports.sessions)

    def watch(self, wanted: bool) -> None:
        """Start or stop watching for packs that other processes change, and for the code they point at."""
        from context_pack.kernel.errors import Failure

        if not wanted and self._news is None:
            return
        try:
            self._pack_news().listen(wanted)
            self._follow_sources()
        except Failure as failure:
            self._log.write("warn", f"changes of other members are not seen: {failure.message}")
        except OSError as error:
            self._log.write("warn", f"changes of other processes are not seen: {error.strerror}")

    def _pack_news(self) -> NewsSource:
        if self._news is None:
            from context_pack_adapters.disk_ports import pack_news

            self._news = pack_news(self._settings, self._notify)
        return self._news

    def _notify(self, news: News) -> None:
        """Notify subscribers of these packs, whether they subscribed by id or by name, in any spelling."""
        if self._session is not None:
            watched, uris = sorted(self._session.subscriptions.watched), list[str]()
            if watched:
                from context_pack.packs.resources import handle_in

                uris = [uri for uri in watched if news.concerns(handle_in(uri))]
            if uris:
                self._follow_sources()  # first, so that whoever is told of a new ref hears of its code, too
            self._session.subscriptions.changed(uris, news.listed)

    def _follow_sources(self) -> None:
        """Watch the source files that the refs of the subscribed packs point at, and no others."""
        assert self._session is not None
        watched = self._session.subscriptions.watched
        if self._sources is None and watched:
            from context_pack_adapters.stores.pack_sources import PackSources

            self.load()
            assert self._ports is not None
            tell = partial(self._session.subscriptions.changed, list_changed=False)
            self._sources = PackSources(self._settings.source_root, self._ports.packs, tell)
        if self._sources is not None:
            self._sources.follow(watched)

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
        if ports.opened("access"):
            ports.access.flush()
        if self.registry is not None:
            self._keep_stats(self.registry.metrics, ports.places.state)
        self._write_notes()
        if ports.opened("sessions"):
            ports.sessions.end()
        if self._worker is not None:  # last: a child may take its time, and the process has not much left
            self._worker.stop_all()
        if ports.places.temporary:
            from context_pack_adapters.disk.temporary import remove_temporary_home

            remove_temporary_home()

    def _keep_stats(self, metrics: Metrics, state: PrivateFolder) -> None:
        """Save the metrics of this connection for `context-pack stats`."""
        import os
        import time

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
    from context_pack_adapters.mcp.pump import Limits
    from context_pack_adapters.mcp.pump import serve as pump

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
        settings.max_message_bytes, settings.initialize_timeout_ms, lambda line: log.write("error", line)
    )
    try:
        code = pump(connection.open, limits)
    except Exception as error:  # an end in words, whatever is wrong with this installation
        log.alarm("serve", error)
        return 1
    connection.close()
    return code
