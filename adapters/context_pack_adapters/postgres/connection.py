"""Connections to the team's database: opened when they are needed, kept while they work, bounded in time.

Not the driver's own pool: that one keeps trying in threads of its own, and tells a caller after its whole
timeout that there is no connection, but not why. Here, the first caller hears at once what is wrong.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, LiteralString, TypeVar

import psycopg
from attrs import field, frozen
from psycopg import errors
from psycopg.abc import RV, PQGen

from context_pack.kernel.errors import Code, Failure
from context_pack.packs.ports import Waiting, patiently
from context_pack_adapters.postgres.faults import (
    ConnectionLost,
    NoAnswer,
    failure_of,
    is_lost,
    locked_failure,
)

T = TypeVar("T")
Row = tuple[Any, ...]
Statement = tuple[LiteralString, dict[str, Any]]

VERSION = 4
"""The version of the tables that this program knows."""
ANSWER_SECONDS = 4.0
"""How long a statement may take, and how long a lost connection is tried again."""
_PAUSE_SECONDS = 0.1
_SLOW_SECONDS, _REST_SECONDS = 1.0, 3.0
_TICK_SECONDS = 0.05
_MOST_IDLE = 4
_SESSION: dict[str, Any] = {
    "application_name": "context-pack",
    "client_encoding": "utf8",
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
    # Each statement is planned for the values it is given: one plan for every scope compares all vectors.
    "prepare_threshold": None,
}
_BEGIN_SESSION: LiteralString = """
    SELECT set_config('context_pack.project', %(project)s, false),
           set_config('idle_in_transaction_session_timeout', '60s', false),
           set_config('search_path', coalesce((
             SELECT quote_ident(nspname) FROM pg_catalog.pg_extension
             JOIN pg_catalog.pg_namespace AS place ON place.oid = extnamespace WHERE extname = 'vector'
           ), 'pg_catalog'), false),
           (SELECT max(version) FROM context_pack.cp_schema),
           EXISTS (SELECT FROM context_pack.cp_projects WHERE project = %(project)s)"""
_BEGIN: LiteralString = "BEGIN ISOLATION LEVEL READ COMMITTED"
_LOCK_TIMEOUT: LiteralString = "SELECT set_config('lock_timeout', %(milliseconds)s, true)"


@frozen
class Address:
    """Where the database is; the password is apart, so that the rest can be shown."""

    url: str
    password: str | None = field(default=None, repr=False)


class Link(psycopg.Connection[Row]):
    """One connection; waits end at a timeout, or when the call was cancelled."""

    until = float("inf")
    seconds = ANSWER_SECONDS
    waiting: Waiting = staticmethod(patiently)
    _given_up: BaseException | None = None

    @property
    def gave_up(self) -> bool:
        """Whether a wait was given up; an answer may still arrive and must be ignored."""
        return self._given_up is not None

    def wait(self, gen: PQGen[RV], interval: float = _TICK_SECONDS, timeout: float | None = None) -> RV:
        """Run a generator of the driver, checking timeout and cancellation."""
        bounds = {} if timeout is None else {"timeout": timeout}
        return super().wait(self._watched(gen), min(interval or _TICK_SECONDS, _TICK_SECONDS), **bounds)

    def _watched(self, gen: PQGen[RV]) -> PQGen[RV]:
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if not ready:
                    self._check()
                wanted = gen.send(ready)
        except StopIteration as end:
            value: RV = end.value
            return value

    def _check(self) -> None:
        """Raise if the call was cancelled or the time is over."""
        try:
            self.waiting()
            if time.monotonic() > self.until:
                raise NoAnswer
        except BaseException as error:
            self._given_up = error
            raise

    def together(self, *statements: Statement, besides: float = 0.0) -> list[psycopg.Cursor[Row]]:
        """Run statements in one round trip, which may wait for a lock; the first failure ends it."""
        self.until = time.monotonic() + self.seconds + besides
        try:
            with self.pipeline():
                return [self.execute(text, values) for text, values in statements]
        except BaseException:
            if self._given_up is not None:  # the end of the pipeline has complaints of its own
                raise self._given_up from None
            raise
        finally:
            self.until = float("inf")


class Database:
    """The connections of one process to one project; safe to share between threads.

    `seconds` is how long an answer is waited for, and how long a lost connection is tried again.
    """

    def __init__(self, address: Address, project: Callable[[], str], seconds: float = ANSWER_SECONDS) -> None:
        self._address = address
        self._seconds = seconds
        self._name = project
        self._project: str | None = None
        self._idle: list[Link] = []
        self._refusal: tuple[float, Failure] | None = None
        self._lock = threading.Lock()
        weakref.finalize(self, _close_all, self._idle)

    @property
    def project(self) -> str:
        """The key of the project; found out when it is first needed."""
        if self._project is None:
            self._project = self._name()
        return self._project

    def close(self) -> None:
        """Close what is idle."""
        with self._lock:
            _close_all(self._idle)

    def rows(self, text: LiteralString, values: dict[str, Any]) -> Sequence[Row]:
        """The rows of a read, in one round trip; retried if the connection is lost."""
        statement = (text, {"project": self.project, **values})
        return self.attempt(lambda link, _: link.together(statement)[0].fetchall())

    def tried(self, text: LiteralString, **values: Any) -> Sequence[Row]:
        """The rows of a read or of a write that may be lost; none if they cannot be had."""
        try:
            return self.rows(text, values)
        except Failure:
            return ()

    def attempt(self, work: Callable[[Link, bool], T]) -> T:
        """Run `work` on a connection; if that is lost, again on a new one, with a flag that says so."""
        again, end = False, time.monotonic() + self._seconds
        while True:
            try:
                with self.link(patient=again) as link:
                    return work(link, again)
            except ConnectionLost as lost:
                if time.monotonic() > end:
                    raise lost.failure from None
                self.close()  # what was idle is most likely gone, too
                again = True

    @contextmanager
    def link(self, patient: bool = False) -> Iterator[Link]:
        """A connection that is kept for the next caller, unless it is lost meanwhile."""
        with self._lock:
            link = self._idle.pop() if self._idle else None
        if link is None:
            link = self._connected(patient)
        try:
            yield link
            if link.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                link.together(("ROLLBACK", {}))
        except BaseException as error:
            self._keep_or_drop(link, error)
            raise
        self._keep(link)

    def _keep_or_drop(self, link: Link, error: BaseException) -> None:
        """After an error: keep the connection if it can still be used; foreign errors become failures."""
        status = link.info.transaction_status
        if link.gave_up or is_lost(link, error) or status == psycopg.pq.TransactionStatus.ACTIVE:
            self._drop(link)
            if isinstance(error, psycopg.Error | NoAnswer):
                raise ConnectionLost(failure_of(error)) from None
            return
        try:
            link.together(("ROLLBACK", {}))
        except (psycopg.Error, NoAnswer):
            self._drop(link)
        else:
            self._keep(link)
        if isinstance(error, psycopg.Error):
            raise failure_of(error) from None

    def _drop(self, link: Link) -> None:
        """Close a connection and cancel its statement in the server."""
        with suppress(psycopg.Error, NoAnswer):
            if not link.closed and link.info.transaction_status == psycopg.pq.TransactionStatus.ACTIVE:
                link.cancel_safe(timeout=1.0)
        link.close()

    def _keep(self, link: Link) -> None:
        with self._lock:
            if len(self._idle) < _MOST_IDLE and not link.closed:
                self._idle.append(link)
                return
        link.close()

    def _connected(self, patient: bool) -> Link:
        """A new connection; one that was lost a moment ago is tried for longer.

        A server that let us wait in vain is not asked again at once: the next call need not wait as well.
        """
        if self._refusal is not None and time.monotonic() < self._refusal[0]:
            raise self._refusal[1]
        end = time.monotonic() + self._seconds
        while True:
            begun = time.monotonic()
            try:
                return self.connect()
            except Failure as failure:
                if time.monotonic() - begun > _SLOW_SECONDS:
                    self._refusal = (time.monotonic() + _REST_SECONDS, failure)
                    raise
                left = end - time.monotonic()
                if not patient or failure.code is not Code.UNAVAILABLE or left < _PAUSE_SECONDS:
                    raise
                time.sleep(_PAUSE_SECONDS)

    def connect(self) -> Link:
        """A new connection of this project.

        Raises:
            Failure: it cannot be had, or the tables are of another version.
        """
        project = self.project
        try:
            link = open_link(self._address, self._seconds)
            try:
                ((_, _, _, found, known),) = link.together((_BEGIN_SESSION, {"project": project}))[
                    0
                ].fetchall()
                check_version(found)
                _check_project(project, known)
            except BaseException:
                link.close()
                raise
        except (psycopg.Error, NoAnswer) as error:
            raise failure_of(error) from None
        return link


def _close_all(links: list[Link]) -> None:
    while links:
        links.pop().close()


def open_link(address: Address, seconds: float = ANSWER_SECONDS) -> Link:
    """A connection that knows no project yet."""
    given: dict[str, Any] = {"connect_timeout": max(2, int(seconds) - 1)}
    if address.password is not None:
        given["password"] = address.password
    link = Link.connect(address.url, autocommit=True, **_SESSION, **given)
    link.seconds = seconds
    return link


def check_version(found: int | None) -> None:
    """Refuse tables that this program does not know."""
    if found == VERSION:
        return
    if found is None or found < VERSION:
        words = "is older than this program; run 'context-pack team init' to bring it up to date"
    else:
        words = "is newer than this program; upgrade context-pack"
    details = {"found": found, "supported": VERSION}
    raise Failure(Code.MIGRATION_REQUIRED, f"the schema of the team's database {words}", details)


def _check_project(project: str, known: bool) -> None:
    if not known:
        words = "is not in the team's database, or this login has not its role; run 'context-pack team init'"
        raise Failure(Code.MIGRATION_REQUIRED, f"the project {project!r} {words}", {"project": project})


def locked(
    link: Link, name: str, seconds: float, waiting: Waiting, *statements: Statement
) -> list[psycopg.Cursor[Row]]:
    """Begin a transaction with statements that may wait for a lock, in one round trip."""
    link.waiting = waiting
    milliseconds = str(max(1, int(seconds * 1000)))
    begin: tuple[Statement, ...] = ((_BEGIN, {}), (_LOCK_TIMEOUT, {"milliseconds": milliseconds}))
    try:
        return link.together(*begin, *statements, besides=seconds)[2:]
    except (errors.LockNotAvailable, errors.DeadlockDetected):
        raise locked_failure(name, seconds) from None
    finally:
        del link.waiting
