"""What a connection serves once its tools are asked for: ports, registry, the watch on packs, the worker."""

from __future__ import annotations

from threading import Lock, RLock, Thread
from typing import Any, NoReturn

from attrs import evolve

from context_pack.app import build
from context_pack.documents.sync import TASK
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import RelativePath
from context_pack.knowledge.about import ContextFor
from context_pack.toolkit.arguments import parse
from context_pack.toolkit.registry import Finished, Registry
from context_pack_adapters.disk_ports import open_ports
from context_pack_adapters.files.events import Event, EventKind
from context_pack_adapters.index.background import ChildBackground, task_command, task_environment
from context_pack_adapters.logs import Log
from context_pack_adapters.packs.watch import PackWatch
from context_pack_adapters.private_places import open_places, temporary_home
from context_pack_adapters.server.subscriptions import Subscriptions
from context_pack_adapters.settings import Settings

SEARCH_SHARE = 0.5
"""How much of a call's time the search for the code of refs may take; the rest is for the answer."""


def refusing_registry(settings: Settings, log: Log) -> Registry:
    """Every tool, so that a model sees them; each call is refused with what to set, and reads nothing."""

    def refuse(*_: Any) -> NoReturn:
        raise Failure(Code.INVALID_DATA, "; ".join(settings.refusals))

    ports = open_ports(settings._replace(refusals=(), store=""))
    registry = build(ports, report=log.finished, alarm=log.alarm)
    tools = {name: evolve(tool, choose=refuse) for name, tool in registry.tools.items()}
    return evolve(registry, tools=tools, resources=list, prompts={})


class Served:
    """The loaded half of a connection; its store events reach the session log and the subscribers."""

    def __init__(self, settings: Settings, log: Log, subscriptions: Subscriptions) -> None:
        self._log, self._subscriptions = log, subscriptions
        places = open_places(settings)
        if places.trouble:
            log.write("warn", f"indexes and sessions are kept until the server ends: {places.trouble}")
        # Its children die with this process; none is started before there is something to do.
        self._worker = ChildBackground(
            task_command(),
            task_environment(settings.root, settings.source_root, places.given),
            folder=places.cache,
            cwd=settings.source_root,
            on_done=self._on_task_done,
        )
        ports = self._ports = open_ports(settings, self._worker, self._on_event, places)
        self._watch = PackWatch(
            ports.packs,
            settings.source_root,
            ports.clock,
            ports.packs_mark,
            lambda: (subscriptions.watched, subscriptions.watching),
            subscriptions.changed,
        )
        self._lock, self._is_looking = Lock(), False
        self.registry: Registry = build(
            ports,
            max_source_bytes=settings.max_source_bytes,
            search_seconds=settings.call_seconds * SEARCH_SHARE,
            rate_limits=settings.rate_limits,
            lock=RLock(),
            root=settings.source_root,
            report=self._report,
            alarm=log.alarm,
        )

    def warm_up(self) -> None:
        """Load what a first call of a tool would wait for, while the client waits for its model."""
        parse(ContextFor, {})  # what checks arguments
        self._ports.policy.denies(RelativePath("a"))  # the table of secrets
        self._ports.load_model()

    def _report(self, finished: Finished) -> None:
        self._ports.sessions.called(finished.tool)
        self._log.finished(finished)

    def _on_event(self, event: Event) -> None:
        """Record a store event in the session, and notify clients of packs that were made or removed."""
        sessions = self._ports.sessions
        if event.path is not None:
            sessions.read(event.path)
        if event.kind is EventKind.WRITING:
            sessions.keep()
        if event.pack is not None:
            sessions.touched(event.pack.id)
            if event.kind is not EventKind.SEEN and self._subscriptions.watching:
                self._watch.wake()
            elif event.kind in (EventKind.MADE, EventKind.REMOVED):
                self._subscriptions.changed((), True)

    def _on_task_done(self, task: str) -> None:
        """Send list_changed to clients that listed resources before these documents were indexed."""
        if task == TASK and self._subscriptions.watching:
            self._subscriptions.changed((), True)

    def watch(self, more: bool) -> None:
        """Look at packs that somebody newly wants to hear of; of less to watch the next look learns."""
        if not more:
            self._watch.wake()
            return
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

    def close(self) -> None:
        """Keep for later connections what was read and noted in this one, and end its worker."""
        ports = self._ports
        ports.sessions.end()
        self._worker.stop_all()  # last: a child may take its time, and the process has not much left
        if ports.places.trouble:
            temporary_home().cleanup()  # the process ends by `os._exit`
