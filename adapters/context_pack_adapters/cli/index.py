"""Indexing: in the foreground (`index`), and in a process that a server starts for it (the hidden `task`).

Everything a task does is remembered by the index alone, so that it can be killed at any moment and goes on
with the next run.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from threading import Event, Thread
from typing import Any

import click

from context_pack.composition import UseCases
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.text import counted
from context_pack.memory.entries import CODE, NOTES, SKIPPED, UNREAD
from context_pack.memory.ports import MemoryPorts
from context_pack.memory.refresh import CodeIndexer
from context_pack.retrieval.model import Scope
from context_pack.retrieval.ports import EmbedderFailed
from context_pack.retrieval.upkeep import IndexPlan
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command, flag
from context_pack_adapters.index.background import task_lock
from context_pack_adapters.private_places import open_places

Stop = Callable[[], bool]
NICENESS = 10
GRACE_SECONDS = 2.0
"""How long a task may take to notice that it should stop."""
MOST_ROUNDS = 5
"""A tree may change while it is indexed; one that always does must not keep the task for ever."""


@command("index", walks=True)
@flag("--dry-run", "Only say what would be done, and what is skipped for which reason.")
def index(app: App, dry_run: bool) -> int:
    """Index the project's code for searches now, in the foreground.

    The server does this by itself, in the background, when it is first asked; here it can be watched. Only
    what has changed since the last time is read. Interrupt it at any time: the next run goes on from there.

    Examples:
      context-pack index
      context-pack index --dry-run                 what would be indexed, what is skipped, and why
    """
    start = time.monotonic()
    memory = app.cases.memory.ports
    indexer = CodeIndexer.over(memory)
    # What failed is tried again, and what turned out to be no text to index is skipped, now and later.
    failed = indexer.failed()
    plan = indexer.plan({path: each for path, each in memory.index.known(CODE).items() if path not in failed})
    if dry_run:
        return _show_plan(app, memory, plan)
    body: dict[str, Any] = {}
    with output.progress("indexing") as report:
        indexer.carry_out(plan, report=lambda now: report(now.done, now.total))
        try:
            if memory.searching.semantic is not None:
                done = memory.searching.fill(
                    Scope(NOTES), lambda: False, lambda now: report(now.done, now.total, "embedding")
                )
                body["semantic"] = {"done": done.done, "total": done.total} if done else None
        except EmbedderFailed as error:
            body["warning"] = str(error)
    skipped = _skipped(memory, plan)
    held = memory.index.known(CODE).keys() - skipped.keys()
    partly = {path: each[UNREAD] for path, each in memory.index.facts(CODE).items() if UNREAD in each}
    body |= {"files": len(held), "skipped": len(skipped), "failed": _named(indexer.failed())}
    if partly:
        body["partly"] = _named(partly)
    for warning in filter(None, (body.get("warning"), memory.warning)):
        output.complain(warning)
    for each in (*body["failed"], *body.get("partly", ())):
        output.complain(f"{each['path']}: {each['reason']}")
    for notice in memory.index.notices():
        output.note(notice)
    spent = f"{time.monotonic() - start:.1f} s"
    words = f"{counted(len(held), 'file')} indexed, {len(skipped)} skipped, in {spent}"
    return app.tell(body, words, code=1 if "warning" in body else 0)


def _skipped(memory: MemoryPorts, plan: IndexPlan) -> dict[str, str]:
    """What is not indexed, and why."""
    facts = memory.index.facts(CODE)
    known = {path: str(each[SKIPPED]) for path, each in facts.items() if SKIPPED in each}
    return {**plan.skipped, **memory.tree.left_out(), **known}


def _show_plan(app: App, memory: MemoryPorts, plan: IndexPlan) -> int:
    """Print what would be indexed and removed, and what is skipped for which reason."""
    reasons = {path: memory.tree.read(path).skipped for path in plan.changed}
    todo = [path for path, reason in reasons.items() if reason is None]
    before = _skipped(memory, plan)
    gone = [path for path in plan.gone if path not in before]
    skip = {path: why for path, why in before.items() if path not in plan.changed and path not in plan.gone}
    skip |= {path: reason for path, reason in reasons.items() if reason is not None}
    lines = [f"index   {path}" for path in todo] + [f"remove  {path}" for path in gone]
    lines += [f"skip    {path}: {reason}" for path, reason in sorted(skip.items())]
    body = {"dryRun": True, "index": todo, "remove": gone, "skip": _named(dict(sorted(skip.items())))}
    return app.tell(body, *lines)


def _named(files: dict[str, str]) -> list[dict[str, str]]:
    """Files with their reasons."""
    return [{"path": path, "reason": reason} for path, reason in files.items()]


@command("task")
@click.argument("kind", type=click.Choice(["documents", "memory"]))
def task(app: App, kind: str) -> int:
    """Do long work for a server that started this process, until it is done or the server is gone.

    Not meant to be started by hand: 'context-pack docs sync' does the same in the foreground.

    Example:
      context-pack task documents
    """
    stop = Event()
    Thread(target=_await_end_of_parent, args=(stop,), daemon=True).start()
    os.nice(NICENESS)
    folder = open_places(app.settings).cache
    folder.make()
    try:
        with task_lock(folder, kind):
            return TASKS[kind](app.cases, stop.is_set)
    except EmbedderFailed as failed:  # whoever searches is told; it is tried again later
        sys.stdout.write(f"{failed}\n")
        return 1
    except Failure as failure:
        if failure.code is Code.LOCK_TIMEOUT and failure.details.get("lock") == f"{kind}.lock":
            return 0  # another process does it
        raise


def _await_end_of_parent(stop: Event) -> None:
    """Exit when the parent does: its end closes our standard input."""
    try:
        while os.read(0, 4096):
            pass
    except OSError:
        pass  # a standard input that cannot be read has no one at its other end
    stop.set()
    Event().wait(GRACE_SECONDS)
    os._exit(0)


def _documents(cases: UseCases, stop: Stop) -> int:
    """Index and embed local collections, never fetch."""
    shelf, finder = cases.documents
    chosen = shelf.chosen(())
    for collection in chosen:
        if stop():
            return 0
        shelf.syncing.sync(collection, fetch=False, stop=stop)
    if chosen and shelf.ports.semantic is not None:
        finder.fill(Scope(corpora=tuple(collection.id for collection in chosen)), stop)
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
    if not stop():
        memory.searching.fill(Scope(NOTES), stop, lambda _: None)
    memory.index.tend(stop)
    return 0


TASKS: dict[str, Callable[[UseCases, Stop], int]] = {"documents": _documents, "memory": _memory}
"""Each asks `stop()` between small units of work."""
