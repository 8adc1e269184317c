"""The log: one line per event on standard error, by `logging`, that never blocks the server.

A line is written whole in one system call. A standard error that is closed, broken or full never hurts: the
line is dropped, because a client that does not read it must not be able to stop the server. Argument values
are never logged; the text of an unexpected exception, which may hold some, appears at `debug` only.
"""

from __future__ import annotations

import logging
import os
import select
import time
import traceback
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from context_pack.toolkit.registry import Finished

STDERR = 2
LONGEST_LINE = 2000
"""Bytes; a pipe that is ready takes at least this much without blocking."""
LEVELS = {
    "off": logging.CRITICAL + 1,
    "error": logging.ERROR,
    "warn": logging.WARNING,
    "info": logging.INFO,
    "debug": logging.DEBUG,
}
LOGGER = logging.getLogger("context_pack")


class DescriptorHandler(logging.Handler):
    """Writes records to a file descriptor that takes them at once, and drops them otherwise."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor, self._poll = descriptor, select.poll()
        self._poll.register(descriptor, select.POLLOUT)

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line; never raises, never blocks."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created))
        level = record.levelname.removesuffix("ING")
        line = f"{stamp} {level} context_pack: {printable(record.getMessage())}"
        data = line.encode("utf-8", "backslashreplace")[:LONGEST_LINE].decode("utf-8", "ignore").encode()
        try:
            if any(event & select.POLLOUT for _, event in self._poll.poll(0)):
                os.write(self._descriptor, data + b"\n")
        except (OSError, ValueError):
            return


class Log:
    """The log of this process; the last one that was made is the one that is written to."""

    def __init__(self, level: str, descriptor: int = STDERR) -> None:
        LOGGER.propagate = False
        LOGGER.handlers = [DescriptorHandler(descriptor)]
        LOGGER.setLevel(LEVELS[level])

    def write(self, level: str, message: str) -> None:
        """Write one line if its level is wanted; never raises, never blocks."""
        LOGGER.log(LEVELS[level], "%s", message)

    def finished(self, call: Finished) -> None:
        """One line per finished call: tool, outcome, milliseconds, bytes."""
        ok = "true" if call.ok else "false"
        LOGGER.info("call tool=%s ok=%s ms=%.1f bytes=%d", call.tool, ok, call.milliseconds, call.bytes)

    def alarm(self, tool: str, error: BaseException) -> None:
        """An exception that no contract names: its type and place, and at `debug` its traceback."""
        places = traceback.extract_tb(error.__traceback__)
        where = f" at {os.path.basename(places[-1].filename)}:{places[-1].lineno}" if places else ""
        LOGGER.error("unexpected %s in %s%s", type(error).__name__, tool, where)
        if LOGGER.isEnabledFor(logging.DEBUG):
            for line in "".join(traceback.format_exception(error)).splitlines():
                LOGGER.debug("%s", line)


def printable(text: str) -> str:
    """The text with everything that could break the line or steer a terminal replaced."""
    return "".join(char if char.isprintable() else " " if char in "\r\n\t" else "?" for char in text)
