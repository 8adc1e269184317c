"""What a request does with the registry: get a list, read a resource, render a prompt, complete an argument.

The lists of tools, prompts and templates cannot change while the server runs: they are described and encoded
once, with the registry, by whoever needs it first. Everything else runs inside jobs: it may touch the disk
and may be slow. Each function returns the fields of a result, and for how long a client may keep it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

from context_pack.kernel.errors import Failure, clip
from context_pack.kernel.paging import decode_cursor, encode_cursor
from context_pack_adapters.server import jsonrpc
from context_pack_adapters.server.jsonrpc import INVALID_PARAMS, ProtocolError, failed, fields_of, to_json
from context_pack_adapters.server.protocol_versions import RESOURCE_NOT_FOUND, STATIC_TTL_MS

if TYPE_CHECKING:
    from context_pack.toolkit.offers import Completer, Prompt, ResourceEntry
    from context_pack.toolkit.registry import Registry

MAX_RESOURCES = 1000
"""Resources in one page: documents may be many, and no client likes a message of megabytes."""
MAX_COMPLETIONS = 100
MAX_COUNTED = 10_000
"""Completions are counted up to this number."""
FAMILY_KEY = "context-pack/family"
"""Where the description of a tool names its family."""
TOOLS, PROMPTS, TEMPLATES = "tools", "prompts", "resourceTemplates"
"""The lists that cannot change, as their results name them."""
TOOLS_AS_TEXT = "toolsAsText"
"""The tools without their output schemas."""

Page = tuple[str, int | None]
"""The fields of a result, and for how many milliseconds a client may keep it; None where that is not said."""


class RegistryLoader:
    """Loads the registry and its fixed lists on demand; a failed load is tried again by the next caller."""

    def __init__(self, load: Callable[[], Registry], warm_up: Callable[[], None]) -> None:
        self._load, self._warm_up = load, warm_up
        self._lock = threading.Lock()
        self._loaded: tuple[Registry, FixedLists] | None = None
        self._is_cold = True

    def registry(self) -> Registry:
        """The registry; the first call takes as long as the tools take to load.

        Raises:
            ProtocolError: the storage cannot be used, in the words of whoever found it so.
        """
        return self._both()[0]

    def lists(self) -> FixedLists:
        """The lists that cannot change; raises as `registry` does."""
        return self._both()[1]

    def warm_up(self) -> None:
        """Load in a thread, and once, what the first call of any tool would wait for."""
        if self._is_cold:
            self._is_cold = False
            threading.Thread(target=self._warm_up, name="warm-up", daemon=True).start()

    def _both(self) -> tuple[Registry, FixedLists]:
        with self._lock:
            if self._loaded is None:
                try:
                    registry = self._load()
                except Failure as failure:
                    raise failed(failure) from failure
                self._loaded = registry, FixedLists(registry)
            return self._loaded


class FixedLists:
    """The lists that cannot change, as JSON, each in the registry's order."""

    def __init__(self, registry: Registry) -> None:
        tools = registry.describe()
        self._families = [tool["_meta"][FAMILY_KEY] for tool in tools]
        self._items = {
            TOOLS: list(map(to_json, tools)),
            TOOLS_AS_TEXT: [
                to_json({key: tool[key] for key in tool if key != "outputSchema"}) for tool in tools
            ],
            PROMPTS: [to_json(_describe_prompt(prompt)) for prompt in registry.prompts.values()],
            TEMPLATES: [
                to_json(
                    {
                        "uriTemplate": family.uri_template,
                        "name": family.name,
                        "title": family.title,
                        "description": family.description,
                        "mimeType": family.mime_type,
                    }
                )
                for family in registry.resources()
                if family.uri_template is not None
            ],
        }

    def of(self, kind: str, params: Mapping[str, Any], structured: bool = True) -> Page:
        """One of the lists, as one page; a client that is sent no `structuredContent` is promised none."""
        items = self._items[TOOLS_AS_TEXT if kind == TOOLS and not structured else kind]
        return _page(kind, items, params), STATIC_TTL_MS

    def tools(self, params: Mapping[str, Any], families: Collection[str], structured: bool = True) -> Page:
        """The tools of these families; not cacheable, because families may change."""
        every = zip(self._items[TOOLS if structured else TOOLS_AS_TEXT], self._families, strict=True)
        return _page(TOOLS, [item for item, family in every if family in families], params), 0


def list_resources(registry: Registry, params: Mapping[str, Any]) -> Page:
    """Serve `resources/list`, a page at a time; the list may change at any time."""
    with _failures_as_errors():
        entries = [to_json(_describe_resource(entry)) for entry in registry.entries()]
    return _page("resources", entries, params, MAX_RESOURCES), 0


def read_resource(registry: Registry, uri: str, stateless: bool) -> Page:
    """Serve `resources/read`."""
    try:
        resource = registry.read(uri)
    except Failure as failure:
        if not _is_absence(failure):
            data = {"code": failure.code.value, "uri": uri}
            raise ProtocolError(jsonrpc.INTERNAL_ERROR, failure.message, data) from None
        resource = None
    if resource is None:
        code = INVALID_PARAMS if stateless else RESOURCE_NOT_FOUND
        raise ProtocolError(code, "Resource not found", {"uri": uri})
    content = {"uri": resource.uri, "mimeType": resource.mime_type, "text": resource.text}
    return fields_of({"contents": [content]}), 0


