"""The lists: tools, prompts, resource templates and resources, page by page behind an opaque cursor.

What cannot change while the server runs is described and encoded once. The order is the registry's, so the
same list always reads the same; a cursor is an offset into it, and only cursors that we made are taken.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from context_pack.kernel.errors import Failure
from context_pack.kernel.paging import decode_cursor, encode_cursor
from context_pack_adapters.mcp.jsonrpc import INVALID_PARAMS
from context_pack_adapters.mcp.protocol_versions import STATIC_TTL_MS
from context_pack_adapters.mcp.wire import ProtocolError, quoted, to_json

if TYPE_CHECKING:
    from context_pack.toolkit.offers import Prompt, ResourceEntry
    from context_pack.toolkit.registry import Registry

MOST_RESOURCES = 1000
"""Resources in one page: documents may be many, and no client likes a message of megabytes."""

TOOLS, PROMPTS, TEMPLATES = "tools", "prompts", "resourceTemplates"
"""The lists that cannot change, as their results name them."""

FAMILY_KEY = "context-pack/family"
"""Where the description of a tool names its family."""

Item = dict[str, Any]
Page = tuple[str, int]
"""The fields of a list result, and for how long a client may keep them."""


class FixedLists:
    """The lists that cannot change while the server runs; `page_size` None means one page."""

    def __init__(self, items: Mapping[str, Sequence[Item]], page_size: int | None) -> None:
        self._items = {kind: [to_json(item) for item in items[kind]] for kind in (TOOLS, PROMPTS, TEMPLATES)}
        self._families = [item.get("_meta", {}).get(FAMILY_KEY) for item in items[TOOLS]]
        self._page_size = page_size

    def page(self, kind: str, params: Mapping[str, Any]) -> Page:
        """One page of a list."""
        return _page(kind, self._items[kind], params, self._page_size), STATIC_TTL_MS

    def tools(self, params: Mapping[str, Any], families: Collection[str]) -> Page:
        """One page of the tools of these families; not cacheable, because families may change."""
        every = zip(self._items[TOOLS], self._families, strict=True)
        shown = [item for item, family in every if family in families]
        return _page(TOOLS, shown, params, self._page_size), 0


def describe_registry(registry: Registry) -> dict[str, list[Item]]:
    """The unchanging tools, prompts and templates of a registry, as the lists show them."""
    return {
        TOOLS: registry.describe(),
        PROMPTS: [_prompt(prompt) for prompt in registry.prompts.values()],
        TEMPLATES: [
            {
                "uriTemplate": family.uri_template,
                "name": family.name,
                "title": family.title,
                "description": family.description,
                "mimeType": family.mime_type,
            }
            for family in registry.resources()
            if family.uri_template is not None
        ],
    }


def resources(registry: Registry, params: Mapping[str, Any], page_size: int | None) -> Page:
    """One page of `resources/list`; it may change at any time."""
    entries = [to_json(_entry(entry)) for entry in registry.entries()]
    return _page("resources", entries, params, page_size or MOST_RESOURCES), 0


def _page(kind: str, items: list[str], params: Mapping[str, Any], size: int | None) -> str:
    cursor = params.get("cursor")
    start = 0 if cursor is None or cursor == "" else _offset(kind, cursor)
    if start == 0 and (size is None or len(items) <= size):
        return f'"{kind}":[{",".join(items)}]'
    end = len(items) if size is None else start + size
    fields = f'"{kind}":[{",".join(items[start:end])}]'
    return (
        fields
        if end >= len(items)
        else f'{fields},"nextCursor":{quoted(encode_cursor(kind, {"offset": end}))}'
    )


def _prompt(prompt: Prompt) -> Item:
    arguments = [
        {"name": argument.name, "description": argument.description, "required": argument.required}
        for argument in prompt.arguments
    ]
    return {
        "name": prompt.name,
        "title": prompt.title,
        "description": prompt.description,
        "arguments": arguments,
    }


def _entry(entry: ResourceEntry) -> Item:
    shown = {"uri": entry.uri, "name": entry.name, "mimeType": entry.mime_type}
    if entry.title is not None:
        shown["title"] = entry.title
    if entry.description is not None:
        shown["description"] = entry.description
    return shown


def _offset(kind: str, cursor: object) -> int:
    """The offset a cursor stands for; a list may have shrunk since, so it may lie behind the end.

    Raises:
        ProtocolError: it is not one of ours, or of another list.
    """
    if isinstance(cursor, str):
        try:
            offset = decode_cursor(kind, cursor).get("offset")
        except Failure:
            offset = None
        if type(offset) is int and offset > 0:
            return offset
    raise ProtocolError(INVALID_PARAMS, "Invalid cursor", {"field": "cursor"})
