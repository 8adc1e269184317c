"""The MCP session without I/O: bodies in, replies through `send`, and jobs for whatever may take time.

Both eras are served at once, request by request. What is cheap is answered inside `receive`, so that the reader
never waits; what needs the registry is a `Job`, for loading it is slow and its tools touch the disk. Mutations
go to the `write` lane, where they keep their order of arrival; so does every tool call that comes before the
registry is loaded, because nobody knows yet what it does.

Dispatch: a notification is never answered; after `shutdown` only `exit` is served; then the era of the request
picks the method table. A table row is a method of `Session` that answers inline or returns a job.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from context_pack_adapters.mcp import eras, features
from context_pack_adapters.mcp.batch import Batch
from context_pack_adapters.mcp.catalog import Catalog, Page
from context_pack_adapters.mcp.eras import INVALID_PARAMS, Offered, ServerFacts, envelope_of
from context_pack_adapters.mcp.jobs import InFlight, Job, Request
from context_pack_adapters.mcp.jsonrpc import ParseFault, decode
from context_pack_adapters.mcp.subscriptions import Listener, Subscriptions, wanted
from context_pack_adapters.mcp.wire import Refusal, RequestId, error, fields_of, reply, to_json

if TYPE_CHECKING:
    from context_pack.toolkit.registry import Registry
    from context_pack_adapters.mcp.framing import Fault

__all__ = ["Job", "Offered", "ServerFacts", "Session"]

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
MAX_BATCH = 100_000

T = TypeVar("T")
Handler = Callable[[Request], Job | None]


def _ignore(*_: object) -> None:
    """Nobody listens."""


class Session:
    """One connection's protocol state.

    `load` makes the registry and may be slow; `send` takes one whole body from any thread; `alarm` hears of
    exceptions that no contract names; `on_watch` hears whether anybody listens for changed resources.
    """

    def __init__(
        self,
        facts: ServerFacts,
        load: Callable[[], Registry],
        send: Callable[[bytes], None],
        *,
        offered: Offered = Offered(),
        page_size: int | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        alarm: Callable[[str, BaseException], None] = _ignore,
        on_watch: Callable[[bool], None] = _ignore,
    ) -> None:
        self.send = send
        self.monotonic = monotonic
        self.alarm = alarm
        self.in_flight = InFlight()
        self.client: Mapping[str, Any] = {}
        self.level: str | None = None
        self.heard = False
        self.exit_code: int | None = None
        self._facts = facts
        self._offered = offered
        self._load = load
        self._loading = threading.Lock()
        self._catalog: Catalog | None = None
        self._registry: Registry | None = None
        self._page_size = page_size
        self._closing = False
        self._subscriptions = Subscriptions(send, on_watch)
        self._server_meta = f'"{eras.SERVER_KEY}":{to_json(facts.info())}'
        self._legacy, self._modern = self._tables()

    def receive(self, body: bytes) -> Sequence[Job]:
        """Take one message: answer what is cheap, return what may take time."""
        if self.exit_code is not None:
            return ()
        try:
            message = decode(body)
        except ParseFault as fault:
            self.send(error(None, Refusal(PARSE_ERROR, f"Parse error: {fault}")))
            return ()
        if isinstance(message, list):
            return self._receive_batch(message)
        job = self._receive_one(message, self._reply_alone)
        return () if job is None else (job,)

    def reject(self, fault: Fault) -> None:
        """Answer bytes that never became a message."""
        self.send(error(None, Refusal(PARSE_ERROR, f"Parse error: {fault.reason}")))

    def resources_changed(self, uris: Collection[str], list_changed: bool) -> None:
        """Tell every subscriber of both eras; may be called from any thread."""
        self._subscriptions.changed(uris, list_changed)

    @property
    def watched(self) -> frozenset[str]:
        """The URIs somebody subscribed to."""
        return self._subscriptions.watched

    @property
    def watching(self) -> bool:
        """Whether anybody listens for changed resources or lists."""
        return self._subscriptions.watching

    @property
    def loaded(self) -> Registry | None:
        """The registry, once some job has loaded it."""
        return self._registry

    def finish(self) -> None:
        """End every subscription with its result; requests at work are not touched."""
        self._subscriptions.finish()

    def cancel_all(self) -> None:
        """Withdraw every request that has not been answered."""
        for job in self.in_flight.every():
            job.cancel()

    def reply(self, request: Request, fields: str, ttl: int | None = None) -> bytes:
        """The whole reply in the era of its request."""
        if request.envelope is None:
            return reply(request.id, f"{{{fields}}}")
        kept = "" if ttl is None else f',"ttlMs":{ttl},"cacheScope":"private"'
        body = f",{fields}" if fields else ""
        return reply(request.id, f'{{"resultType":"complete"{body}{kept},"_meta":{{{self._server_meta}}}}}')

    # -- messages

    def _reply_alone(self, body: bytes | None) -> None:
        if body is not None:
            self.send(body)

    def _receive_batch(self, members: list[Any]) -> Sequence[Job]:
        if not members or len(members) > MAX_BATCH:
            text = "an empty batch" if not members else f"a batch has at most {MAX_BATCH} members"
            self.send(error(None, Refusal(INVALID_REQUEST, f"Invalid request: {text}")))
            return ()
        batch = Batch(self.send)
        jobs: list[Job] = []
        for member in members:
            if isinstance(member, dict) and "method" in member and "id" not in member:
                job = self._receive_one(member, self._reply_alone)
            else:
                job = self._receive_one(member, batch.member())
            if job is not None:
                jobs.append(job)
        batch.close()
        return jobs

    def _receive_one(self, message: Any, sink: Callable[[bytes | None], None]) -> Job | None:
        if type(message) is not dict or message.get("jsonrpc") != "2.0":
            return self._malformed(sink)
        method = message.get("method")
        if type(method) is not str:
            if "method" not in message and ("result" in message or "error" in message):
                self.heard = True  # an answer to a question we never ask
                sink(None)
                return None
            return self._malformed(sink)
        if "id" not in message:
            self.heard = True
            self._notified(method, message.get("params"))
            return None
        request_id = message["id"]
        if type(request_id) is not int and type(request_id) is not str:
            return self._malformed(sink)
        self.heard = True
        try:
            return self._dispatch(request_id, method, message.get("params"), sink)
        except Refusal as refusal:
            sink(error(request_id, refusal))
            return None

    def _malformed(self, sink: Callable[[bytes | None], None]) -> None:
        sink(error(None, Refusal(INVALID_REQUEST, "Invalid request: not a JSON-RPC 2.0 request")))

    def _notified(self, method: str, params: object) -> None:
        if method == "exit":
            self.exit_code = 0
        elif method == "notifications/cancelled" and isinstance(params, dict):
            request_id = params.get("requestId")
            if type(request_id) is int or type(request_id) is str:
                self._subscriptions.cancel(request_id)
                for job in self.in_flight.named(request_id):
                    job.cancel()

    def _dispatch(
        self, request_id: RequestId, method: str, params: object, sink: Callable[[bytes | None], None]
    ) -> Job | None:
        if self._closing or method == "shutdown" or method == "exit":
            return self._leave(request_id, method, sink)
        envelope = envelope_of(params)
        handler = (self._legacy if envelope is None else self._modern).get(method)
        if handler is None:
            raise Refusal(METHOD_NOT_FOUND, f"Method not found: {features.shown(method)}")
        if params is None:
            params = {}
        elif type(params) is not dict:
            if method != "initialize":
                raise Refusal(INVALID_PARAMS, "params must be an object")
            params = {}  # a handshake is never an error
        return handler(Request(request_id, method, params, envelope, sink))

    def _leave(self, request_id: RequestId, method: str, sink: Callable[[bytes | None], None]) -> None:
        """`shutdown`, then only `exit`."""
        if method == "exit":
            self.exit_code = 0
        elif self._closing:
            raise Refusal(INVALID_REQUEST, "The server is shutting down; only exit is accepted")
        self._closing = True
        self._subscriptions.finish()
        sink(reply(request_id, "null"))

    # -- method tables

    def _tables(self) -> tuple[dict[str, Handler], dict[str, Handler]]:
        """What each era serves; the lists of resources are always answered, declared or not."""
        offered = self._offered
        both: dict[str, Handler] = {
            "resources/list": self._list_resources,
            "resources/templates/list": self._list_templates,
        }
        legacy: dict[str, Handler] = {"initialize": self._initialize, "ping": self._ping}
        modern: dict[str, Handler] = {"server/discover": self._discover, "subscriptions/listen": self._listen}
        legacy["server/discover"] = self._undiscovered
        if offered.tools:
            both |= {"tools/list": self._list_tools, "tools/call": self._call}
        if offered.resources:
            both["resources/read"] = self._read
            legacy |= {"resources/subscribe": self._subscribe, "resources/unsubscribe": self._unsubscribe}
        if offered.prompts:
            both |= {"prompts/list": self._list_prompts, "prompts/get": self._get_prompt}
        if offered.completions:
            both["completion/complete"] = self._complete
        if offered.logging:
            legacy["logging/setLevel"] = self._set_level
        return both | legacy, both | modern

    def _answer(self, request: Request, fields: str, ttl: int | None = None) -> None:
        request.sink(self.reply(request, fields, ttl))

    def _initialize(self, request: Request) -> None:
        capabilities = request.params.get("capabilities")
        self.client = capabilities if isinstance(capabilities, dict) else {}
        self._subscriptions.greeted = self._offered.resources
        self._answer(request, fields_of(eras.handshake(self._facts, self._offered, request.params)))

    def _discover(self, request: Request) -> None:
        self._answer(request, fields_of(eras.discovery(self._facts, self._offered)), eras.STATIC_TTL_MS)

    def _undiscovered(self, request: Request) -> None:
        raise Refusal(INVALID_PARAMS, f"server/discover needs _meta[{eras.VERSION_KEY!r}]")

    def _ping(self, request: Request) -> None:
        self._answer(request, "")

    def _set_level(self, request: Request) -> None:
        level = request.params.get("level")
        if not isinstance(level, str) or level not in eras.SEVERITY:
            raise Refusal(INVALID_PARAMS, f"level must be one of: {', '.join(eras.LEVELS)}", {"field": "level"})
        self.level = level
        self._answer(request, "")

    def _subscribe(self, request: Request) -> None:
        self._subscriptions.subscribe(_text(request, "uri"))
        self._answer(request, "")

    def _unsubscribe(self, request: Request) -> None:
        self._subscriptions.unsubscribe(_text(request, "uri"))
        self._answer(request, "")

    def _listen(self, request: Request) -> None:
        honoured = wanted(request.params, self._offered.resources)
        meta = f'"_meta":{{{self._server_meta},"{eras.SUBSCRIPTION_KEY}":{to_json(request.id)}}}'
        closing = reply(request.id, f'{{"resultType":"complete",{meta}}}')
        uris = frozenset(honoured.get("resourceSubscriptions", ()))
        lists = "resourcesListChanged" in honoured
        # A stream outlives its batch: the array does not wait for it, and its end is sent alone.
        listener = Listener(request.id, uris, lists, lambda: self.send(closing))
        self._subscriptions.listen(listener, honoured)
        if request.sink != self._reply_alone:
            request.sink(None)

    # -- what needs the registry

    def _list_tools(self, request: Request) -> Job | None:
        return self._listing(request, Catalog.tools)

    def _list_prompts(self, request: Request) -> Job | None:
        return self._listing(request, Catalog.prompts)

    def _list_templates(self, request: Request) -> Job | None:
        return self._listing(request, Catalog.templates)

    def _list_resources(self, request: Request) -> Job:
        return self._job(request, lambda _: self.reply(request, *self._lists().resources(request.params)))

    def _listing(self, request: Request, make: Callable[[Catalog, Mapping[str, Any]], Page]) -> Job | None:
        """A list that never changes: inline once the registry is there."""
        if self._catalog is None:
            return self._job(request, lambda _: self.reply(request, *make(self._lists(), request.params)))
        self._answer(request, *make(self._catalog, request.params))
        return None

    def _read(self, request: Request) -> Job:
        uri = _text(request, "uri")
        return self._job(
            request, lambda job: self.reply(request, *features.read_resource(self._tools(), job, uri))
        )

    def _get_prompt(self, request: Request) -> Job:
        name = _text(request, "name")
        given = _texts(request.params.get("arguments"), "arguments")
        return self._job(request, lambda _: self.reply(request, features.get_prompt(self._tools(), name, given)))

    def _complete(self, request: Request) -> Job:
        ref, argument = _object(request, "ref"), _object(request, "argument")
        name, typed = argument.get("name"), argument.get("value")
        if not isinstance(name, str) or not isinstance(typed, str):
            raise Refusal(INVALID_PARAMS, "argument needs a name and a value, both strings", {"field": "argument"})
        context = request.params.get("context")
        others = _texts(context.get("arguments") if isinstance(context, dict) else None, "context.arguments")
        return self._job(
            request,
            lambda _: self.reply(request, features.complete(self._tools(), ref, name, typed, others)),
        )

    def _call(self, request: Request) -> Job:
        name = _text(request, "name")
        arguments = request.params.get("arguments", {})
        if type(arguments) is not dict:
            raise Refusal(INVALID_PARAMS, "arguments must be an object", {"field": "arguments"})
        lane, family = self._route(name, arguments)

        def work(job: Job) -> bytes:
            return self.reply(request, features.call_tool(self._tools(), job, name, arguments))

        return Job(self, request, work, lane, family)

    def _route(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, str]:
        """The lane and the family of a tool call."""
        registry = self._registry
        if registry is None:
            return "write", ""
        tool = registry.tools.get(name)
        if tool is None:
            raise Refusal(INVALID_PARAMS, f"Unknown tool: {features.shown(name)}")
        try:
            lane = "write" if tool.mutates(arguments) else "read"
        except Exception as caught:  # odd arguments are refused by the tool itself, in its own shape
            self.alarm(f"mutates of {name}", caught)
            lane = "write"
        return lane, tool.family.name

    def _job(self, request: Request, work: Callable[[Job], bytes]) -> Job:
        return Job(self, request, work, "read", "")

    def _tools(self) -> Registry:
        """The registry, loaded by the first job that asks."""
        if self._registry is None:
            with self._loading:
                if self._registry is None:
                    registry = self._load()
                    self._catalog = Catalog(registry, self._page_size)
                    self._registry = registry
        return self._registry

    def _lists(self) -> Catalog:
        self._tools()
        assert self._catalog is not None
        return self._catalog


def _text(request: Request, field: str) -> str:
    value = request.params.get(field)
    if not isinstance(value, str):
        raise Refusal(INVALID_PARAMS, f"{field} is required and must be a string", {"field": field})
    return value


def _object(request: Request, field: str) -> Mapping[str, Any]:
    value = request.params.get(field)
    if not isinstance(value, dict):
        raise Refusal(INVALID_PARAMS, f"{field} is required and must be an object", {"field": field})
    return value


def _texts(value: object, field: str) -> Mapping[str, str]:
    """A map of strings, where nothing means none."""
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise Refusal(INVALID_PARAMS, f"{field} must be an object of strings", {"field": field})
    return value
