"""One request being served: who asks, what for, and where the reply goes.

Its readers refuse malformed parameters, so that no handler meets one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from context_pack_adapters.mcp.eras import Envelope
from context_pack_adapters.mcp.jsonrpc import INVALID_PARAMS, Id
from context_pack_adapters.mcp.wire import Refusal

Sink = Callable[[bytes | None], None]
"""Takes a whole reply, or None when there is none."""


class Exchange(NamedTuple):
    """A request of either era and the sink of its reply; a legacy one has no envelope."""

    id: Id
    method: str
    params: Mapping[str, Any]
    envelope: Envelope | None
    sink: Sink

    @property
    def token(self) -> Id | None:
        """The progress token, if the caller gave a proper one: 0 and the empty string are."""
        meta = self.params.get("_meta")
        if type(meta) is not dict:
            return None
        token = meta.get("progressToken")
        return token if type(token) is int or type(token) is str else None

    def text(self, field: str) -> str:
        """A required string of the parameters."""
        value = self.params.get(field)
        if type(value) is not str:
            raise Refusal(INVALID_PARAMS, f"{field} is required and must be a string", {"field": field})
        return value

    def object(self, field: str) -> Mapping[str, Any]:
        """A required object of the parameters."""
        value = self.params.get(field)
        if type(value) is not dict:
            raise Refusal(INVALID_PARAMS, f"{field} is required and must be an object", {"field": field})
        return value


def texts(value: object, field: str) -> Mapping[str, str]:
    """A map of strings; nothing at all is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise Refusal(INVALID_PARAMS, f"{field} must be an object of strings", {"field": field})
    return value
