"""The two eras of MCP: protocol revisions, what the server declares, and a request's envelope.

Legacy revisions open with `initialize`; 2026-07-28 has no handshake, and each request carries an envelope in
`params._meta`. No request decides the era of the next one, so everything about an era hangs on the request:
`envelope_of` reads it, and a request without one is legacy. Nothing here depends on the registry, so that the
first answer never waits for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from context_pack_adapters.mcp.jsonrpc import INVALID_PARAMS
from context_pack_adapters.mcp.wire import Refusal

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
LATEST_HANDSHAKE = HANDSHAKE_VERSIONS[-1]
MODERN_VERSIONS = ("2026-07-28",)

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
LEVEL_KEY = "io.modelcontextprotocol/logLevel"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"

RESOURCE_NOT_FOUND = -32002
UNSUPPORTED_VERSION = -32022

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
SEVERITY: Mapping[str, int] = {level: rank for rank, level in enumerate(LEVELS)}

MAX_INSTRUCTIONS_BYTES = 2048
STATIC_TTL_MS = 300_000
"""How long a client may keep what cannot change while the server runs."""


class ServerFacts(NamedTuple):
    """What the server says of itself; `instructions` hold at most 2 KB, the key facts first."""

    name: str
    title: str
    version: str
    description: str
    instructions: str
    about: Mapping[str, str] | None = None
    """What `initialize` says besides, in its `_meta`."""

    def info(self) -> dict[str, str]:
        """The `serverInfo` object of both eras."""
        return {
            "name": self.name,
            "title": self.title,
            "version": self.version,
            "description": self.description,
        }


class Envelope(NamedTuple):
    """The checked `_meta` of a 2026-07-28 request."""

    capabilities: Mapping[str, Any]
    level: str | None
    client: str = ""


def capabilities(changing_tools: bool) -> dict[str, Any]:
    """The `capabilities` object of both eras; the list of prompts never changes."""
    return {
        "tools": {"listChanged": changing_tools},
        "resources": {"subscribe": True, "listChanged": True},
        "prompts": {"listChanged": False},
        "completions": {},
        "logging": {},
    }


def handshake(facts: ServerFacts, changing_tools: bool, params: object) -> dict[str, Any]:
    """The result of `initialize`: the version asked for if we speak it, else the newest; never an error."""
    asked = params.get("protocolVersion") if isinstance(params, dict) else None
    more = {} if facts.about is None else {"_meta": dict(facts.about)}
    return {
        **more,
        "protocolVersion": asked if asked in HANDSHAKE_VERSIONS else LATEST_HANDSHAKE,
        "capabilities": capabilities(changing_tools),
        "serverInfo": facts.info(),
        "instructions": facts.instructions,
    }


def discovery(facts: ServerFacts, changing_tools: bool) -> dict[str, Any]:
    """The result of `server/discover`, without what every modern result carries."""
    return {
        "supportedVersions": list(MODERN_VERSIONS),
        "capabilities": capabilities(changing_tools),
        "instructions": facts.instructions,
    }


def envelope_of(params: object) -> Envelope | None:
    """The envelope of a request, or None for a legacy one.

    Raises:
        Refusal: the request claims the modern era, but its envelope is incomplete or of another revision.
    """
    meta = params.get("_meta") if isinstance(params, dict) else None
    if not isinstance(meta, dict) or VERSION_KEY not in meta:
        return None
    version = meta[VERSION_KEY]
    declared = meta.get(CAPABILITIES_KEY)
    if not isinstance(version, str):
        raise Refusal(INVALID_PARAMS, f"_meta[{VERSION_KEY!r}] must be a string")
    if version not in MODERN_VERSIONS:
        data = {"supported": list(MODERN_VERSIONS), "requested": version}
        raise Refusal(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    if not isinstance(declared, dict):
        raise Refusal(INVALID_PARAMS, f"_meta[{CAPABILITIES_KEY!r}] is required and must be an object")
    if not isinstance(meta.get(CLIENT_KEY, {}), dict):
        raise Refusal(INVALID_PARAMS, f"_meta[{CLIENT_KEY!r}] must be an object")
    level = meta.get(LEVEL_KEY)
    if level is not None and (not isinstance(level, str) or level not in SEVERITY):
        raise Refusal(INVALID_PARAMS, f"_meta[{LEVEL_KEY!r}] must be one of: {', '.join(LEVELS)}")
    return Envelope(declared, level, client_name(meta.get(CLIENT_KEY)))


def client_name(info: object) -> str:
    """The name in a client's own words about itself; empty if there is none."""
    name = info.get("name") if isinstance(info, dict) else None
    return name if isinstance(name, str) else ""
