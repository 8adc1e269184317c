"""The MCP session without I/O: bodies in, replies through `send`, and jobs for whatever may take time.

Both eras are served at once, request by request: no request decides the era for the next one. What is cheap
is answered inside `receive`, so that the reader never waits for anything.

Dispatch, in this order: what is not a request is refused; a notification is never answered; after `shutdown`
only `exit` is served; a request with the modern envelope finds its method in the modern table, any other in
the legacy one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from context_pack.kernel.errors import clip
from context_pack_adapters.mcp.batch import ReplyBatch
from context_pack_adapters.mcp.eras import MAX_INSTRUCTIONS_BYTES, ServerFacts, envelope_of
from context_pack_adapters.mcp.exchange import Exchange, Sink
from context_pack_adapters.mcp.jobs import CALL_SECONDS, Job, JobContext
from context_pack_adapters.mcp.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Invalid,
    Notification,
    ParsedBody,
    ParseFault,
    Request,
    classify,
    decode,
)
from context_pack_adapters.mcp.methods import Families, Methods
from context_pack_adapters.mcp.shelf import OnDemand, Published
from context_pack_adapters.mcp.subscriptions import Subscriptions
from context_pack_adapters.mcp.wire import Refusal, error, internal, reply

if TYPE_CHECKING:
    from context_pack.toolkit.registry import Registry
    from context_pack_adapters.mcp.framing import Fault

__all__ = ["Job", "ProtocolSession", "ServerFacts"]

MAX_BATCH = 100_000
"""The most requests of one batch; more would block the reader for seconds."""

NO_MEMORY = "there is not enough memory to read this message; send less, or try again in a moment"

_NO_PARAMS: Mapping[str, Any] = {}


class ProtocolSession:
    """One connection's protocol state.

    `load` makes the registry and may be slow; `published` may know its lists beforehand; `send` takes one
    whole body from any thread; `alarm` hears of exceptions that no contract names; `on_watch` hears when
    somebody asks to hear of changed resources, of other ones too, and when nobody does any more; `tells` says
    which URIs may be subscribed to; `monotonic` gives seconds, by which calls know how long they have waited;
    `call_seconds` is how long one may take; `page_tokens` is what an answer may weigh, whoever asks;
    `families` gives those whose tools are listed, where that is not all, and `changing_tools` says whether
    they may change.
    """

    def __init__(
        self,
        facts: ServerFacts,
        load: Callable[[], Registry],
        send: Callable[[bytes], None],
        *,
        changing_tools: bool = False,
        page_size: int | None = None,
        published: Published = lambda: None,
        alarm: Callable[[str, BaseException], None] = lambda _, __: None,
        on_watch: Callable[[bool], None] = lambda _: None,
        tells: Callable[[str], bool] = lambda _: True,
        monotonic: Callable[[], float] = lambda: 0.0,
        call_seconds: float = CALL_SECONDS,
        page_tokens: int | None = None,
        families: Families | None = None,
    ) -> None:
        if len(facts.instructions.encode()) > MAX_INSTRUCTIONS_BYTES:
            raise ValueError(f"instructions have at most {MAX_INSTRUCTIONS_BYTES} bytes")
        self.heard = False
        """Whether a well-formed message has arrived."""
        self.exit_code: int | None = None
        self._closing = False
        self._send = send
        self._alone: Sink = self._reply_alone
        self._shelf = OnDemand(load, page_size, published)
        self._desk = JobContext(send, monotonic, alarm, call_seconds, page_tokens)
        self.subscriptions = Subscriptions(send, on_watch)
        """Who is told of changed resources, and from any thread."""
        self._methods = Methods(
            facts, changing_tools, self._shelf, self._desk, self.subscriptions, tells, families
        )

    @property
    def tried(self) -> bool:
        """Whether loading the registry was tried, successfully or not."""
        return self._shelf.tried

    def receive(self, body: bytes) -> Sequence[Job]:
        """Take one message: answer what is cheap, return what may take time."""
        if self.exit_code is not None:
            return ()
        try:
            message = body.value if type(body) is ParsedBody else decode(body)
        except ParseFault as fault:
            self._refuse(PARSE_ERROR, f"Parse error: {fault}")
            return ()
        except MemoryError:
            self._refuse(INTERNAL_ERROR, NO_MEMORY)
            return ()
        if type(message) is list:
            return self._receive_batch(message)
        job = self._receive_one(message, self._alone)
        return () if job is None else (job,)

    def reject(self, fault: Fault) -> None:
        """Reply with a parse error for bytes that never became a message."""
        self._refuse(PARSE_ERROR, f"Parse error: {fault.reason}")

    def finish(self) -> None:
        """End every subscription with its result; running requests are not touched."""
        self.subscriptions.finish()

    def cancel_all(self) -> None:
        """Cancel every request that has not been answered."""
        for job in list(self._desk.jobs):
            job.cancel()

    def _reply_alone(self, body: bytes | None) -> None:
        if body is not None:
            self._send(body)

    def _refuse(self, code: int, message: str) -> None:
        self._send(error(None, Refusal(code, message)))

    def _receive_batch(self, members: list[Any]) -> Sequence[Job]:
        if not members:
            self._refuse(INVALID_REQUEST, "Invalid request: an empty batch")
            return ()
        if len(members) > MAX_BATCH:
            self._refuse(INVALID_REQUEST, f"Invalid request: a batch has at most {MAX_BATCH} members")
            return ()
        batch = ReplyBatch(self._send)
        jobs = [self._receive_one(member, batch.member()) for member in members]
        batch.close()
        return [job for job in jobs if job is not None]

    def _receive_one(self, value: object, sink: Sink) -> Job | None:
        message = classify(value)
        if isinstance(message, Request):
            self.heard = True
            try:
                return self._dispatch(message, sink)
            except Refusal as refusal:
                sink(error(message.id, refusal))
            except Exception as caught:  # the reader must outlive whatever goes wrong
                self._desk.alarm(message.method, caught)
                sink(error(message.id, internal()))
        elif isinstance(message, Invalid):
            sink(error(message.id, Refusal(message.code, message.message)))
        else:  # a notification is never answered, and a reply is to a question we never ask
            self.heard = True
            if isinstance(message, Notification):
                self._notified(message)
            sink(None)
        return None

    def _notified(self, message: Notification) -> None:
        if message.method == "exit":
            self.exit_code = 0
            self._closing = True
        elif message.method == "notifications/cancelled" and isinstance(message.params, dict):
            withdrawn = message.params.get("requestId")
            if type(withdrawn) is int or type(withdrawn) is str:
                self.subscriptions.cancel(withdrawn)
                for job in self._desk.named(withdrawn):
                    job.cancel()

    def _dispatch(self, request: Request, sink: Sink) -> Job | None:
        method, params = request.method, request.params
        if self._closing or method == "shutdown" or method == "exit":
            self._leave(request, sink)
            return None
        envelope = envelope_of(params) if params and "_meta" in params else None
        handler = (self._methods.legacy if envelope is None else self._methods.modern).get(method)
        if handler is None:
            raise Refusal(METHOD_NOT_FOUND, f"Method not found: {clip(method)}")
        if type(params) is list and method != "initialize":  # a handshake is never an error
            raise Refusal(INVALID_PARAMS, "Invalid params: an object is expected")
        given = params if type(params) is dict else _NO_PARAMS
        return handler(Exchange(request.id, method, given, envelope, sink))

    def _leave(self, request: Request, sink: Sink) -> None:
        """Serve `shutdown` once and `exit` always; other requests are refused from then on."""
        if request.method == "exit":
            self.exit_code = 0
        elif self._closing:
            raise Refusal(INVALID_REQUEST, "The server is shutting down; only exit is accepted")
        self._closing = True
        self.subscriptions.finish()
        sink(reply(request.id, "null"))
