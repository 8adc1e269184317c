"""One index file: opened, checked, replaced when it cannot be used, read by many and written by one.

Readers borrow a connection each and see one state for as long as they hold it; the writer's transactions are
short. Before every use the names on the disk are compared with what is open: a file that was deleted or
replaced, or whose log was taken away, is opened anew. Opening, creating and setting aside happen under a lock
that all processes share, because a file that two of them judge at once would be replaced twice.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import TypeVar

from context_pack.kernel.errors import Failure
from context_pack_adapters.disk.faults import translated
from context_pack_adapters.disk.opening import AnyPlace
from context_pack_adapters.disk.private import FILE_MODE, PrivateFolder
from context_pack_adapters.index.connections import BUSY_SECONDS, LOGS, CheckedIndex, connect
from context_pack_adapters.index.faults import Damaged, damaged, locked, translating_errors
from context_pack_adapters.index.schema import (
    CHECKED_BYTES,
    IndexRecipe,
    check_library,
    check_structure,
    create,
    is_empty,
    mismatch,
)
from context_pack_adapters.serving import check_call

T = TypeVar("T")
ATTEMPTS = 3
"""How often a call is retried because the file was replaced meanwhile."""


class IndexFile:
    """The file of an index, reopened when it is replaced or damaged; safe for threads and processes."""

    def __init__(self, place: AnyPlace, maker: IndexRecipe, timeout: float) -> None:
        self._folder, self.name = PrivateFolder.around(place)
        self._path = os.path.join(self._folder.path, self.name)
        self._maker = maker
        self._timeout = timeout
        self._opening, self._writing = Lock(), Lock()
        self._opened: CheckedIndex | None = None
        self._notices: list[str] = []

    def tell(self, notice: str) -> None:
        """Queue a notice for the user."""
        with self._opening:
            self._notices.append(notice)

    def notices(self) -> list[str]:
        """The queued notices for the user; each is returned once."""
        with self._opening:
            notices, self._notices = self._notices, []
        return notices

    def close(self) -> None:
        """Close what is open; the next use opens it again."""
        with self._opening:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.retire()

    @contextmanager
    def reading(self) -> Iterator[tuple[CheckedIndex, sqlite3.Connection]]:
        """A connection that sees the newest state until the block ends; damage found marks the file."""
        opened, connection = self._begin_reading()
        try:
            yield opened, connection
        finally:
            opened.give_back(connection)

    def read(self, action: Callable[[sqlite3.Connection], T]) -> T:
        """The result of the action; if the file proves damaged, of a retry on its replacement."""
        for last in (False, True):
            opened, connection = self._begin_reading()
            try:
                with translating_errors(self.name):
                    return action(connection)
            except Damaged as error:
                opened.condemn(str(error))
                if last:
                    raise damaged(self.name) from error
            finally:
                opened.give_back(connection)
        raise AssertionError("unreachable")

    def _begin_reading(self) -> tuple[CheckedIndex, sqlite3.Connection]:
        for _ in range(ATTEMPTS):
            opened = self._current()
            try:
                with translating_errors(self.name):
                    return opened, opened.borrow()
            except Damaged as error:
                opened.condemn(str(error))
            except Failure:
                # A file that went away between the look and the reading cannot be opened: look again.
                if opened.is_current():
                    raise
        raise damaged(self.name)

    def write(self, action: Callable[[sqlite3.Connection], T], wait: bool = True) -> T:
        """Run the action in one transaction; retried if the file was replaced meanwhile.

        Raises:
            Failure: `lock_timeout` when somebody else writes for too long, or at all if not to `wait`.
        """
        end = time.monotonic() + (self._timeout if wait else 0)
        while not self._writing.acquire(timeout=BUSY_SECONDS if wait else 0):
            check_call()
            if time.monotonic() >= end:
                raise locked(self.name)
        try:
            for _ in range(ATTEMPTS):
                opened = self._current()
                try:
                    with translating_errors(self.name):
                        done = opened.write(action, wait)
                except Damaged as error:
                    opened.condemn(str(error))
                    continue
                if opened.is_current():
                    return done
            raise damaged(self.name)
        finally:
            self._writing.release()

    def _current(self) -> CheckedIndex:
        """The open index if it is still the file on disk, else that file, opened."""
        opened = self._opened
        if opened is not None and opened.is_current():
            return opened
        with self._opening:
            if self._opened is not None:
                if self._opened.is_current():
                    return self._opened
                self._opened.retire()
            self._opened = self._open(self._opened)
            return self._opened

    def _open(self, before: CheckedIndex | None) -> CheckedIndex:
        with translated(self.name):
            self._folder.make()
            try:
                with self._folder.lock(f"{self.name}.lock", self._timeout):
                    return self._open_alone(before)
            except Failure as failure:
                raise locked(self.name) if "lock" in failure.details else failure from failure

    def _open_alone(self, before: CheckedIndex | None) -> CheckedIndex:
        if before is not None and before.fault and before.is_named():
            self._set_aside(f"was damaged ({before.fault})")
        elif before is not None and before.lost_its_log() and os.path.exists(self._path):
            self._set_aside("lost the log of its last changes")
        elif before is not None and not os.path.exists(self._path):
            self._notices.append(f"{self.name} was gone; it is built anew")
        for _ in range(ATTEMPTS):
            reason = self._unusable()
            if reason is not None:
                self._set_aside(reason)
                continue
            try:
                with translating_errors(self.name):
                    opened = CheckedIndex(self._path, self._timeout)
                    opened.give_back(opened.borrow())
                    opened.remember()
                    return opened
            except Damaged as error:
                self._set_aside(f"was damaged ({error})")
        raise damaged(self.name)

    def _unusable(self) -> str | None:
        """Why the file cannot be used, in words that follow its name; an empty file is initialised."""
        try:
            # SQLite would follow a link and make its index of whatever file it leads to.
            if not stat.S_ISREG(os.lstat(self._path).st_mode):
                return "was no file"
        except FileNotFoundError:
            self._remove_logs()
            # SQLite gives its logs the mode of the file, and the file one for everybody.
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE))
        try:
            with translating_errors(self.name):
                connection = connect(self._path, self._timeout)
                try:
                    check_library()
                    if is_empty(connection):
                        create(connection, self._maker)
                        return None
                    reason = mismatch(connection, self._maker)
                    if os.stat(self._path).st_size <= CHECKED_BYTES:
                        check_structure(connection)
                    return None if reason is None else f"cannot be used any more: {reason}"
                finally:
                    connection.close()
        except Damaged as error:
            return f"was damaged ({error})"

    def _set_aside(self, reason: str) -> None:
        """Rename the file, replacing the last one that was set aside, and queue a notice."""
        folder = os.path.dirname(self._path)
        for name in os.listdir(folder):
            # Graphs were made of its vectors, and go with it.
            if name.startswith((self.name + ".broken-", self.name + ".graph-")):
                _remove(os.path.join(folder, name))
        aside = f"{self.name}.broken-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
        while os.path.lexists(os.path.join(folder, aside)):  # a folder of this second that could not go
            aside += "x"
        os.replace(self._path, os.path.join(folder, aside))
        self._remove_logs()
        self._notices.append(f"{self.name} {reason}; it is kept as {aside} and built anew")

    def _remove_logs(self) -> None:
        for suffix in LOGS:
            _remove(self._path + suffix)


def _remove(path: str) -> None:
    """Remove a file or an empty folder; errors are ignored."""
    with suppress(OSError):
        os.rmdir(path) if stat.S_ISDIR(os.lstat(path).st_mode) else os.unlink(path)
