"""The methods of both kinds of versions: two tables of handlers that answer at once or return a job.

A handler answers at once unless it may touch the disk; the first one that needs the registry loads it.
Changes are jobs of the kind `write`, which keep their order of arrival.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial

from context_pack.kernel.errors import Failure, clip
from context_pack_adapters.server import catalog
from context_pack_adapters.server import protocol_versions as versions
from context_pack_adapters.server.catalog import PROMPTS, TEMPLATES, TOOLS, Page, RegistryLoader
from context_pack_adapters.server.jobs import FETCHING, ConnectionState, Job
from context_pack_adapters.server.jsonrpc import (
    INVALID_PARAMS,
    ProtocolError,
    answer_fields,
    fields_of,
    reply,
)
from context_pack_adapters.server.protocol_versions import RequestContext, Results, ServerFacts, string_map
from context_pack_adapters.server.subscriptions import Listener, Subscriptions, honoured_filter

Handler = Callable[[RequestContext], Job | None]
Families = Callable[[], Collection[str]]
"""Gives the families of tools to list now."""
FAMILIES_SECONDS = 2.0
"""How often the families to list are asked for at most."""
NOT_WATCHED = "Changes of this resource are not told; read it again when you need it"


class Methods:
    """Serves single requests."""

    def __init__(
        self,
        facts: ServerFacts,
        changing_tools: bool,
        loader: RegistryLoader,
        connection: ConnectionState,
        subscriptions: Subscriptions,
        is_watchable: Callable[[str], bool],
        families: Families | None,
    ) -> None:
        self._facts, self._changing_tools = facts, changing_tools
        self._loader, self._connection, self._subscriptions = loader, connection, subscriptions
        self._is_watchable, self._families = is_watchable, families
        self._listed: Collection[str] | None = None
        """The families in the list of tools that was last given; None before the first."""
        self._families_asked = -FAMILIES_SECONDS
        self._results = Results(facts)
        both: dict[str, Handler] = {
            "tools/list": self._list_tools,
            "tools/call": self._call,
            "resources/list": self._list_resources,
            "resources/templates/list": partial(self._fixed_list, kind=TEMPLATES),
            "resources/read": self._read,
            "prompts/list": partial(self._fixed_list, kind=PROMPTS),
            "prompts/get": self._get_prompt,
            "completion/complete": self._complete,
        }
        self.handshake: Mapping[str, Handler] = both | {
            "initialize": self._initialize,
            "ping": self._empty,
            "server/discover": self._undiscovered,
            "resources/subscribe": self._subscribe,
            "resources/unsubscribe": self._unsubscribe,
            "logging/setLevel": self._set_level,
        }
        self.stateless: Mapping[str, Handler] = both | {
            "server/discover": self._discover,
            "subscriptions/listen": self._listen,
        }

    def _answer(self, request: RequestContext, fields: str, ttl: int | None = None) -> None:
        request.reply(self._results.of(request, fields, ttl))

    def _job(self, request: RequestContext, work: Callable[[], Page]) -> Job:
        """A job that answers with the page that its work gives."""
        return Job(self._connection, request, lambda _: self._results.of(request, *work()))

    # -- answered at once

    def _initialize(self, request: RequestContext) -> None:
        self._connection.client_view = versions.client_view(request.params.get("clientInfo"))
        self._subscriptions.greeted = True
        result = versions.initialize_result(self._facts, self._changing_tools, request.params)
        self._answer(request, fields_of(result))

    def _discover(self, request: RequestContext) -> None:
        result = versions.discover_result(self._facts, self._changing_tools)
        self._answer(request, fields_of(result), versions.STATIC_TTL_MS)

    def _undiscovered(self, _: RequestContext) -> None:
        raise ProtocolError(INVALID_PARAMS, f"server/discover needs _meta[{versions.VERSION_KEY!r}]")

    def _empty(self, request: RequestContext) -> None:
        request.reply(reply(request.id, "{}"))

    def _set_level(self, request: RequestContext) -> None:
        level = request.text("level")
        if level not in versions.SEVERITY:
            text = f"level must be one of: {', '.join(versions.LEVELS)}"
            raise ProtocolError(INVALID_PARAMS, text, {"field": "level"})
        self._connection.level = level
        self._empty(request)

    # -- subscriptions: whoever asks for something new is answered once it is watched

    def _subscribe(self, request: RequestContext) -> Job:
        uri = request.text("uri")
        if not self._is_watchable(uri):
            raise ProtocolError(INVALID_PARAMS, NOT_WATCHED, {"uri": uri})
        self._subscriptions.subscribe(uri)

        def work() -> Page:
            self._subscriptions.watch()
            return "", None

        return self._job(request, work)

    def _unsubscribe(self, request: RequestContext) -> None:
        self._subscriptions.unsubscribe(request.text("uri"))
        self._empty(request)

    def _listen(self, request: RequestContext) -> Job:
        honoured = honoured_filter(request.params, self._changing_tools, self._is_watchable)
        closing = self._results.end_of_stream(request.id)
        listener = Listener(request.id, honoured, lambda: self._connection.send(closing))
        self._subscriptions.add(listener)

        def work(_: Job) -> None:
            # No reply: a stream outlives its request, and a batch's array does not wait for its end.
            self._subscriptions.watch()
            self._subscriptions.acknowledge(listener)

        return Job(self._connection, request, work)

    # -- what needs the registry

    def _list_tools(self, request: RequestContext) -> Job | None:
        lists, families = self._loader.lists(), self._families
        self._loader.warm_up()  # who lists the tools will call one
        structured = self._connection.view_of(request).structured
        if families is None:
            self._answer(request, *lists.of(TOOLS, request.params, structured))
            return None

        def work() -> Page:
            self._listed = families()
            return lists.tools(request.params, self._listed, structured)

        return self._job(request, work)

    def _announce_tools(self) -> None:
        """Send tools/list_changed if other tools would be listed now; checked at most every few seconds."""
        if self._families is None or self._listed is None:
            return
        now = self._connection.monotonic()
        if now - self._families_asked < FAMILIES_SECONDS:
            return
        self._families_asked = now
        if self._families() != self._listed:
            self._listed = None  # told once, until the list is asked for again
            self._subscriptions.tools_changed()

    def _fixed_list(self, request: RequestContext, kind: str) -> None:
        self._answer(request, *self._loader.lists().of(kind, request.params))

    def _list_resources(self, request: RequestContext) -> Job:
        def work() -> Page:
            if request.envelope is None:
                self._subscriptions.listed()  # first, so that no change falls between the list and the watch
            return catalog.list_resources(self._loader.registry(), request.params)

        return self._job(request, work)

    def _read(self, request: RequestContext) -> Job:
        uri, stateless = request.text("uri"), request.envelope is not None
        return self._job(request, lambda: catalog.read_resource(self._loader.registry(), uri, stateless))

    def _get_prompt(self, request: RequestContext) -> Job:
        name = request.text("name")
        arguments = string_map(request.params.get("arguments"), "arguments")
        return self._job(request, lambda: catalog.get_prompt(self._loader.registry(), name, arguments))

    def _complete(self, request: RequestContext) -> Job:
        ref, argument = request.object("ref"), request.object("argument")
        name, typed = argument.get("name"), argument.get("value")
        if not isinstance(name, str) or not isinstance(typed, str):
            text = "argument needs a name and a value, both strings"
            raise ProtocolError(INVALID_PARAMS, text, {"field": "argument"})
        context = request.params.get("context")
        others = context.get("arguments") if isinstance(context, dict) else None
        given = string_map(others, "context.arguments")
        return self._job(request, lambda: catalog.complete(self._loader.registry(), ref, name, typed, given))

    def _call(self, request: RequestContext) -> Job:
        """A tool call: which threads run it, and how long it may take, is the tool's to say."""
        name, arguments = request.text("name"), request.arguments()
        registry = self._loader.registry()
        if name not in registry.tools:
            raise ProtocolError(INVALID_PARAMS, f"Unknown tool: {clip(name)}")
        tool = registry.tools[name]
        try:
            mutates = tool.mutates(arguments)
        except Exception as caught:  # odd arguments are refused by the tool itself, in its own shape
            self._connection.alarm(f"kind of {name}", caught)
            mutates = True
        kind = "write" if mutates else "slow" if tool.slow else "read"
        seconds = self._connection.call_seconds * (FETCHING if tool.annotations["openWorldHint"] else 1)

        def work(job: Job) -> bytes:
            answer = registry.call(name, arguments, job)
            self._announce_tools()
            if answer.is_error:
                job.log("warning", {"tool": name, "message": answer.text}, "tools")
            structured = self._connection.view_of(request).structured
            return self._results.of(request, answer_fields(answer, structured))

        def fail(job: Job, failure: Failure) -> bytes:
            return self._results.of(request, answer_fields(registry.fail(name, arguments, job, failure)))

        return Job(self._connection, request, work, kind, tool.family.name, seconds, fail=fail)
