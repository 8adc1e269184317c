"""One-line logs on standard error, by level, without the logging package.

A line is written whole in one system call. A standard error that is closed, broken or full never hurts: the
line is dropped, because a client that does not read it must not be able to stop the server. Argument values
are never logged; the text of an unexpected exception, which may hold some, appears at `debug` only.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

from context_pack_adapters.settings import LEVELS

if TYPE_CHECKING:
    from context_pack.toolkit.registry import Finished

STDERR = 2
LONGEST_LINE = 2000
"""Bytes; a pipe that is ready takes at least this much without blocking."""


class Log:
    """Writes lines of at most the given level to a file descriptor."""

    def __init__(self, level: str, descriptor: int = STDERR, now: Callable[[], float] = time.time) -> None:
        self.level = LEVELS[level]
        self._descriptor = descriptor
        self._now = now
        self._lock = Lock()
        self._ready = readiness(descriptor)

    def wants(self, level: str) -> bool:
        """Whether a line of this level would be written."""
        return LEVELS[level] <= self.level

    def write(self, level: str, message: str) -> None:
        """Write one line if its level is wanted; never raises, never blocks."""
        if not self.wants(level):
            return
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._now()))
        line = f"{stamp} {level.upper()} context_pack: {one_line(message)}"
        data = line.encode("utf-8", "backslashreplace")
        if len(data) > LONGEST_LINE:
            data = data[:LONGEST_LINE].decode("utf-8", "ignore").encode()
        with self._lock:
            self._put(data + b"\n")

    def _put(self, line: bytes) -> None:
        """Write a short line if the descriptor takes it at once; otherwise drop it."""
        try:
            if self._ready():
                os.write(self._descriptor, line)
        except (OSError, ValueError):
            return

    def finished(self, call: Finished) -> None:
        """One line per finished call: tool, outcome, milliseconds, bytes."""
        if LEVELS["info"] <= self.level:
            ok = "true" if call.ok else "false"
            self.write("info", f"call tool={call.tool} ok={ok} ms={call.milliseconds:.1f} bytes={call.bytes}")

    def alarm(self, tool: str, error: BaseException) -> None:
        """An exception that no contract names: its type and place, and at `debug` its traceback."""
        self.write("error", f"unexpected {type(error).__name__} in {tool}{place_of(error)}")
        if self.wants("debug"):
            import traceback

            for part in traceback.format_exception(error):
                for line in part.splitlines():
                    self.write("debug", line)


def readiness(descriptor: int) -> Callable[[], bool]:
    """Tells whether a short write would not block; where that cannot be asked, always yes."""
    if not hasattr(select, "poll"):
        return lambda: True
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    return lambda: any(event & select.POLLOUT for _, event in poll.poll(0))


def one_line(text: str) -> str:
    """The text with everything that could break the line or steer a terminal replaced."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else " " if char in "\r\n\t" else "?" for char in text)


def place_of(error: BaseException) -> str:
    """Where the exception was raised, as ` at file.py:line`."""
    trace = error.__traceback__
    if trace is None:
        return ""
    while trace.tb_next is not None:
        trace = trace.tb_next
    return f" at {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
