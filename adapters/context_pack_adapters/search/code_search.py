"""`CodeSearch` over a tree on disk: one question, whichever engine answers it.

The engine is chosen when it is first needed. Reading the pattern and the glob, the list of files, the time
limit and the answer's shape are the same for both, so that only the matching differs.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from threading import Lock

from context_pack.code.domain.search import EXCLUDED_FOLDERS, SECONDS, TIMED_OUT, Found, Query
from context_pack.code.domain.search_pattern import Pattern, compiled
from context_pack.code.domain.search_walk import Cost
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import PathPolicy
from context_pack.toolkit.call import Call
from context_pack_adapters.search.deadline import Deadline, TimedOut, in_time
from context_pack_adapters.search.globs import Wanted, wanted_by
from context_pack_adapters.search.listing import Listing, Snapshot
from context_pack_adapters.search.shelf import ROOM_BYTES, Shelf

AUTO, RIPGREP, PURE = "auto", "rg", "pure"
ENGINES = (AUTO, RIPGREP, PURE)
FEW_CORES = 4
"""With more of them, `rg` on all is faster than one at texts in memory."""
EASY_LEAD = 3


class TreeSearch:
    """Searches the files under `root`; safe to share between threads.

    `engine` is `rg`, `pure`, or `auto` for ripgrep where there is one; without one, `rg` is `pure` too.
    `search_path` is where an `rg` is looked for first: the process's own PATH unless given. On few `cores`
    (those of this process unless given) texts are kept for ripgrep too, and easy ones searched in memory.
    """

    def __init__(
        self,
        root: Path,
        policy: PathPolicy,
        engine: str = AUTO,
        search_path: str | None = None,
        seconds: float = SECONDS,
        room: int = ROOM_BYTES,
        cores: int | None = None,
    ) -> None:
        place = os.path.abspath(root)
        self._wish = engine
        self._search_path = search_path
        self._seconds = seconds
        self._listing = Listing(place, policy, EXCLUDED_FOLDERS)
        self._shelf = Shelf(place, policy, room)
        self._lock = Lock()
        self._keeps = (_cores() if cores is None else cores) <= FEW_CORES
        self._tidied: Snapshot | None = None
        self._filtered: dict[str, tuple[Snapshot, tuple[str, ...]]] = {}

    @cached_property
    def binary(self) -> str | None:
        """The `rg` that is used, or None for the pure engine."""
        if self._wish == PURE:
            return None
        from context_pack_adapters.search.ripgrep_process import find_binary

        return find_binary(os.environ.get("PATH", "") if self._search_path is None else self._search_path)

    @property
    def engine(self) -> str:
        """Which engine answers: `rg` or `pure`."""
        return PURE if self.binary is None else RIPGREP

    def search(self, query: Query, call: Call) -> Found:
        """The lines that match.

        Raises:
            Failure: `invalid_data` for a pattern or glob that means nothing, `timed_out` after three seconds.
            Cancelled: the caller has withdrawn the call.
        """
        pattern = compiled(query.pattern, query.case_sensitive)
        wanted = None if query.glob is None else wanted_by(query.glob)
        try:
            return in_time(
                lambda deadline: self._found(query, pattern, wanted, deadline), self._seconds, call
            )
        except TimedOut:
            hint = "search fewer files with filePattern, or write a simpler pattern"
            raise Failure(Code.TIMED_OUT, TIMED_OUT, {"pattern": query.pattern, "hint": hint}) from None

    def _found(self, query: Query, pattern: Pattern, wanted: Wanted | None, deadline: Deadline) -> Found:
        from context_pack_adapters.search import regex_walk

        snapshot = self._snapshot(deadline)
        paths = (
            snapshot.paths if wanted is None else self._chosen(snapshot, query.glob or "", wanted, deadline)
        )
        if pattern.ripgrep is not None and self.binary is not None and not self._at_hand(pattern, paths):
            from context_pack_adapters.search.ripgrep import RipgrepSearch
            from context_pack_adapters.search.ripgrep_places import Unusable

            try:
                return RipgrepSearch(
                    self.binary,
                    self._shelf,
                    snapshot,
                    pattern,
                    pattern.ripgrep,
                    query.limit,
                    deadline,
                    self._keeps,
                ).search(paths)
            except Unusable:
                deadline.left()
        return regex_walk.search(self._shelf, paths, pattern, query.limit, deadline)

    def _at_hand(self, pattern: Pattern, paths: tuple[str, ...]) -> bool:
        """Whether the pattern begins with a plain text that can be looked for in memory, without an `rg`."""
        lead = "" if pattern.lead is None else pattern.lead.text
        easy = self._keeps and len(lead) >= EASY_LEAD and pattern.cost is not Cost.UNKNOWN
        return easy and self._shelf.roll(paths).is_held

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


def _cores() -> int:
    """How many processors we may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
