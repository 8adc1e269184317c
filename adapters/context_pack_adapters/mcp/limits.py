"""The numbers of the transport: what a peer may send before it is refused."""

from __future__ import annotations

from typing import Final

MAX_MESSAGE_BYTES: Final = 10 * 1024 * 1024
"""One message, unless the environment says otherwise."""

MAX_DEPTH: Final = 128
"""Levels of arrays and objects inside each other."""

MAX_HEADER_BYTES: Final = 8 * 1024
"""A header block with its line ends and the empty line."""

MAX_FRAME_BYTES: Final = 1024**3
"""What a header may announce: up to here a frame is drained, above it the header is nonsense."""
