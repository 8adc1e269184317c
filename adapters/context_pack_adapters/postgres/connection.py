"""Connections to the team's database, kept for the next call, each answer bounded in time.

Not the driver's pool: that one connects in threads of its own, and tells a caller after its whole time-out
that there is no connection, but not why.

Reads and what was not committed yet are tried once more when a connection was lost. A commit whose answer is
lost is not: whoever asked reads again and sees whether it is there. Revisions and unique names refuse a
change that is made twice.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, LiteralString, TypeVar

import psycopg
from attrs import field, frozen
from psycopg import errors
from psycopg.abc import RV, PQGen

from context_pack.kernel.errors import Code, Failure
from context_pack.toolkit.call import Check, never_cancelled
from context_pack_adapters.postgres.faults import (
    STORE,
    NoAnswer,
    failure_of,
    is_lost,
    locked_failure,
    lost_commit,
)

T = TypeVar("T")
Row = tuple[Any, ...]

VERSION = 5
"""The version of the tables that this program knows."""
OLDER = (
    "is of before context-pack 0.2, and is not brought up to date: with the program that made it run "
    "'context-pack team pull', have the schema context_pack dropped, then run 'team init' and 'team push'"
)
ANSWER_SECONDS = 2.0
"""How long a statement may take: with connecting, a caller hears of a silent database within five seconds."""
_TICK_SECONDS = 0.1
_MOST_IDLE = 4
_SESSION: dict[str, Any] = {
    "autocommit": True,
    "application_name": "context-pack",
    "client_encoding": "utf8",
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "prepare_threshold": None,  # poolers between us and the server do not like prepared statements
}
_BEGIN_SESSION: LiteralString = """
    SELECT set_config('context_pack.project', %(project)s, false),
           set_config('idle_in_transaction_session_timeout', '60s', false),
           set_config('statement_timeout', %(milliseconds)s, false),
           set_config('search_path', 'pg_catalog', false)"""
_KNOWN: LiteralString = """
    SELECT (SELECT max(version) FROM context_pack.cp_schema),
           EXISTS (SELECT FROM context_pack.cp_projects WHERE project = %(project)s)"""
_LOCK_TIMEOUT: LiteralString = """
    SELECT set_config('lock_timeout', %(lock)s, true), set_config('statement_timeout', %(statement)s, true)"""


@frozen
class Address:
    """Where the database is; the password is apart, so that the rest can be shown."""

    url: str
    password: str | None = field(default=None, repr=False)


class Link(psycopg.Connection[Row]):
    """One connection; it is closed when the server stays silent, or when the caller has withdrawn."""

    project = ""
    seconds = ANSWER_SECONDS
    waiting: Check = staticmethod(never_cancelled)

    def run(self, text: LiteralString, **values: Any) -> psycopg.Cursor[Row]:
        """Execute a statement about the project of this connection."""
        return self.execute(text, {**values, "project": self.project})

    def wait(self, gen: PQGen[RV], interval: float = _TICK_SECONDS, timeout: float | None = None) -> RV:
        """Run a generator of the driver until it is done or the time is over.

        The driver wakes it after each interval in which nothing came, with nothing ready.
        """
        end = time.monotonic() + self.seconds + 0.5  # the server's own limit comes first
        bounds = {} if timeout is None else {"timeout": timeout}  # psycopg 3.2 knows none

        def watched() -> PQGen[RV]:
            ready: Any = None
            try:
                while True:
                    ready = yield gen.send(ready)
                    if not ready:
                        self._check(end)
            except StopIteration as done:
                value: RV = done.value
                return value

        return super().wait(watched(), interval, **bounds)

    def _check(self, end: float) -> None:
        try:
            self.waiting()
            if time.monotonic() > end:
                raise NoAnswer
        except BaseException:
            self.close()
            raise


class Database:
    """The connections of one process to one project; safe to share between threads."""

    def __init__(self, address: Address, project: Callable[[], str], seconds: float = ANSWER_SECONDS) -> None:
        self._address = address
        self._seconds = seconds
        self._name = project
        self._lock = threading.Lock()
        self._idle: list[Link] = []
        weakref.finalize(self, _close_all, self._idle)

    @cached_property
    def project(self) -> str:
        """The key of the project; found out when it is first needed."""
        return self._name()

    def close(self) -> None:
        """Close what is idle; the next call opens a new connection."""
        with self._lock:
            _close_all(self._idle)

    def rows(self, text: LiteralString, **values: Any) -> Sequence[Row]:
        """The rows of a statement that may be run again if its connection is lost."""
        try:
            return self._run(lambda link: link.run(text, **values).fetchall())
        except psycopg.Error as error:
            raise failure_of(error) from None

    def tried(self, text: LiteralString, **values: Any) -> Sequence[Row]:
        """The rows of a read, or of a write that may be missed; none if they cannot be had."""
        try:
            return self.rows(text, **values)
        except Failure:
            return ()

    def change(
        self, work: Callable[[Link], T], name: str, lock_seconds: float, waiting: Check = never_cancelled
    ) -> T:
        """Do the work in one transaction, which waits so long for locks; `name` is what may be locked.

        What `waiting` raises ends the wait.

        Raises:
            Failure: `lock_timeout`; `unavailable`, also where the answer to a commit was lost.
            UniqueViolation: another row has that id or that name.
        """

        def changed(link: Link) -> T:
            committing = False
            try:
                with link.transaction():
                    lock, statement = (str(int(1000 * each)) for each in (lock_seconds, link.seconds))
                    link.execute(_LOCK_TIMEOUT, {"lock": lock, "statement": statement})
                    result = work(link)
                    committing = True
                return result
            except psycopg.Error as error:
                if committing and is_lost(error):
                    raise lost_commit() from None
                raise

        try:
            return self._run(changed, lock_seconds, waiting)
        except errors.UniqueViolation:
            raise
        except (errors.LockNotAvailable, errors.DeadlockDetected):
            raise locked_failure(name, lock_seconds) from None
        except psycopg.Error as error:
            raise failure_of(error) from None

    def _run(
        self, work: Callable[[Link], T], lock_seconds: float = 0.0, waiting: Check = never_cancelled
    ) -> T:
        """Do the work, and once more on a new connection if the first was lost."""
        try:
            with self._link(lock_seconds, waiting) as link:
                return work(link)
        except psycopg.Error as error:
            # A server that was silent once is not waited for again.
            if not is_lost(error) or isinstance(error, NoAnswer | errors.QueryCanceled):
                raise
        self.close()  # what was idle is most likely gone, too
        with self._link(lock_seconds, waiting) as link:
            return work(link)

    @contextmanager
    def _link(self, lock_seconds: float = 0.0, waiting: Check = never_cancelled) -> Iterator[Link]:
        """A connection that is kept afterwards; locks are waited for in addition to a statement's time."""
        with self._lock:
            link = self._idle.pop() if self._idle else None
        if link is None:
            link = self._connect()
        link.seconds, link.waiting = self._seconds + lock_seconds, waiting
        try:
            yield link
        finally:
            with self._lock:
                keep = not link.closed and len(self._idle) < _MOST_IDLE
                if keep and link.info.transaction_status == psycopg.pq.TransactionStatus.IDLE:
                    self._idle.append(link)
                else:
                    link.close()

    def _connect(self) -> Link:
        """A new connection of this project.

        Raises:
            Failure: it cannot be had, or the tables are of another version.
        """
        try:
            link = open_link(self._address, self._seconds)
            try:
                self._begin(link)
            except BaseException:
                link.close()
                raise
        except psycopg.Error as error:
            raise failure_of(error) from None
        return link

    def _begin(self, link: Link) -> None:
        """Name the project to row-level security, bound what a statement may take, and check the tables."""
        link.project = self.project
        link.run(_BEGIN_SESSION, milliseconds=str(int(1000 * self._seconds)))
        ((version, known),) = link.run(_KNOWN).fetchall()
        check_version(version)
        if not known:
            words = "is not in the team's database, or this login has not its role"
            raise Failure(
                Code.MIGRATION_REQUIRED,
                f"the project {self.project!r} {words}; run 'context-pack team init'",
                {"store": STORE, "project": self.project},
            )


def _close_all(links: list[Link]) -> None:
    while links:
        links.pop().close()


def open_link(address: Address, seconds: float = ANSWER_SECONDS) -> Link:
    """A connection that knows no project yet."""
    password: dict[str, Any] = {} if address.password is None else {"password": address.password}
    link = Link.connect(address.url, **_SESSION, **password, connect_timeout=max(2, int(seconds)))
    link.seconds = seconds
    return link


def check_version(version: int | None) -> None:
    """Refuse tables that this program does not know."""
    if version == VERSION:
        return
    if version is None:
        words = "has no tables yet; run 'context-pack team init' once"
    elif version < VERSION:
        words = OLDER
    else:
        words = "is newer than this program; upgrade context-pack"
    details = {"store": STORE, "found": version, "supported": VERSION}
    raise Failure(Code.MIGRATION_REQUIRED, f"the schema of the team's database {words}", details)
