"""The methods of both eras: two tables of handlers that answer at once or return a job.

A handler answers inline only if it needs neither the disk nor an unloaded registry. Mutations go to the
`write` lane, where they keep their order of arrival; a tool call that comes before the registry is loaded
is `unrouted` until its lane is known. `changing_tools` says whether the list of tools may change.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from context_pack_adapters.mcp import eras, features
from context_pack_adapters.mcp.catalog import PROMPTS, TEMPLATES, TOOLS
from context_pack_adapters.mcp.eras import ServerFacts
from context_pack_adapters.mcp.exchange import Exchange, texts
from context_pack_adapters.mcp.jobs import FETCHING, Job, JobContext
from context_pack_adapters.mcp.jsonrpc import INVALID_PARAMS
from context_pack_adapters.mcp.limits import client_view
from context_pack_adapters.mcp.results import Results
from context_pack_adapters.mcp.shelf import OnDemand
from context_pack_adapters.mcp.subscriptions import Listener, Subscriptions, wanted
from context_pack_adapters.mcp.wire import Refusal, answer_fields, error, failed, fields_of, reply

if TYPE_CHECKING:
    from context_pack.kernel.errors import Failure
    from context_pack.toolkit.registry import Registry

Handler = Callable[[Exchange], Job | None]
Families = Callable[[], Collection[str]]
"""Gives the families of tools to list now."""
LOOK_SECONDS = 2.0
NOT_TOLD = "Changes of this resource are not told; read it again when you need it"


class Methods:
    """Serves single requests."""

    def __init__(
        self,
        facts: ServerFacts,
        changing_tools: bool,
        shelf: OnDemand,
        desk: JobContext,
        subscriptions: Subscriptions,
        tells: Callable[[str], bool],
        families: Families | None,
    ) -> None:
        self._facts = facts
        self._changing_tools = changing_tools
        self._shelf = shelf
        self._desk = desk
        self._subscriptions = subscriptions
        self._tells = tells
        self._families = families
        self._listed: Collection[str] | None = None
        """The families in the list of tools that was last given; None before the first."""
        self._looked = -LOOK_SECONDS
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
        self.legacy: Mapping[str, Handler] = both | {
            "initialize": self._initialize,
            "ping": self._empty,
            "server/discover": self._undiscovered,
            "resources/subscribe": self._subscribe,
            "resources/unsubscribe": self._unsubscribe,
            "logging/setLevel": self._set_level,
        }
        self.modern: Mapping[str, Handler] = both | {
            "server/discover": self._discover,
            "subscriptions/listen": self._listen,
        }

    def _answer(self, exchange: Exchange, fields: str, ttl: int | None = None) -> None:
        exchange.sink(self._results.of(exchange, fields, ttl))

    def _job(self, exchange: Exchange, work: Callable[[Job], bytes | None]) -> Job:
        return Job(self._desk, exchange, work)

    # -- answered at once

    def _initialize(self, exchange: Exchange) -> None:
        capabilities = exchange.params.get("capabilities")
        self._desk.client = capabilities if isinstance(capabilities, dict) else {}
        self._desk.client_view = client_view(eras.client_name(exchange.params.get("clientInfo")))
        self._subscriptions.greeted = True
        self._answer(exchange, fields_of(eras.handshake(self._facts, self._changing_tools, exchange.params)))

    def _discover(self, exchange: Exchange) -> None:
        found = eras.discovery(self._facts, self._changing_tools)
        self._answer(exchange, fields_of(found), eras.STATIC_TTL_MS)

    def _undiscovered(self, _: Exchange) -> None:
        raise Refusal(INVALID_PARAMS, f"server/discover needs _meta[{eras.VERSION_KEY!r}]")

    def _empty(self, exchange: Exchange) -> None:
        exchange.sink(reply(exchange.id, "{}"))

    def _set_level(self, exchange: Exchange) -> None:
        level = exchange.text("level")
        if level not in eras.SEVERITY:
            text = f"level must be one of: {', '.join(eras.LEVELS)}"
            raise Refusal(INVALID_PARAMS, text, {"field": "level"})
        self._desk.level = level
        self._empty(exchange)

    def _subscribe(self, exchange: Exchange) -> Job | None:
        uri = exchange.text("uri")
        if not self._tells(uri):
            raise Refusal(INVALID_PARAMS, NOT_TOLD, {"uri": uri})
        if self._subscriptions.subscribe(uri):
            return self._watching(exchange, lambda: reply(exchange.id, "{}"))
        self._empty(exchange)
        return None

    def _unsubscribe(self, exchange: Exchange) -> None:
        self._subscriptions.unsubscribe(exchange.text("uri"))
        self._empty(exchange)

    def _watching(self, exchange: Exchange, then: Callable[[], bytes | None]) -> Job:
        """Reply once the watcher runs; it may have to be loaded first."""

        def work(_: Job) -> bytes | None:
            self._subscriptions.tell()
            return then()

        return self._job(exchange, work)

    def _listen(self, exchange: Exchange) -> Job | None:
        honoured = wanted(exchange.params, self._changing_tools, self._tells)
        closing = self._results.end_of_stream(exchange.id)
        uris = frozenset(honoured.get("resourceSubscriptions", ()))
        lists = "resourcesListChanged" in honoured
        listener = Listener(exchange.id, uris, lists, honoured, lambda: self._desk.send(closing))
        # No reply: a stream outlives its request, and a batch's array does not wait for its end.
        if self._subscriptions.listen(listener):
            return self._watching(exchange, lambda: self._subscriptions.acknowledge(listener))
        self._subscriptions.acknowledge(listener)
        exchange.sink(None)
        return None

    # -- what needs the registry

    def _list_tools(self, exchange: Exchange) -> Job | None:
        job = self._fixed_list(exchange, TOOLS) if self._families is None else self._chosen_tools(exchange)
        if job is not None:  # who lists the tools for the first time will call one
            job.after(self._shelf.prepare)
        return job

    def _chosen_tools(self, exchange: Exchange) -> Job:
        """The tools of the families that are listed now; the families may change."""

        def work(_: Job) -> bytes:
            assert self._families is not None
            self._listed = self._families()
            structured = self._desk.view_of(exchange).structured
            page = self._shelf.fixed().tools(exchange.params, self._listed, structured)
            return self._results.of(exchange, *page)

        return self._job(exchange, work)

    def _look_again(self) -> None:
        """Send tools/list_changed if other tools would be listed now; checked at most every few seconds."""
        now = self._desk.monotonic()
        if self._families is None or self._listed is None or now - self._looked < LOOK_SECONDS:
            return
        self._looked = now
        if self._families() != self._listed:
            self._listed = None  # told once, until the list is asked for again
            self._subscriptions.tools_changed()

    def _fixed_list(self, exchange: Exchange, kind: str) -> Job | None:
        """A list that never changes: inline once the registry is there."""
        structured = self._desk.view_of(exchange).structured
        if self._shelf.lists is None or self._shelf.loaded is None:

            def work(_: Job) -> bytes:
                return self._results.of(
                    exchange, *self._shelf.fixed().page(kind, exchange.params, structured)
                )

            return self._job(exchange, work)
        self._answer(exchange, *self._shelf.lists.page(kind, exchange.params, structured))
        return None

    def _list_resources(self, exchange: Exchange) -> Job:
        def work(_: Job) -> bytes:
            if exchange.envelope is None:
                self._subscriptions.listed()  # first, so that no change falls between the list and the watch
            page = features.list_resources(self._shelf.registry(), exchange.params, self._shelf.page_size)
            return self._results.of(exchange, *page)

        return self._job(exchange, work)

    def _read(self, exchange: Exchange) -> Job:
        uri = exchange.text("uri")

        def work(job: Job) -> bytes:
            return self._results.of(exchange, *features.read_resource(self._shelf.registry(), job, uri))

        return self._job(exchange, work)

    def _get_prompt(self, exchange: Exchange) -> Job:
        name = exchange.text("name")
        given = texts(exchange.params.get("arguments"), "arguments")

        def work(_: Job) -> bytes:
            return self._results.of(exchange, features.get_prompt(self._shelf.registry(), name, given))

        return self._job(exchange, work)

    def _complete(self, exchange: Exchange) -> Job:
        ref, argument = exchange.object("ref"), exchange.object("argument")
        name, typed = argument.get("name"), argument.get("value")
        if not isinstance(name, str) or not isinstance(typed, str):
            text = "argument needs a name and a value, both strings"
            raise Refusal(INVALID_PARAMS, text, {"field": "argument"})
        context = exchange.params.get("context")
        others = texts(context.get("arguments") if isinstance(context, dict) else None, "context.arguments")

        def work(_: Job) -> bytes:
            fields = features.complete(self._shelf.registry(), ref, name, typed, others)
            return self._results.of(exchange, fields)

        return self._job(exchange, work)

    def _call(self, exchange: Exchange) -> Job:
        name = exchange.text("name")
        arguments = exchange.params.get("arguments", {})
        if type(arguments) is not dict:
            raise Refusal(INVALID_PARAMS, "arguments must be an object", {"field": "arguments"})
        registry = self._shelf.loaded
        if registry is None:
            return Job(
                self._desk,
                exchange,
                self._serve_call,
                "unrouted",
                route=lambda: self._route(self._shelf.registry(), name, arguments),
                fail=self._fail_call,
            )
        route = self._route(registry, name, arguments)
        return Job(self._desk, exchange, self._serve_call, *route, fail=self._fail_call)

    def _serve_call(self, job: Job) -> bytes:
        """Call the tool; a failed call is also sent as a log message, if the client asked for these."""
        if self._changing_tools:
            job.after(self._look_again)
        exchange, registry = job.exchange, self._shelf.loaded or self._shelf.registry()
        name = exchange.params["name"]
        if name not in registry.tools:
            raise features.unknown_tool(name)
        answer = registry.call(name, exchange.params.get("arguments", {}), job)
        if answer.is_error:
            job.log("warning", {"tool": name, "message": answer.text}, "tools")
        return self._results.of_call(exchange, answer_fields(answer, self._desk.view_of(exchange).structured))

    def _fail_call(self, job: Job, failure: Failure) -> bytes:
        exchange, registry = job.exchange, self._shelf.loaded
        name, arguments = exchange.params["name"], exchange.params.get("arguments", {})
        if registry is None or name not in registry.tools:
            return error(exchange.id, failed(failure))
        answer = registry.fail(name, arguments, job, failure)
        return self._results.of_call(exchange, answer_fields(answer))

    def _route(
        self, registry: Registry, name: str, arguments: Mapping[str, Any]
    ) -> tuple[str, str, float, str]:
        """The lane, the family and the deadline of a tool call, and what it is about if it changes that."""
        try:
            tool = registry.tools[name]
        except KeyError:
            raise features.unknown_tool(name) from None
        lane, subject = "slow" if tool.slow else "read", ""
        try:
            if tool.mutates(arguments):
                lane, subject = "write", tool.subject(arguments)
        except Exception as caught:  # odd arguments are refused by the tool itself, in its own shape
            self._desk.alarm(f"lane of {name}", caught)
            lane = "write"
        longer = FETCHING if tool.annotations.open_world else 1
        return lane, tool.family.name, self._desk.call_seconds * longer, subject
