"""Tells subscribers which packs changed, whoever changed them: by looking every two seconds.

A look compares what subscribers of a pack would read with the last look: the pack itself, and the signatures
of the files that its refs point at. Packs are read only if their folder (or the team's database) says that
something changed, or one of them expired; so an idle look costs one listing and a few status calls. Nothing
is looked at while nobody subscribed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

from context_pack.kernel.errors import Failure
from context_pack.kernel.ports import Clock
from context_pack.packs.model import Pack
from context_pack.packs.offers import handle_in
from context_pack.packs.ports import PackStore
from context_pack_adapters.files.folder import Folder
from context_pack_adapters.files.opening import Place
from context_pack_adapters.files.signature import Signature, signature

LOOK_SECONDS = 2.0
NEVER = datetime.max.replace(tzinfo=UTC)

State = tuple[Pack | None, tuple[Signature | None, ...]]
"""A pack, if there is one, and the signatures of the files it points at."""
Wanted = Callable[[], tuple[frozenset[str], bool]]
"""Gives the subscribed URIs, and whether anybody wants to hear of anything."""
Tell = Callable[[list[str], bool], None]
"""Takes the URIs whose packs changed, and whether packs came or went."""


class PackWatch:
    """Watches the packs that somebody wants to hear of; `mark` differs whenever a pack was changed."""

    def __init__(
        self,
        packs: PackStore,
        source_root: str,
        clock: Clock,
        mark: Callable[[], object],
        wanted: Wanted,
        tell: Tell,
    ) -> None:
        self._packs, self._root, self._clock = packs, Place.of(source_root), clock
        self._mark, self._wanted, self._tell = mark, wanted, tell
        self._looking = threading.Lock()
        self._woken = threading.Event()
        self._states: dict[str, State] = {}
        self._ids: frozenset[str] | None = None
        self._marked: object = None
        self._by_handle: dict[str, Pack] = {}
        self._expiry = NEVER

    def run(self, seconds: float = LOOK_SECONDS) -> None:
        """Look again and again while somebody wants to hear, for ever; for a thread of its own."""
        while True:
            self._woken.wait(seconds if self._wanted()[1] else None)
            self._woken.clear()
            with suppress(Failure, OSError):  # the next look may find what it needs
                self.look()

    def wake(self) -> None:
        """Look now: a pack was changed here, or there is less to watch; does not wait for the look."""
        self._woken.set()

    def follow(self) -> None:
        """Look at what is newly wanted, so that whatever changes from now on is told.

        Raises:
            Failure: the packs cannot be read.
            OSError: their folder cannot.
        """
        try:
            with self._looking:
                ids = self._read()
                self._ids = ids if self._ids is None else self._ids
                for uri in self._wanted()[0] - self._states.keys():
                    self._states[uri] = self._state(uri)
        finally:
            self._woken.set()

    def look(self) -> None:
        """Tell what differs from the last look; raises as `follow` does."""
        with self._looking:
            uris, watching = self._wanted()
            if not watching:
                self._states, self._ids = {}, None
                return
            ids, known = self._read(), self._ids
            states = {uri: self._state(uri) for uri in uris}
            changed = [uri for uri in sorted(uris) if self._states.get(uri, states[uri]) != states[uri]]
            self._states, self._ids = states, ids
        if changed or (known is not None and known != ids):
            self._tell(changed, known is not None and known != ids)

    def _read(self) -> frozenset[str]:
        """Read the packs if they may have changed; the ids of the live ones."""
        mark = self._mark()  # first: what changes while they are read is read again
        if mark != self._marked or self._clock.now() >= self._expiry:
            packs = self._packs.all()
            self._by_handle = {pack.name: pack for pack in packs if pack.name is not None}
            self._by_handle |= {pack.id: pack for pack in packs}
            self._expiry = min((pack.expires_at for pack in packs), default=NEVER)
            self._marked = mark
        return frozenset(pack.id for pack in self._by_handle.values())

    def _state(self, uri: str) -> State:
        pack = self._by_handle.get(handle_in(uri))
        paths = [] if pack is None else sorted({ref.path.value for _, ref in pack.refs})
        return pack, tuple(map(self._signature, paths))

    def _signature(self, path: str) -> Signature | None:
        *above, name = path.split("/")
        with suppress(OSError, Failure):
            return signature(Folder(self._root.below(*above)).status(name))
        return None
