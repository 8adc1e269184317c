"""The numbers of the transport: what a peer may send before it is refused, and what it shows of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MAX_MESSAGE_BYTES: Final = 10 * 1024 * 1024
"""One message, unless the environment says otherwise."""

MAX_DEPTH: Final = 128
"""Levels of arrays and objects inside each other."""

MAX_HEADER_BYTES: Final = 8 * 1024
"""A header block with its line ends and the empty line."""

MAX_FRAME_BYTES: Final = 1024**3
"""What a header may announce: up to here a frame is drained, above it the header is nonsense."""

CLIENT_PAGES: Mapping[str, int] = {"claude-code": 20_000, "gemini-cli": 7_500, "codex": 2_500}
"""Tokens of one answer that a client shows whole, by how it calls itself (measured with the real ones)."""
OTHER_PAGE = 10_000


def page_tokens_of(client: str) -> int:
    """The largest answer, in tokens, for a client of that name."""
    called = client.strip().lower()
    return next((page for name, page in CLIENT_PAGES.items() if called.startswith(name)), OTHER_PAGE)
