"""One question to a tree on disk, whichever engine answers it.

Reading the pattern and the glob, the list of files, the time limit and the answer's shape are the same for
both engines, so that only the matching differs.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from context_pack.code.domain.search import Found, Query
from context_pack.code.domain.search_pattern import Pattern, compiled
from context_pack.kernel.paths import EXCLUDED_FOLDERS, PathPolicy
from context_pack_adapters.search.deadline import Deadline, TimedOut
from context_pack_adapters.search.globs import Wanted, wanted_by
from context_pack_adapters.search.listing import Listing, Snapshot
from context_pack_adapters.search.shelf import Shelf


class TreeEngine:
    """Searches the files under `root`, an absolute path; safe to share between threads.

    `binary` gives the `rg` to use, or None for the pure engine; `room` is how many bytes of texts are kept;
    from `sorts_from` unknown files on, `rg` is asked which of them are plain.
    """

    def __init__(
        self,
        root: str,
        policy: PathPolicy,
        binary: Callable[[], str | None],
        room: int,
        sorts_from: int,
    ) -> None:
        self._binary = binary
        self._sorts_from = sorts_from
        self._listing = Listing(root, policy, EXCLUDED_FOLDERS)
        self._shelf = Shelf(root, policy, room)
        self._lock = Lock()
        self._tidied: Snapshot | None = None
        self._filtered: dict[str, tuple[Snapshot, tuple[str, ...]]] = {}

    def asked(self, query: Query) -> Callable[[Deadline], Found]:
        """The search that answers a query, yet to be done.

        Raises:
            Failure: `invalid_data` for a pattern or glob that means nothing.
        """
        pattern = compiled(query.pattern, query.case_sensitive)
        wanted = None if query.glob is None else wanted_by(query.glob)
        return lambda deadline: self._found(query, pattern, wanted, deadline)

    def _found(self, query: Query, pattern: Pattern, wanted: Wanted | None, deadline: Deadline) -> Found:
        from context_pack_adapters.search import regex_walk

        snapshot = self._snapshot(deadline)
        paths = (
            snapshot.paths if wanted is None else self._chosen(snapshot, query.glob or "", wanted, deadline)
        )
        binary = None if pattern.ripgrep is None else self._binary()
        if binary is not None and pattern.ripgrep is not None:
            from context_pack_adapters.search.ripgrep import RipgrepSearch
            from context_pack_adapters.search.ripgrep_places import Unusable

            try:
                return RipgrepSearch(
                    binary,
                    self._shelf,
                    snapshot,
                    pattern,
                    pattern.ripgrep,
                    query.limit,
                    deadline,
                    self._sorts_from,
                ).search(paths)
            except Unusable:
                deadline.left()
        return regex_walk.search(self._shelf, paths, pattern, query.limit, deadline)

    def _snapshot(self, deadline: Deadline) -> Snapshot:
        if not self._lock.acquire(timeout=deadline.left()):
            raise TimedOut
        try:
            snapshot = self._listing.now(deadline)
            if snapshot is not self._tidied:
                self._tidied = snapshot
                self._filtered.clear()
                self._shelf.tidy(snapshot.paths)
        finally:
            self._lock.release()
        return snapshot

    def _chosen(self, snapshot: Snapshot, glob: str, wanted: Wanted, deadline: Deadline) -> tuple[str, ...]:
        """The files that a glob means, remembered as long as the tree has the same files."""
        known = self._filtered.get(glob)
        if known is not None and known[0] is snapshot:
            return known[1]
        chosen: list[str] = []
        for count, path in enumerate(snapshot.paths):
            if not count % 1000:
                deadline.left()
            if wanted(path):
                chosen.append(path)
        if len(self._filtered) >= 16:
            self._filtered.clear()
        self._filtered[glob] = (snapshot, tuple(chosen))
        return tuple(chosen)
