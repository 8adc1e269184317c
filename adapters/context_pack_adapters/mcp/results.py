"""Results in the era of their request: plain for legacy, with type and metadata for 2026-07-28.

A modern result says that it is complete, who made it and, where a client may keep it, for how long. The cache
scope is always private: every list depends on the workspace it was made from.
"""

from __future__ import annotations

from context_pack_adapters.mcp.eras import SERVER_KEY, SUBSCRIPTION_KEY, ServerFacts
from context_pack_adapters.mcp.exchange import Exchange
from context_pack_adapters.mcp.jsonrpc import Id
from context_pack_adapters.mcp.wire import id_json, reply, reply_around, to_bytes, to_json


class Results:
    """Makes whole replies from the fields of their results."""

    def __init__(self, facts: ServerFacts) -> None:
        self._server = f'"{SERVER_KEY}":{to_json(facts.info())}'
        self._meta = f',"_meta":{{{self._server}}}'
        self._meta_bytes = to_bytes(self._meta)

    def of(self, exchange: Exchange, fields: str, ttl: int | None = None) -> bytes:
        """The reply to a request; `ttl` is for results that a client may keep."""
        if exchange.envelope is None:
            return reply(exchange.id, f"{{{fields}}}")
        kept = "" if ttl is None else f',"ttlMs":{ttl},"cacheScope":"private"'
        return reply(exchange.id, f'{{"resultType":"complete",{fields}{kept}{self._meta}}}')

    def of_call(self, exchange: Exchange, fields: bytes) -> bytes:
        """The reply to a tool call."""
        if exchange.envelope is None:
            return reply_around(exchange.id, b"", fields, b"")
        return reply_around(exchange.id, b'"resultType":"complete",', fields, self._meta_bytes)

    def end_of_stream(self, request_id: Id) -> bytes:
        """The empty result that ends a listen stream."""
        meta = f'{self._server},"{SUBSCRIPTION_KEY}":{id_json(request_id)}'
        return reply(request_id, f'{{"resultType":"complete","_meta":{{{meta}}}}}')
