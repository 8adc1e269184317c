"""A request that may take time: it runs in a thread, sends its own reply, and can be cancelled.

A job is the `Call` its tool sees. It is queued, then running, then over; whoever takes it out of a state
speaks for it, once. Whatever its work raises becomes a reply; `run` itself never raises. A job cancelled in
the queue never begins; a running one that is cancelled or past its deadline (counted from when it begins) is
told at its next `check`, or in whatever waits in its thread (`toolkit.call.CHECK`). For work that does not
listen, `check_deadline` answers a little later, and whatever it finds is not sent any more.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

from context_pack.kernel.errors import Failure
from context_pack.toolkit.call import CHECK, Cancelled, Overdue
from context_pack_adapters.server import jsonrpc
from context_pack_adapters.server.jsonrpc import Id, ProtocolError, error, failed, internal
from context_pack_adapters.server.protocol_versions import (
    OTHER_CLIENT,
    SEVERITY,
    ClientView,
    RequestContext,
)

CALL_SECONDS = 45.0
"""How long a call may take: less than the minute after which the usual clients give up."""
FETCHING = 20
"""Factor of the deadline for calls that fetch over the network."""
DEAF_SECONDS = 2.0
"""How long after its deadline a call may still send its own reply."""
BURST, REPORT_SECONDS = 10, 0.1
HEARTBEAT_SECONDS, HEARTBEAT_STEP = 5.0, 0.001


class ConnectionState:
    """What the jobs of a connection share: output, clock, error log, and what the client said of itself."""

    def __init__(
        self,
        send: Callable[[bytes], None],
        monotonic: Callable[[], float],
        alarm: Callable[[str, BaseException], None],
        call_seconds: float = CALL_SECONDS,
        page_tokens: int | None = None,
    ) -> None:
        self.send, self.monotonic, self.alarm = send, monotonic, alarm
        self.call_seconds = call_seconds
        self.page_tokens = page_tokens  # the largest answer for every client; None to choose by client
        self.lock = threading.Lock()  # held by whoever begins or ends a job
        self.jobs: dict[Job, None] = {}
        """Every request that has not been answered, in order of arrival."""
        self.level: str | None = None
        """From which severity on the client of a handshake wants log messages; None until it has said so."""
        self.client_view = OTHER_CLIENT  # what the client of the handshake shows of an answer

    def named(self, request_id: Id) -> list[Job]:
        """The jobs with this id, for two may share one."""
        return [job for job in list(self.jobs) if jsonrpc.same_id(job.request.id, request_id)]

    def view_of(self, request: RequestContext) -> ClientView:
        """What the client that sent a request shows of its answer."""
        return self.client_view if request.envelope is None else request.envelope.view


class Job:
    """One request at work; `kind` and `family` say which threads may run it."""

    def __init__(
        self,
        connection: ConnectionState,
        request: RequestContext,
        work: Callable[[Job], bytes | None],
        kind: str = "read",
        family: str = "",
        seconds: float | None = None,
        *,
        fail: Callable[[Job, Failure], bytes] | None = None,
    ) -> None:
        self.request, self.kind, self.family = request, kind, family
        self.seconds = connection.call_seconds if seconds is None else seconds
        self.has_begun = self.is_over = False
        self._connection, self._work, self._fail = connection, work, fail
        self._received = connection.monotonic()
        self._until = math.inf
        self._cancelled = False
        self._stop: Cancelled | None = None
        token = request.token
        self._progress = None if token is None else ProgressNotes(token, connection)
        connection.jobs[self] = None

    @property
    def request_id(self) -> Id:
        """The JSON-RPC id of the request."""
        return self.request.id

    @property
    def waited(self) -> float:
        """Seconds since the request was received, in the queue or at work."""
        return self._connection.monotonic() - self._received

    @property
    def page_tokens(self) -> int:
        """The largest answer, in tokens, that this client shows whole."""
        if self._connection.page_tokens is not None:
            return self._connection.page_tokens
        return self._connection.view_of(self.request).page_tokens

    def run(self) -> None:
        """Do the work and send the reply."""
        with self._connection.lock:
            if self.has_begun or self.is_over:
                return
            self.has_begun = True
        self._until = self._connection.monotonic() + self.seconds
        body = self._outcome()
        if self._end():
            self._answer(body)

    def cancel(self) -> None:
        """Cancel the request: a queued one never starts, a running one stops at its next check."""
        self._cancelled = True
        self._end_progress()
        if self._end(unless_begun=True):
            self._answer(None)

    def check_deadline(self) -> bool:
        """Send a heartbeat if it is time; answer for work that is past its deadline and does not listen.

        True if it was answered for: its thread may never come back.
        """
        if self._connection.monotonic() < self._until + DEAF_SECONDS:
            if self._progress is not None:
                self._progress.keep_alive()
            return False
        return self.give_up(Overdue(self.seconds).failure())

    def give_up(self, failure: Failure) -> bool:
        """Reply with a failure, unless a reply was sent; the work's own result is then not sent."""
        if not self._end():
            return False
        body = error(self.request.id, failed(failure)) if self._fail is None else self._fail(self, failure)
        self._answer(body)
        return True

    def check(self) -> None:
        """Return while the call is wanted; raise once it was cancelled or is overdue."""
        if self._cancelled:
            self._stop = Cancelled(self.request.method)
        elif self._connection.monotonic() > self._until:
            self._stop = Overdue(self.seconds)
        if self._stop is not None:
            raise self._stop

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Send progress to the caller, if it gave a progress token."""
        if self._progress is not None:
            self._progress.report(done, total, message)

    def log(self, level: str, data: object, logger: str | None = None) -> None:
        """Send a log message if the caller asked for messages of this level."""
        envelope = self.request.envelope
        least = self._connection.level if envelope is None else envelope.level
        if least is None or self._cancelled or self.is_over or SEVERITY[level] < SEVERITY[least]:
            return
        source = {} if logger is None else {"logger": logger}
        self._connection.send(
            jsonrpc.notification("notifications/message", {"level": level, "data": data, **source})
        )

    def _outcome(self) -> bytes | None:
        check = CHECK.set(self.check)
        try:
            return self._work(self)
        except ProtocolError as refusal:
            return error(self.request.id, refusal)
        except BaseException as caught:  # a worker must outlive whatever a tool raises
            if isinstance(self._stop, Overdue):
                return error(self.request.id, failed(self._stop.failure()))
            if self._stop is None:
                self._connection.alarm(self.request.method, caught)
                self.log("error", {"method": self.request.method, "message": internal().message}, "server")
            return error(self.request.id, internal())
        finally:
            CHECK.reset(check)

    def _end(self, *, unless_begun: bool = False) -> bool:
        """Let this job be over: who gets True may speak for it, once; False if it was, or had begun."""
        with self._connection.lock:
            if self.is_over or (unless_begun and self.has_begun):
                return False
            self.is_over = True
        self._end_progress()
        return True

    def _answer(self, body: bytes | None) -> None:
        """Send the reply; only then the connection may end."""
        try:
            self.request.reply(None if self._cancelled else body)
        finally:
            self._connection.jobs.pop(self, None)

    def _end_progress(self) -> None:
        if self._progress is not None:
            self._progress.close()


class ProgressNotes:
    """Sends `notifications/progress`: values that only rise, ten a second after the first ten."""

    def __init__(self, token: Id, connection: ConnectionState) -> None:
        self._token, self._send, self._monotonic = token, connection.send, connection.monotonic
        self._lock = threading.Lock()
        self._open, self._count = True, 0
        self._sent_at, self._last = self._monotonic(), -math.inf
        self._total: float | None = None

    def report(self, done: float, total: float | None, message: str | None) -> None:
        """Send a value if it is greater than the last one; the end is never dropped for its rate."""
        with self._lock:
            soon = self._count >= BURST and self._monotonic() - self._sent_at < REPORT_SECONDS
            if not soon or (total is not None and done >= total):
                self._emit(done, total, message)

    def keep_alive(self) -> None:
        """Send a slightly higher value if nothing was sent for a while."""
        with self._lock:
            if self._monotonic() - self._sent_at >= HEARTBEAT_SECONDS:
                self._emit(max(self._last, 0.0) + HEARTBEAT_STEP, self._total, None)

    def close(self) -> None:
        """Send nothing from now on."""
        with self._lock:
            self._open = False

    def _emit(self, done: float, total: float | None, message: str | None) -> None:
        if not self._open or not self._last < done < math.inf:  # neither is a NaN
            return
        self._last, self._total, self._sent_at, self._count = done, total, self._monotonic(), self._count + 1
        params: dict[str, Any] = {"progressToken": self._token, "progress": done}
        if total is not None and done <= total < math.inf:
            params["total"] = total
        if message is not None:
            params["message"] = message
        self._send(jsonrpc.notification("notifications/progress", params))
