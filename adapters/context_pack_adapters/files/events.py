"""Events of all stores: one callback is called for reads and writes."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import NamedTuple

from context_pack.kernel.paths import RelativePath
from context_pack.packs.model import Pack


class EventKind(Enum):
    """What happened; all but `WRITING` and `READ` are about a pack."""

    WRITING = auto()
    """Something is about to be written."""
    MADE = auto()
    SEEN = auto()
    CHANGED = auto()
    REMOVED = auto()
    READ = auto()
    """A source file was read."""


class Event(NamedTuple):
    """Something that happened in a store of this process."""

    kind: EventKind
    pack: Pack | None = None
    path: RelativePath | None = None


Tell = Callable[[Event], None]
WRITING = Event(EventKind.WRITING)
