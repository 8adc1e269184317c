"""One request being served: who asks, what for, and where the reply goes; and its result in the right form.

The readers of `RequestContext` refuse malformed parameters, so that no handler meets one. A result of a
handshake revision is plain; one of 2026-07-28 says that it is complete, who made it and, where a client may
keep it, for how long. The cache scope is always private: every list depends on its workspace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from context_pack_adapters.mcp.jsonrpc import INVALID_PARAMS, Id
from context_pack_adapters.mcp.protocol_versions import SERVER_KEY, SUBSCRIPTION_KEY, Envelope, ServerFacts
from context_pack_adapters.mcp.wire import ProtocolError, id_json, reply, to_json

Reply = Callable[[bytes | None], None]
"""Takes a whole reply, or None when there is none."""


class RequestContext(NamedTuple):
    """A request and where its reply goes; one of a handshake revision has no envelope."""

    id: Id
    method: str
    params: Mapping[str, Any]
    envelope: Envelope | None
    reply: Reply

    @property
    def token(self) -> Id | None:
        """The progress token, if the caller gave a proper one: 0 and the empty string are."""
        meta = self.params.get("_meta")
        token = meta.get("progressToken") if type(meta) is dict else None
        return token if type(token) is int or type(token) is str else None

    def text(self, field: str) -> str:
        """A required string of the parameters."""
        value = self.params.get(field)
        if type(value) is not str:
            raise ProtocolError(INVALID_PARAMS, f"{field} is required and must be a string", {"field": field})
        return value

    def object(self, field: str) -> Mapping[str, Any]:
        """A required object of the parameters."""
        value = self.params.get(field)
        if type(value) is not dict:
            raise ProtocolError(
                INVALID_PARAMS, f"{field} is required and must be an object", {"field": field}
            )
        return value

    def arguments(self) -> Mapping[str, Any]:
        """The arguments of a call; null is as absent."""
        value = self.params.get("arguments")
        if value is not None and type(value) is not dict:
            raise ProtocolError(INVALID_PARAMS, "arguments must be an object", {"field": "arguments"})
        return value or {}


def string_map(value: object, field: str) -> Mapping[str, str]:
    """A map of strings; nothing at all is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise ProtocolError(INVALID_PARAMS, f"{field} must be an object of strings", {"field": field})
    return value


class Results:
    """Makes whole replies from the fields of their results."""

    def __init__(self, facts: ServerFacts) -> None:
        self._server = f'"{SERVER_KEY}":{to_json(facts.info())}'

    def of(self, request: RequestContext, fields: str, ttl: int | None = None) -> bytes:
        """The reply to a request; `ttl` is for results that a client may keep."""
        if request.envelope is None:
            return reply(request.id, f"{{{fields}}}")
        cache = "" if ttl is None else f',"ttlMs":{ttl},"cacheScope":"private"'
        return reply(request.id, f'{{"resultType":"complete",{fields}{cache},"_meta":{{{self._server}}}}}')

    def end_of_stream(self, request_id: Id) -> bytes:
        """The empty result that ends a listen stream."""
        meta = f'{self._server},"{SUBSCRIPTION_KEY}":{id_json(request_id)}'
        return reply(request_id, f'{{"resultType":"complete","_meta":{{{meta}}}}}')
