"""Do long work for a server that started this process, until it is done or the server is gone.

Not meant to be started by hand: 'context-pack docs sync' does the same in the foreground.

Example:
  context-pack errand documents
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from importlib import import_module
from threading import Event, Thread

from context_pack_adapters.commands.shell import Shell
from context_pack_adapters.settings import Settings

ERRANDS = {
    "documents": "context_pack_adapters.commands.docs_errand:run",
    "memory": "context_pack_adapters.commands.memory_errand:run",
}
"""Errand = a function `run(settings, stop) -> exit code` that asks `stop()` between small units of work."""
NICENESS = 10
GRACE_SECONDS = 2.0
"""How long an errand may take to notice that it should stop."""
_SET_PARENT_DEATH_SIGNAL = 1


def configure(parser: ArgumentParser) -> None:
    """Which errand."""
    parser.add_argument("errand", choices=sorted(ERRANDS), help="what to do")


def run(options: Namespace, shell: Shell) -> int:
    """Do the errand, politely, unless another process does it already."""
    stop = Event()
    follow_parent(stop)
    give_way()
    return perform(options.errand, shell.settings, stop.is_set)


def perform(errand: str, settings: Settings, stop: Callable[[], bool]) -> int:
    """Do the errand under its lock; 0 at once if somebody else holds it."""
    from context_pack.kernel.errors import Code, Failure
    from context_pack_adapters.index.background import errand_lock
    from context_pack_adapters.private_places import open_places

    folder = open_places(settings).cache
    folder.make()
    try:
        with errand_lock(folder, errand):
            module, _, name = ERRANDS[errand].partition(":")
            work: Callable[[Settings, Callable[[], bool]], int] = getattr(import_module(module), name)
            return work(settings, stop)
    except Failure as failure:
        if failure.code is Code.LOCK_TIMEOUT and failure.details.get("lock") == f"{errand}.lock":
            return 0
        raise


def follow_parent(stop: Event) -> None:
    """End when the one who started us does: its end closes our standard input, or the system tells us."""
    if sys.platform == "linux":
        import ctypes
        import signal

        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
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
    """Let those who answer go first."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
