"""How much of a pack is shown, and one page of it."""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen


class Mode(StrEnum):
    """How much of a pack is shown."""

    FULL = "full"
    COMPACT = "compact"
    DIFF = "diff"


@frozen
class Rendered:
    """One page; `cursor` leads to the next, None on the last."""

    text: str
    cursor: str | None = None
