"""The hidden command `task`: long work that a server has done in a process of its own.

Everything a task does is remembered by the index alone, so that it can be killed at any moment and goes on
with the next run.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from threading import Event, Thread

import click

from context_pack.composition import UseCases
from context_pack.kernel.errors import Code, Failure
from context_pack.memory.entries import NOTES
from context_pack.memory.refresh import CodeIndexer
from context_pack.retrieval.model import Scope
from context_pack.retrieval.ports import EmbedderFailed
from context_pack_adapters.cli.app import App, command
from context_pack_adapters.disk_ports import open_ports
from context_pack_adapters.index.background import task_lock
from context_pack_adapters.private_places import open_places
from context_pack_adapters.settings import Settings

Stop = Callable[[], bool]
NICENESS = 10
GRACE_SECONDS = 2.0
"""How long a task may take to notice that it should stop."""
MOST_ROUNDS = 5
"""A tree may change while it is indexed; one that always does must not keep the task for ever."""


@command("task")
@click.argument("kind", type=click.Choice(["documents", "memory"]))
def task(app: App, kind: str) -> int:
    """Do long work for a server that started this process, until it is done or the server is gone.

    Not meant to be started by hand: 'context-pack docs sync' does the same in the foreground.

    Example:
      context-pack task documents
    """
    stop = Event()
    follow_parent(stop)
    give_way()
    return perform(kind, app.settings, stop.is_set)


def perform(task: str, settings: Settings, stop: Stop) -> int:
    """Do the task under its lock; 0 at once if another process holds it."""
    folder = open_places(settings).cache
    folder.make()
    try:
        with task_lock(folder, task):
            return TASKS[task](UseCases(open_ports(settings)), stop)
    except Failure as failure:
        if failure.code is Code.LOCK_TIMEOUT and failure.details.get("lock") == f"{task}.lock":
            return 0
        raise


def follow_parent(stop: Event) -> None:
    """Exit when the parent does: its end closes our standard input."""
    Thread(target=_await_end, args=(stop,), daemon=True, name="parent").start()


def _await_end(stop: Event) -> None:
    try:
        while os.read(0, 4096):
            pass
    except OSError:
        pass  # a standard input that cannot be read has no one at its other end
    stop.set()
    Event().wait(GRACE_SECONDS)
    os._exit(0)


def give_way() -> None:
    """Lower the priority of this process."""
    os.nice(NICENESS)


def _documents(cases: UseCases, stop: Stop) -> int:
    """Index and embed local collections, never fetch; 1 if it failed, so that it is not retried at once."""
    shelf, finder = cases.documents
    for collection in shelf.chosen(()):
        if stop():
            return 0
        shelf.syncing.sync(collection, fetch=False, stop=stop)
        shelf.freshness.forget(collection)
    corpora = tuple(collection.id for collection in shelf.chosen(()))
    if not corpora:
        return 0
    try:
        if shelf.ports.semantic is not None:
            finder.fill(Scope(corpora=corpora), stop)
    except EmbedderFailed as failed:
        sys.stdout.write(f"{failed}\n")
        return 1
    shelf.ports.index.tend(stop)
    return 0


def _memory(cases: UseCases, stop: Stop) -> int:
    """Index the code that changed and embed it, until there is nothing to do or `stop` says so."""
    memory = cases.memory.ports
    indexer = CodeIndexer.over(memory)
    for _ in range(MOST_ROUNDS):
        plan = indexer.plan()
        if stop() or not (plan.changed or plan.gone):
            break
        indexer.carry_out(plan, stop)
    try:
        if not stop():
            memory.searching.fill(Scope(NOTES), stop, lambda _: None)
        memory.index.tend(stop)
    except EmbedderFailed as failed:
        sys.stdout.write(f"{failed}\n")  # whoever searches is told; it is tried again later
        return 1
    return 0


TASKS: dict[str, Callable[[UseCases, Stop], int]] = {"documents": _documents, "memory": _memory}
"""Each returns an exit code and asks `stop()` between small units of work."""
