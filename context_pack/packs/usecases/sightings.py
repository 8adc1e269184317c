"""What was found out about refs, and pages made of it, kept from call to call for as long as it holds.

A sighting holds only while the source tree says that the file is unchanged, and that is asked in every call.
What depends on more than the ref's own file (code found in another one, a file that is gone) is never kept.
Refs and packs are known by identity: the store hands out the same ones as long as a pack's file stays the
same. Safe to share between threads: kept values never change, and what is lost is only found out again.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, NamedTuple, TypeVar

from context_pack.kernel.ports import Stamp
from context_pack.packs.domain.model import Pack, Ref
from context_pack.packs.domain.render import Rendered
from context_pack.packs.domain.states import Resolution

MOST_CHARS = 16 * 1024 * 1024
ENTRY_CHARS = 1_024
"""What an entry weighs besides its text."""

V = TypeVar("V")


class Sighting(NamedTuple):
    """A ref, the stamp of its file, and what became of the ref when the file had that stamp."""

    ref: Ref
    stamp: Stamp
    resolution: Resolution


class Page(NamedTuple):
    """A page, and all that it was made of."""

    pack: Pack
    legend: str
    sightings: tuple[Sighting, ...]
    rendered: Rendered


class Kept(Generic[V]):
    """Values by key within bounds; those that nobody asks for are forgotten, a generation at a time."""

    def __init__(self, most_chars: int = MOST_CHARS) -> None:
        self._most = most_chars // 2
        self._young: dict[Hashable, tuple[V, int]] = {}
        self._old: dict[Hashable, tuple[V, int]] = {}
        self._weight = 0

    def get(self, key: Hashable) -> V | None:
        """The value last kept under that key."""
        found = self._young.get(key)
        if found is None and (found := self._old.get(key)) is not None:
            self.put(key, *found)
        return None if found is None else found[0]

    def put(self, key: Hashable, value: V, chars: int) -> None:
        """Keep a value that holds so many characters."""
        if self._weight > self._most:
            self._old, self._young, self._weight = self._young, {}, 0
        self._young[key] = (value, chars)
        self._weight += ENTRY_CHARS + chars


class Sightings:
    """What is kept of one source tree."""

    def __init__(self, most_chars: int = MOST_CHARS) -> None:
        self._refs: Kept[Sighting] = Kept(most_chars)
        self._pages: Kept[Page] = Kept(most_chars)

    def of(self, ref: Ref) -> Sighting | None:
        """The last sighting of a ref."""
        found = self._refs.get(id(ref))
        return found if found is not None and found.ref is ref else None

    def note(self, sighting: Sighting) -> None:
        """Keep a sighting."""
        # The code is held twice: as it is, and as it is shown.
        self._refs.put(id(sighting.ref), sighting, 2 * len(sighting.resolution.excerpt or ""))

    def page(self, request: Hashable, pack: Pack, legend: str) -> Page | None:
        """The page last made for the request, if it was made of this pack with this legend."""
        found = self._pages.get((pack.id, request))
        return found if found is not None and found.pack is pack and found.legend == legend else None

    def keep(self, request: Hashable, page: Page) -> None:
        """Keep a page."""
        self._pages.put((page.pack.id, request), page, len(page.rendered.text))
