"""A request that may take time: it runs on a lane, sends its own reply, and can be cancelled.

A job is the `Call` its tool sees. It is queued, then running, then over, and only the one who takes it out
of a state may speak for it: a job cancelled in the queue never begins, a running one is told at its next
`check`, and neither is answered. Whatever its work raises becomes a reply; `run` itself never raises.

A job has a deadline, counted from when it begins: `check` tells its work, and so does whatever waits or
counts in its thread (`serving.CHECK`). Work that does not listen is answered for a little later by `look`,
and whatever it finds is not sent any more.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.mcp.eras import SEVERITY
from context_pack_adapters.mcp.exchange import Exchange
from context_pack_adapters.mcp.jsonrpc import Id, same_id
from context_pack_adapters.mcp.limits import OTHER_CLIENT, ClientView, client_view
from context_pack_adapters.mcp.progress import HEARTBEAT_SECONDS, ProgressNotes
from context_pack_adapters.mcp.wire import Refusal, error, failed, internal, notification
from context_pack_adapters.serving import CHECK

if TYPE_CHECKING:
    from context_pack.toolkit.call import Overdue

CALL_SECONDS = 45.0
"""How long a call may take: less than the minute after which the usual clients give up."""
FETCHING = 20
"""Factor of the deadline for calls that fetch over the network."""
DEAF_SECONDS = 2.0
"""How long after its deadline a call may still send its own reply."""


class JobContext:
    """What the jobs of a connection share: output, clock, error log, and the client's capabilities."""

    def __init__(
        self,
        send: Callable[[bytes], None],
        monotonic: Callable[[], float],
        alarm: Callable[[str, BaseException], None],
        call_seconds: float = CALL_SECONDS,
        page_tokens: int | None = None,
    ) -> None:
        self.call_seconds = call_seconds
        self.page_tokens = page_tokens
        """The largest answer in tokens for every client; None to choose by client."""
        self.send = send
        self.monotonic = monotonic
        self.alarm = alarm
        self.lock = threading.Lock()
        """Held by whoever begins or ends a job."""
        self.jobs: set[Job] = set()
        """Every request that has not been answered; each change is one step of the interpreter."""
        self.level: str | None = None
        """From which severity on a legacy client wants log messages; None until it has said so."""
        self.client: Mapping[str, Any] = {}
        """The capabilities of the legacy handshake."""
        self.client_view = OTHER_CLIENT
        """What the client of the legacy handshake shows of an answer."""

    def view_of(self, exchange: Exchange) -> ClientView:
        """What the client that sent a request shows of its answer."""
        return self.client_view if exchange.envelope is None else client_view(exchange.envelope.client)

    def named(self, request_id: Id) -> list[Job]:
        """The jobs with this id, for two may share one."""
        return [job for job in list(self.jobs) if same_id(job.exchange.id, request_id)]


