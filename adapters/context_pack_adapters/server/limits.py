"""The numbers of the transport: what a peer may send before it is refused, and what it shows of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

MAX_MESSAGE_BYTES: Final = 10 * 1024 * 1024
"""One message, unless the environment says otherwise."""

MAX_DEPTH: Final = 128
"""Levels of arrays and objects inside each other."""

MAX_HEADER_BYTES: Final = 8 * 1024
"""A header block with its line ends and the empty line."""

MAX_FRAME_BYTES: Final = 1024**3
"""What a header may announce: up to here a frame is drained, above it the header is nonsense."""


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


def client_view(client: str) -> ClientView:
    """What a client of that name shows."""
    called = client.strip().lower()
    return next((view for name, view in CLIENTS.items() if called.startswith(name)), OTHER_CLIENT)
