"""What a request does with the registry: read a resource, render a prompt, complete an argument.

These functions run inside jobs: they may touch the disk and may be slow. Each returns the fields of a result.
Bad parameters are refused here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

from context_pack.kernel.errors import Failure, clip
from context_pack_adapters.mcp.catalog import Page, resources
from context_pack_adapters.mcp.jobs import Job
from context_pack_adapters.mcp.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS
from context_pack_adapters.mcp.protocol_versions import RESOURCE_NOT_FOUND
from context_pack_adapters.mcp.wire import ProtocolError, fields_of

if TYPE_CHECKING:
    from context_pack.toolkit.offers import Completer, Prompt
    from context_pack.toolkit.registry import Registry

MAX_COMPLETIONS = 100
MAX_COUNTED = 10_000
"""Completions are counted up to this number."""


def list_resources(registry: Registry, params: Mapping[str, Any], page_size: int | None) -> Page:
    """Serve `resources/list`."""
    with _failures_as_errors():
        return resources(registry, params, page_size)


def read_resource(registry: Registry, job: Job, uri: str) -> tuple[str, int]:
    """Serve `resources/read`: the fields, and the life of the content in milliseconds."""
    try:
        resource = registry.read(uri)
    except Failure as failure:
        if not _is_absence(failure):
            raise ProtocolError(
                INTERNAL_ERROR, failure.message, {"code": failure.code.value, "uri": uri}
            ) from None
        resource = None
    if resource is None:
        code = RESOURCE_NOT_FOUND if job.request.envelope is None else INVALID_PARAMS
        raise ProtocolError(code, "Resource not found", {"uri": uri})
    content = {"uri": resource.uri, "mimeType": resource.mime_type}
    content.update({"text": resource.text} if resource.blob is None else {"blob": resource.blob})
    return fields_of({"contents": [content]}), max(0, int(resource.ttl_ms))


def get_prompt(registry: Registry, name: str, arguments: Mapping[str, str]) -> str:
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
    messages: Any = rendered
    if isinstance(rendered, str):
        messages = [{"role": "user", "content": {"type": "text", "text": rendered}}]
    return fields_of({"description": prompt.description, "messages": list(messages)})


def complete(
    registry: Registry, ref: Mapping[str, Any], argument: str, typed: str, others: Mapping[str, str]
) -> str:
    """Serve `completion/complete`: at most 100 values; a known ref without such an argument has none."""
    completer = _completers(registry, ref).get(argument)
    with _failures_as_errors():
        values = [] if completer is None else list(islice(completer(typed, others), MAX_COUNTED + 1))
    completion: dict[str, Any] = {
        "values": values[:MAX_COMPLETIONS],
        "hasMore": len(values) > MAX_COMPLETIONS,
    }
    if len(values) <= MAX_COUNTED:
        completion["total"] = len(values)
    return fields_of({"completion": completion})


def unknown_tool(name: str) -> ProtocolError:
    """No tool has that name: a protocol error, not a tool error."""
    return ProtocolError(INVALID_PARAMS, f"Unknown tool: {clip(name)}")


def _completers(registry: Registry, ref: Mapping[str, Any]) -> Mapping[str, Completer]:
    """The completers for the arguments of a prompt or of a resource template."""
    kind = ref.get("type")
    if kind == "ref/prompt" and isinstance(ref.get("name"), str):
        return _prompt(registry, ref["name"]).complete
    uri = ref.get("uri")
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


@contextmanager
def _failures_as_errors() -> Iterator[None]:
    """Turn a feature's failure into a protocol error: invalid params if not found, else internal."""
    try:
        yield
    except Failure as failure:
        code = INVALID_PARAMS if _is_absence(failure) else INTERNAL_ERROR
        raise ProtocolError(code, failure.message, {"code": failure.code.value}) from None


def _is_absence(failure: Failure) -> bool:
    """Whether a failure says that something was not found, or that its name is malformed."""
    return failure.kind.value in ("validation", "not_found")
