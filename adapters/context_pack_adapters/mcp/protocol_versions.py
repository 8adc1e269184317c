"""The two ways to speak MCP: protocol versions, what the server declares, and a request's envelope.

The handshake versions open with `initialize`; 2026-07-28 is stateless: each request carries an envelope in
`params._meta`. No request decides for the next one, so everything about it hangs on the request:
`envelope_of` reads the envelope, and a request without one is of the handshake. Nothing here depends on the
registry, so that the first answer never waits for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from context_pack_adapters.mcp.jsonrpc import INVALID_PARAMS
from context_pack_adapters.mcp.wire import ProtocolError

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
LATEST_HANDSHAKE = HANDSHAKE_VERSIONS[-1]
STATELESS_VERSIONS = ("2026-07-28",)

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
        """The `serverInfo` object of both kinds of versions."""
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
    """The `capabilities` object of both kinds of versions; the list of prompts never changes."""
    return {
        "tools": {"listChanged": changing_tools},
        "resources": {"subscribe": True, "listChanged": True},
        "prompts": {"listChanged": False},
        "completions": {},
        "logging": {},
    }


def initialize_result(facts: ServerFacts, changing_tools: bool, params: object) -> dict[str, Any]:
    """The result of `initialize`: the version asked for if we speak it, else the newest; never an error."""
    version = params.get("protocolVersion") if isinstance(params, dict) else None
    more = {} if facts.about is None else {"_meta": dict(facts.about)}
    return {
        **more,
        "protocolVersion": version if version in HANDSHAKE_VERSIONS else LATEST_HANDSHAKE,
        "capabilities": capabilities(changing_tools),
        "serverInfo": facts.info(),
        "instructions": facts.instructions,
    }


def discover_result(facts: ServerFacts, changing_tools: bool) -> dict[str, Any]:
    """The result of `server/discover`, without what every stateless result carries."""
    return {
        "supportedVersions": list(STATELESS_VERSIONS),
        "capabilities": capabilities(changing_tools),
        "instructions": facts.instructions,
    }


def envelope_of(params: object) -> Envelope | None:
    """The envelope of a request, or None for one of the handshake.

    Raises:
        ProtocolError: the request claims to be stateless, but its envelope is incomplete or of another revision.
    """
    meta = params.get("_meta") if isinstance(params, dict) else None
    if not isinstance(meta, dict) or VERSION_KEY not in meta:
        return None
    version = meta[VERSION_KEY]
    declared = meta.get(CAPABILITIES_KEY)
    if not isinstance(version, str):
        raise ProtocolError(INVALID_PARAMS, f"_meta[{VERSION_KEY!r}] must be a string")
    if version not in STATELESS_VERSIONS:
        data = {"supported": list(STATELESS_VERSIONS), "requested": version}
        raise ProtocolError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    if not isinstance(declared, dict):
        raise ProtocolError(INVALID_PARAMS, f"_meta[{CAPABILITIES_KEY!r}] is required and must be an object")
    if not isinstance(meta.get(CLIENT_KEY, {}), dict):
        raise ProtocolError(INVALID_PARAMS, f"_meta[{CLIENT_KEY!r}] must be an object")
    level = meta.get(LEVEL_KEY)
    if level is not None and (not isinstance(level, str) or level not in SEVERITY):
        raise ProtocolError(INVALID_PARAMS, f"_meta[{LEVEL_KEY!r}] must be one of: {', '.join(LEVELS)}")
    return Envelope(declared, level, client_name(meta.get(CLIENT_KEY)))


def client_name(info: object) -> str:
    """The name in a client's own words about itself; empty if there is none."""
    name = info.get("name") if isinstance(info, dict) else None
    return name if isinstance(name, str) else ""
