"""The MCP session without I/O: bodies in, replies through `send`, and jobs for whatever may take time.

Clients of the handshake and stateless ones are served at once, request by request. What is cheap is answered
inside `receive`, so that the reader never waits for a tool.

Dispatch, in this order: what is not a request is refused; a notification is never answered; after `shutdown`
only `exit` is served; a request with an envelope finds its method in the stateless table, any other in the
handshake's.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from context_pack.kernel.errors import clip
from context_pack_adapters.server import jsonrpc
from context_pack_adapters.server import protocol_versions as versions
from context_pack_adapters.server.catalog import RegistryLoader
from context_pack_adapters.server.framing import Fault
from context_pack_adapters.server.jobs import CALL_SECONDS, ConnectionState, Job
from context_pack_adapters.server.jsonrpc import Invalid, Notification, ProtocolError, Request, error, reply
from context_pack_adapters.server.methods import Families, Methods
from context_pack_adapters.server.protocol_versions import Reply, RequestContext, ServerFacts
from context_pack_adapters.server.subscriptions import Subscriptions

if TYPE_CHECKING:
    from context_pack.toolkit.registry import Registry


class ProtocolSession:
    """One connection's protocol state.

    `load` makes the registry and may be slow; `warm_up` loads, in a thread, what the first call of a tool
    would wait for; `send` takes one whole body from any thread; `alarm` hears of exceptions that no contract
    names; `on_watch` hears when there is more or less to watch (`Subscriptions`); `is_watchable` says which
    URIs may be subscribed to; `call_seconds` is how long a call may take; `page_tokens` is what an answer may
    weigh, whoever asks; `families` gives those whose tools are listed, where that is not all, and
    `changing_tools` says whether they may change.
    """

    def __init__(
        self,
        facts: ServerFacts,
        load: Callable[[], Registry],
        send: Callable[[bytes], None],
        *,
        changing_tools: bool = False,
        warm_up: Callable[[], None] = lambda: None,
        alarm: Callable[[str, BaseException], None] = lambda _, __: None,
        on_watch: Callable[[bool], None] = lambda _: None,
        is_watchable: Callable[[str], bool] = lambda _: True,
        monotonic: Callable[[], float] = lambda: 0.0,
        call_seconds: float = CALL_SECONDS,
        page_tokens: int | None = None,
        families: Families | None = None,
    ) -> None:
        if len(facts.instructions.encode()) > versions.MAX_INSTRUCTIONS_BYTES:
            raise ValueError(f"instructions have at most {versions.MAX_INSTRUCTIONS_BYTES} bytes")
        self.heard = False
        """Whether a well-formed message has arrived."""
        self.exit_code: int | None = None
        self._closing = False
        self._send = send
        self._connection = ConnectionState(send, monotonic, alarm, call_seconds, page_tokens)
        self.subscriptions = Subscriptions(send, on_watch)
        """Who is told of changed resources, and from any thread."""
        loader = RegistryLoader(load, warm_up)
        self._methods = Methods(
            facts, changing_tools, loader, self._connection, self.subscriptions, is_watchable, families
        )

    @property
    def jobs(self) -> Collection[Job]:
        """Every request that waits or runs, in order of arrival."""
        return self._connection.jobs

    def receive(self, item: bytes | Fault) -> Sequence[Job]:
        """Take one message, or what never became one: answer what is cheap, return what may take time."""
        if self.exit_code is not None:
            return ()
        try:
            if isinstance(item, Fault):
                raise ProtocolError(jsonrpc.PARSE_ERROR, f"Parse error: {item.reason}")
            message = jsonrpc.decode(item)
        except ProtocolError as problem:
            self._send(error(None, problem))
            return ()
        if type(message) is list:
            return self._receive_batch(message)
        job = self._receive_one(message, self._reply_alone)
        return () if job is None else (job,)

    def finish(self) -> None:
        """End every subscription with its result; running requests are not touched."""
        self.subscriptions.finish()

    def cancel_all(self) -> None:
        """Cancel every request that has not been answered."""
        for job in list(self.jobs):
            job.cancel()

    def _reply_alone(self, body: bytes | None) -> None:
        if body is not None:
            self._send(body)

    def _receive_batch(self, members: list[Any]) -> Sequence[Job]:
        if not members:
            problem = ProtocolError(jsonrpc.INVALID_REQUEST, "Invalid request: an empty batch")
            self._send(error(None, problem))
            return ()
        batch = ReplyBatch(self._send, len(members))
        jobs = [self._receive_one(each, partial(batch.take, place)) for place, each in enumerate(members)]
        return [job for job in jobs if job is not None]

    def _receive_one(self, value: object, to_client: Reply) -> Job | None:
        message = jsonrpc.classify(value)
        if isinstance(message, Invalid):
            to_client(error(message.id, ProtocolError(message.code, message.message)))
            return None
        self.heard = True
        if not isinstance(message, Request):
            if message is not None:
                self._notified(message)
            to_client(None)  # a notification is never answered, nor is the peer's reply
            return None
        try:
            return self._dispatch(message, to_client)
        except ProtocolError as problem:
            to_client(error(message.id, problem))
        except Exception as caught:  # the reader must outlive whatever goes wrong
            self._connection.alarm(message.method, caught)
            to_client(error(message.id, jsonrpc.internal()))
        return None

    def _notified(self, message: Notification) -> None:
        if message.method == "exit":
            self.exit_code = 0
        elif message.method == "notifications/cancelled" and isinstance(message.params, dict):
            withdrawn = message.params.get("requestId")
            if type(withdrawn) is int or type(withdrawn) is str:
                self.subscriptions.cancel(withdrawn)
                for job in self._connection.named(withdrawn):
                    job.cancel()

    def _dispatch(self, request: Request, to_client: Reply) -> Job | None:
        method, params = request.method, request.params
        if self._closing or method == "shutdown" or method == "exit":
            self._leave(request, to_client)
            return None
        envelope = versions.envelope_of(params) if params and "_meta" in params else None
        handler = (self._methods.handshake if envelope is None else self._methods.stateless).get(method)
        if handler is None:
            raise ProtocolError(jsonrpc.METHOD_NOT_FOUND, f"Method not found: {clip(method)}")
        if type(params) is list and method != "initialize":  # a handshake is never an error
            raise ProtocolError(jsonrpc.INVALID_PARAMS, "Invalid params: an object is expected")
        given = params if type(params) is dict else {}
        return handler(RequestContext(request.id, method, given, envelope, to_client))

    def _leave(self, request: Request, to_client: Reply) -> None:
        """Serve `shutdown` once and `exit` always; other requests are refused from then on."""
        if request.method == "exit":
            self.exit_code = 0
        elif self._closing:
            raise ProtocolError(jsonrpc.INVALID_REQUEST, "The server is shutting down; only exit is accepted")
        self._closing = True
        self.subscriptions.finish()
        to_client(reply(request.id, "null"))


class ReplyBatch:
    """Collects the replies of a batch in the order of its requests; sends nothing if there are none."""

    def __init__(self, send: Callable[[bytes], None], size: int) -> None:
        self._send, self._open = send, size
        self._replies: list[bytes | None] = [None] * size
        self._lock = threading.Lock()

    def take(self, place: int, body: bytes | None) -> None:
        """Take the reply of one request, or None for no reply; the last one sends the array."""
        with self._lock:
            self._replies[place] = body
            self._open -= 1
            replies = [] if self._open else [reply for reply in self._replies if reply is not None]
        if replies:
            self._send(b"[" + b",".join(replies) + b"]")
