"""A second process that computes half of a great deal of work: tokens and hashed vectors keep a core busy.

It is started only when so much comes at once that the rest is worth its start, never for small changes, and
only for an embedder that another process can make anew. It lives on its standard input: it ends when that
closes, because its parent has died or is done, or when nothing comes for a few seconds. Whatever goes wrong
with it, the work is done here instead.
"""

from __future__ import annotations

import os
import pickle
import select
import struct
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from threading import Lock, Thread
from typing import IO, TYPE_CHECKING, Any

from context_pack_adapters.index.preparing import Product, Task, TokenEmbedder, carry_out
from context_pack_adapters.system import python_command, python_environment

if TYPE_CHECKING:
    from subprocess import Popen

    from context_pack.retrieval.ports import Embedder

STARTED_AFTER = 3000
"""Pieces that come without a pause: about three seconds of work for one process."""
FEWEST = 64
PAUSE_SECONDS = 3.0
IDLE_SECONDS = 10.0
_LENGTH = struct.Struct("<Q")
_PROGRAM = "from context_pack_adapters.index.companion import serve; serve()"
_TROUBLE = (OSError, EOFError, ValueError, struct.error, pickle.UnpicklingError)


class Companion:
    """Carries out tasks, of many tasks one half with the help of another process."""

    def __init__(self, embedder: Embedder, started_after: int = STARTED_AFTER) -> None:
        self._embedder = embedder
        self._started_after = started_after
        self._usable = _can_help(embedder)
        self._came, self._last = 0, 0.0
        self._lock = Lock()
        self._process: Popen[bytes] | None = None

    @property
    def process(self) -> int | None:
        """The other process, if there is one now."""
        process = self._process
        return None if process is None or process.returncode is not None else process.pid

    def carry_out(self, tasks: Sequence[Task]) -> list[Product]:
        """The products of the tasks, in order."""
        if not self._lock.acquire(blocking=False):  # somebody else has the process
            return carry_out(tasks, self._embedder)
        try:
            return self._shared(tasks) if self._is_worth(len(tasks)) else carry_out(tasks, self._embedder)
        finally:
            self._last = time.monotonic()
            self._lock.release()

    def _is_worth(self, count: int) -> bool:
        """Whether so much has come without a pause that help is worth its start."""
        if time.monotonic() - self._last > PAUSE_SECONDS:
            self._came = 0
        self._came += count
        return self._usable and count >= FEWEST and self._came > self._started_after

    def _shared(self, tasks: Sequence[Task]) -> list[Product]:
        half = len(tasks) // 2
        try:
            process = self._ready()
            assert process.stdin is not None
            assert process.stdout is not None
            _send(process.stdin, tasks[half:])
        except _TROUBLE:
            self._give_up()
            return carry_out(tasks, self._embedder)
        ours = carry_out(tasks[:half], self._embedder)
        try:
            theirs = _receive(process.stdout)
            if len(theirs) != len(tasks) - half:
                raise ValueError("not what was asked for")
        except _TROUBLE:
            self._give_up()
            theirs = carry_out(tasks[half:], self._embedder)
        return [*ours, *theirs]

    def _ready(self) -> Popen[bytes]:
        if self.process is None:
            self._end()
        process = self._process = self._process or _start(self._embedder)
        return process

    def _give_up(self) -> None:
        self._usable = False
        self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):
                    if pipe is not None:
                        pipe.close()
            process.kill()
            process.wait()

    def close(self) -> None:
        """End the other process."""
        with self._lock:
            self._end()


def _can_help(embedder: Embedder) -> bool:
    """Whether there is a core for it, and an embedder that is the same wherever it is made."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    return cores > 1 and bool(sys.executable) and isinstance(embedder, TokenEmbedder)


def _start(embedder: Embedder) -> Popen[bytes]:
    import subprocess

    made_by = f"{type(embedder).__module__}:{type(embedder).__qualname__}"
    process = subprocess.Popen(
        python_command(_PROGRAM, made_by, embedder.id),
        env=python_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    # Somebody must take its exit code when it ends for want of work.
    Thread(target=process.wait, daemon=True, name="companion").start()
    return process


def _send(pipe: IO[bytes], value: Any) -> None:
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.write(_LENGTH.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    (length,) = _LENGTH.unpack(pipe.read(_LENGTH.size))
    return pickle.loads(pipe.read(length))


def serve() -> None:
    """Be the other process, until nobody is there any more or nothing comes."""
    made_by, name = sys.argv[1:]
    module, _, kind = made_by.partition(":")
    embedder = getattr(import_module(module), kind)()
    # Unbuffered, so that waiting for more tells the truth.
    with suppress(*_TROUBLE), os.fdopen(0, "rb", buffering=0) as asked, os.fdopen(1, "wb") as answered:
        while embedder.id == name and select.select([asked], [], [], IDLE_SECONDS)[0]:
            (length,) = _LENGTH.unpack(asked.read(_LENGTH.size))
            data = bytearray()
            while len(data) < length:
                portion = asked.read(length - len(data))
                if not portion:
                    return
                data += portion
            _send(answered, carry_out(pickle.loads(data), embedder))