class Job:
    """One request at work."""

    _until = math.inf
    _overdue: Overdue | None = None
    is_over = False
    """Whether the work is done, and at most what was left for after the reply remains."""
    _begun = False
    _cancelled = False
    _stopped = False

    def __init__(
        self,
        desk: JobContext,
        exchange: Exchange,
        work: Callable[[Job], bytes | None],
        lane: str = "read",
        family: str = "",
        seconds: float | None = None,
        subject: str = "",
        *,
        route: Callable[[], tuple[str, str, float, str]] | None = None,
        fail: Callable[[Job, Failure], bytes] | None = None,
    ) -> None:
        self.exchange = exchange
        self.lane = lane
        self.family = family
        self.seconds = desk.call_seconds if seconds is None else seconds
        self.subject = subject
        self.later: list[Callable[[], None]] = []
        """What was left for after the reply."""
        self.patience = self.seconds
        """Seconds until it is first worth looking."""
        self._failed = fail
        self._route = route
        self._desk = desk
        self._work = work
        self._received = desk.monotonic()
        self._progress: ProgressNotes | None = None
        if "_meta" in exchange.params and (token := exchange.token) is not None:
            self._progress = ProgressNotes(token, desk.send, desk.monotonic)
            self.patience = min(self.seconds, HEARTBEAT_SECONDS)
        desk.jobs.add(self)

    @property
    def request_id(self) -> Id:
        """The JSON-RPC id of the request."""
        return self.exchange.id

    @property
    def waited(self) -> float:
        """Seconds since the request was received, in the queue or at work; loading the tools not counted."""
        return self._desk.monotonic() - self._received

    @property
    def page_tokens(self) -> int:
        """The largest answer, in tokens, that this client shows whole."""
        if self._desk.page_tokens is not None:
            return self._desk.page_tokens
        return self._desk.view_of(self.exchange).page_tokens

    @property
    def client_capabilities(self) -> Mapping[str, Any]:
        """What the caller declared, in this request or in its handshake."""
        envelope = self.exchange.envelope
        return self._desk.client if envelope is None else envelope.capabilities

    def find_lane(self) -> None:
        """Learn the lane and the family, which may take as long as it takes to load the tools.

        That time is the server's own and no part of what a call is given.
        """
        route, self._route = self._route, None
        if route is not None:
            try:
                self.lane, self.family, self.seconds, self.subject = route()
            except Exception:  # the work meets the same trouble, and tells it
                self.lane = "read"
            self._received = self._desk.monotonic()

    def run(self) -> None:
        """Do the work, send the reply, then do what was left for later."""
        with self._desk.lock:
            if self._begun or self.is_over:
                return
            self._begun = True
        self._until = self._desk.monotonic() + self.seconds
        try:
            body = self._outcome()
        except BaseException:  # memory ended while the trouble was told; what that took is free again
            body = error(self.exchange.id, internal())
        if not self._end():
            return
        if self._progress is not None:
            self._progress.close()
        self.exchange.sink(None if self._cancelled else body)
        for work in self.later:
            try:
                work()
            except Exception as caught:
                self._desk.alarm(f"after {self.exchange.method}", caught)

    def cancel(self) -> None:
        """Cancel the request: a queued one never starts, a running one stops at its next check."""
        self._cancelled = True
        if self._progress is not None:
            self._progress.close()
        if self._end(unless_begun=True):
            self.exchange.sink(None)

    def look(self, stalled: bool) -> float | None:
        """Send a heartbeat, or a timeout reply for a call past its deadline or queued in a stuck lane.

        Seconds until it is worth looking again; None when it is over.
        """
        now = self._desk.monotonic()
        due = self._until + DEAF_SECONDS if self._begun else self._received + self.seconds
        if self.is_over or (now >= due and (stalled or self._begun)):

            def late() -> Failure:
                from context_pack.toolkit.call import Overdue

                return Overdue(self.seconds).failure()

            self._give_up(late)
            return None
        left = due - now if now < due else self.seconds
        return left if self._progress is None else min(left, self._progress.keep_alive())

    def refuse(self, reason: str, words: str) -> None:
        """Refuse a call for which the system has no thread or memory."""
        self._give_up(lambda: Failure(Code.IO_ERROR, words, {"reason": reason}))

    def _give_up(self, make: Callable[[], Failure]) -> None:
        """Reply with a failure, unless a reply was sent; the work's own result is then not sent."""
        if not self._end():
            return
        if self._progress is not None:
            self._progress.close()
        fail = self._failed
        try:
            failure = make()
            body = error(self.exchange.id, failed(failure)) if fail is None else fail(self, failure)
        except Exception as caught:  # the reader must outlive a system that lets it load nothing
            self._desk.alarm(self.exchange.method, caught)
            body = error(self.exchange.id, internal())
        self.exchange.sink(None if self._cancelled else body)

    def check(self) -> None:
        """Return while the call is wanted; raise once it was cancelled or is overdue."""
        if self._cancelled:
            from context_pack.toolkit.call import Cancelled

            self._stopped = True
            raise Cancelled(self.exchange.method)
        if self._desk.monotonic() > self._until:
            from context_pack.toolkit.call import Overdue

            self._stopped = True
            self._overdue = Overdue(self.seconds)
            raise self._overdue

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Send progress to the caller, if it gave a progress token."""
        if self._progress is not None:
            self._progress.report(done, total, message)

    def after(self, work: Callable[[], None]) -> None:
        """Do `work` once the reply has gone."""
        self.later.append(work)

    def log(self, level: str, data: object, logger: str | None = None) -> None:
        """Send a log message if the caller asked for messages of this level."""
        envelope = self.exchange.envelope
        wanted = self._desk.level if envelope is None else envelope.level
        if wanted is None or self._cancelled or self.is_over or SEVERITY[level] < SEVERITY[wanted]:
            return
        params: dict[str, Any] = {"level": level, "data": data}
        if logger is not None:
            params["logger"] = logger
        self._desk.send(notification("notifications/message", params))

    def _end(self, *, unless_begun: bool = False) -> bool:
        """Let this job be over: who gets True may speak for it, once; False if it was, or had begun."""
        with self._desk.lock:
            if self.is_over or (unless_begun and self._begun):
                return False
            self.is_over = True
        self._desk.jobs.discard(self)
        return True

    def _outcome(self) -> bytes | None:
        begun = CHECK.set(self.check)
        try:
            return self._work(self)
        except Refusal as refusal:
            return error(self.exchange.id, refusal)
        except BaseException as caught:  # a worker must outlive whatever a tool raises
            self.later.clear()
            unforeseen = internal() if self._overdue is None else failed(self._overdue.failure())
            if not self._stopped:
                self._desk.alarm(self.exchange.method, caught)
                self.log("error", {"method": self.exchange.method, "message": unforeseen.message}, "server")
            return error(self.exchange.id, unforeseen)
        finally:
            CHECK.reset(begun)