def get_prompt(registry: Registry, name: str, arguments: Mapping[str, str]) -> Page:
    """Serve `prompts/get`."""
    prompt = _prompt(registry, name)
    declared = [argument.name for argument in prompt.arguments]
    for given in arguments:
        if given not in declared:
            takes = ", ".join(declared) or "none"
            text = f"Prompt argument '{clip(given)}' is not supported; it takes: {takes}"
            raise ProtocolError(INVALID_PARAMS, text, {"field": clip(given)})
    for argument in prompt.arguments:
        if argument.required and argument.name not in arguments:
            data = {"field": argument.name}
            raise ProtocolError(INVALID_PARAMS, f"Prompt argument {argument.name!r} is required", data)
    with _failures_as_errors():
        rendered = prompt.render(arguments)
    message = {"role": "user", "content": {"type": "text", "text": rendered}}
    return fields_of({"description": prompt.description, "messages": [message]}), None


def complete(
    registry: Registry, ref: Mapping[str, Any], argument: str, typed: str, others: Mapping[str, str]
) -> Page:
    """Serve `completion/complete`: at most 100 values; a known ref without such an argument has none."""
    completer = _completers(registry, ref).get(argument)
    with _failures_as_errors():
        values = [] if completer is None else list(islice(completer(typed, others), MAX_COUNTED + 1))
    shown = values[:MAX_COMPLETIONS]
    completion: dict[str, Any] = {"values": shown, "hasMore": len(values) > len(shown)}
    if len(values) <= MAX_COUNTED:
        completion["total"] = len(values)
    return fields_of({"completion": completion}), None


def _completers(registry: Registry, ref: Mapping[str, Any]) -> Mapping[str, Completer]:
    """The completers for the arguments of a prompt or of a resource template."""
    kind, name, uri = ref.get("type"), ref.get("name"), ref.get("uri")
    if kind == "ref/prompt" and isinstance(name, str):
        return _prompt(registry, name).complete
    if kind == "ref/resource" and isinstance(uri, str):
        for family in registry.resources():
            if uri == family.uri_template or uri.startswith(family.prefix):
                return family.complete
        raise ProtocolError(INVALID_PARAMS, f"Unknown resource template: {clip(uri)}", {"field": "ref.uri"})
    text = "ref must name a prompt (ref/prompt) or a resource template (ref/resource)"
    raise ProtocolError(INVALID_PARAMS, text, {"field": "ref"})


def _prompt(registry: Registry, name: str) -> Prompt:
    prompt = registry.prompts.get(name)
    if prompt is None:
        raise ProtocolError(INVALID_PARAMS, f"Unknown prompt: {clip(name)}")
    return prompt


def _describe_prompt(prompt: Prompt) -> dict[str, Any]:
    arguments = [
        {"name": argument.name, "description": argument.description, "required": argument.required}
        for argument in prompt.arguments
    ]
    about = {"name": prompt.name, "title": prompt.title, "description": prompt.description}
    return {**about, "arguments": arguments}


def _describe_resource(entry: ResourceEntry) -> dict[str, str]:
    about = {"name": entry.name, "mimeType": entry.mime_type, "title": entry.title}
    more = {**about, "description": entry.description}
    return {"uri": entry.uri} | {field: value for field, value in more.items() if value is not None}


def _page(kind: str, items: list[str], params: Mapping[str, Any], size: int | None = None) -> str:
    """One page of a list; its cursor is an offset, and only cursors that we made are taken.

    Raises:
        ProtocolError: the cursor is not one of ours, or of another list.
    """
    cursor, start = params.get("cursor"), 0
    if cursor is not None and cursor != "":
        try:
            offset = decode_cursor(kind, cursor).get("offset") if isinstance(cursor, str) else None
        except Failure:
            offset = None
        if type(offset) is not int or offset <= 0:
            raise ProtocolError(INVALID_PARAMS, "Invalid cursor", {"field": "cursor"})
        start = offset  # the list may have shrunk since, so it may lie behind the end
    end = len(items) if size is None else start + size
    fields = f'"{kind}":[{",".join(items[start:end])}]'
    if end >= len(items):
        return fields
    return f'{fields},"nextCursor":{to_json(encode_cursor(kind, {"offset": end}))}'


@contextmanager
def _failures_as_errors() -> Iterator[None]:
    """Turn a feature's failure into a protocol error: invalid params if not found, else internal."""
    try:
        yield
    except Failure as failure:
        raise failed(failure, INVALID_PARAMS if _is_absence(failure) else jsonrpc.INTERNAL_ERROR) from None


def _is_absence(failure: Failure) -> bool:
    """Whether a failure says that something was not found, or that its name is malformed."""
    return failure.kind.value in ("validation", "not_found")
