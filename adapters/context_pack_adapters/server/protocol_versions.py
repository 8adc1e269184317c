"""The two ways to speak MCP, what the server declares in each, and a request with its result.

The handshake versions open with `initialize`; 2026-07-28 is stateless: each request carries an envelope in
`params._meta`. No request decides for the next one, so everything about it hangs on the request, and one
without an envelope is of the handshake. A result of the handshake is plain; a stateless one says that it is
complete, who made it and, where a client may keep it, for how long. Nothing here depends on the registry, so
that the first answer never waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from context_pack_adapters.server.jsonrpc import INVALID_PARAMS, Id, ProtocolError, reply, to_json

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
        about = {"name": self.name, "title": self.title}
        return {**about, "version": self.version, "description": self.description}


class Envelope(NamedTuple):
    """The checked `_meta` of a 2026-07-28 request."""

    level: str | None
    view: ClientView


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
        ProtocolError: its envelope is incomplete, or of another version.
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
    return Envelope(level, client_view(meta.get(CLIENT_KEY)))


class ClientView(NamedTuple):
    """What a client shows of an answer: so many tokens, and whether it can do with the text alone.

    Clients that limit by characters have a page of as many bytes (a token is 2.5 bytes). One that shows its
    model the text and `structuredContent` beside it would show everything twice.
    """

    page_tokens: int
    structured: bool = True


CLIENTS: Mapping[str, ClientView] = {
    "claude-code": ClientView(20_000),
    "gemini-cli": ClientView(7_500),
    "codex": ClientView(10_000),
    "opencode": ClientView(10_000),
    "cline": ClientView(3_200),  # cuts the middle out of more than 8,000 characters
    "@cline": ClientView(3_200),
    "github-copilot": ClientView(8_000, structured=False),  # puts more than 20 KB into a file
    "copilot": ClientView(8_000, structured=False),
    "qwen-code": ClientView(8_000, structured=False),
}
"""By the beginning of how a client calls itself, measured with the real ones."""
OTHER_CLIENT = ClientView(5_000)


def client_view(info: object) -> ClientView:
    """What a client shows that says this of itself."""
    name = info.get("name") if isinstance(info, dict) else None
    called = name.strip().lower() if isinstance(name, str) else ""
    return next((view for start, view in CLIENTS.items() if called.startswith(start)), OTHER_CLIENT)


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
        meta = f'"_meta":{{{self._server}}}'
        return reply(request.id, f'{{"resultType":"complete",{fields}{cache},{meta}}}')

    def end_of_stream(self, request_id: Id) -> bytes:
        """The empty result that ends a listen stream."""
        meta = f'{self._server},"{SUBSCRIPTION_KEY}":{to_json(request_id)}'
        return reply(request_id, f'{{"resultType":"complete","_meta":{{{meta}}}}}')
