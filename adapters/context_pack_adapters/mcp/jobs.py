"""A request that may take time: it runs on a lane, sends its own reply, and can be withdrawn.

A job is the `Call` its tool sees. It is queued, then running, then over, and only the one who takes it out of a
state may speak for it: a job cancelled in the queue never begins, a running one is told at its next `check`, and
neither is answered. Whatever its work raises becomes a reply; `run` itself never raises.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from context_pack_adapters.mcp.eras import SEVERITY, Envelope
from context_pack_adapters.mcp.progress import Progress
from context_pack_adapters.mcp.wire import INTERNAL_MESSAGE, Refusal, RequestId, error, notification

INTERNAL_ERROR = -32603
_QUEUED, _RUNNING, _OVER = range(3)


class Request(NamedTuple):
    """One decoded request; `sink` takes its reply, or None when there is none."""

    id: RequestId
    method: str
    params: Mapping[str, Any]
    envelope: Envelope | None
    sink: Callable[[bytes | None], None]

    @property
    def token(self) -> RequestId | None:
        """The progress token, if the caller gave a proper one."""
        meta = self.params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        return token if type(token) is int or type(token) is str else None


class Desk(Protocol):
    """What a job needs of its session."""

    level: str | None
    client: Mapping[str, Any]
    send: Callable[[bytes], None]
    monotonic: Callable[[], float]
    alarm: Callable[[str, BaseException], None]
    in_flight: InFlight

    def reply(self, request: Request, fields: str, ttl: int | None = None) -> bytes:
        """The whole reply in the era of the request."""


class Job:
    """One request at work."""

    def __init__(
        self, desk: Desk, request: Request, work: Callable[[Job], bytes], lane: str, family: str
    ) -> None:
        self.request = request
        self.lane = lane
        self.family = family
        self._desk = desk
        self._work = work
        self._state = _QUEUED
        self._cancelled = False
        self._stopped = False
        self._later: list[Callable[[], None]] = []
        token = request.token
        self._progress = None if token is None else Progress(token, desk.send, desk.monotonic)
        desk.in_flight.add(self)

    @property
    def request_id(self) -> RequestId:
        """The JSON-RPC id of the request."""
        return self.request.id

    @property
    def client_capabilities(self) -> Mapping[str, Any]:
        """What the caller declared, in this request or in its handshake."""
        envelope = self.request.envelope
        return self._desk.client if envelope is None else envelope.capabilities

    @property
    def wants_heartbeat(self) -> bool:
        """Whether the caller gave a progress token and still waits."""
        return self._progress is not None and self._state != _OVER and not self._cancelled

    def run(self) -> None:
        """Do the work, send the reply, then do what was left for later."""
        if not self._desk.in_flight.begin(self):
            return
        body = self._outcome()
        self._desk.in_flight.end(self)
        if self._progress is not None:
            self._progress.close()
        self.request.sink(None if self._cancelled else body)
        for work in self._later:
            try:
                work()
            except Exception as caught:
                self._desk.alarm(f"after {self.request.method}", caught)

    def cancel(self) -> None:
        """Withdraw the request; one that waits never begins, one that runs is told at its next check."""
        self._cancelled = True
        if self._progress is not None:
            self._progress.close()
        if self._desk.in_flight.drop(self):
            self.request.sink(None)

    def heartbeat(self) -> None:
        """Remind a caller who gave a progress token that the work goes on."""
        if self._progress is not None and self._state == _RUNNING:
            self._progress.beat()

    def check(self) -> None:
        """Return while the call is wanted.

        Raises:
            Cancelled: the caller has withdrawn it.
        """
        if self._cancelled:
            from context_pack.toolkit.call import Cancelled

            self._stopped = True
            raise Cancelled(self.request.method)

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Tell the caller how far the work is, if it gave a progress token."""
        if self._progress is not None:
            self._progress.report(done, total, message)

    def after(self, work: Callable[[], None]) -> None:
        """Do `work` once the reply has gone."""
        self._later.append(work)

    def log(self, level: str, data: object, logger: str | None = None) -> None:
        """Send a log message if the caller asked for messages of this level."""
        envelope = self.request.envelope
        wanted = self._desk.level if envelope is None else envelope.level
        if wanted is None or self._cancelled or self._state == _OVER or SEVERITY[level] < SEVERITY[wanted]:
            return
        params = {"level": level, "data": data} if logger is None else {"level": level, "logger": logger, "data": data}
        self._desk.send(notification("notifications/message", params))

    def _outcome(self) -> bytes | None:
        try:
            return self._work(self)
        except Refusal as refusal:
            return error(self.request.id, refusal)
        except BaseException as caught:  # a worker must outlive whatever a tool raises
            self._later.clear()
            if not self._stopped:
                self._desk.alarm(self.request.method, caught)
            return error(self.request.id, Refusal(INTERNAL_ERROR, INTERNAL_MESSAGE))


class InFlight:
    """Every request that has not been answered yet, by id; two may share one id."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[RequestId, list[Job]] = {}

    def add(self, job: Job) -> None:
        """Know the job from now on."""
        with self._lock:
            self._jobs.setdefault(job.request.id, []).append(job)

    def begin(self, job: Job) -> bool:
        """Take the job out of the queue; False if it was dropped before."""
        with self._lock:
            if job._state != _QUEUED:
                return False
            job._state = _RUNNING
            return True

    def drop(self, job: Job) -> bool:
        """Take the job out of the queue for good; False if it had begun."""
        with self._lock:
            if job._state != _QUEUED:
                return False
            self._forget(job)
            return True

    def end(self, job: Job) -> None:
        """Forget a job that has run."""
        with self._lock:
            self._forget(job)

    def named(self, request_id: RequestId) -> list[Job]:
        """The jobs with this id."""
        with self._lock:
            return list(self._jobs.get(request_id, ()))

    def every(self) -> list[Job]:
        """All jobs."""
        with self._lock:
            return [job for jobs in self._jobs.values() for job in jobs]

    def _forget(self, job: Job) -> None:
        job._state = _OVER
        jobs = self._jobs[job.request.id]
        jobs.remove(job)
        if not jobs:
            del self._jobs[job.request.id]
