"""`CodeSearch` over a tree on disk: the door, which costs nothing until somebody searches.

The engine is chosen when it is first needed, and everything that searches is loaded then. Here the time of a
search is kept, from the moment when its call was received.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from context_pack.code.domain.search import SECONDS, TIMED_OUT, Found, Query
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import PathPolicy
from context_pack.toolkit.call import Call

if TYPE_CHECKING:
    from context_pack_adapters.search.tree_engine import TreeEngine

AUTO, RIPGREP, PURE = "auto", "rg", "pure"
ENGINES = (AUTO, RIPGREP, PURE)
ROOM_BYTES = 128 * 1024 * 1024
"""How many bytes of texts are kept."""
SORTS_FROM = 100
"""From so many unknown files on `rg` tells which are plain; fewer are read before it has started."""


class TreeSearch:
    """Searches the files under `root`; safe to share between threads.

    `engine` is `rg`, `pure`, or `auto` for ripgrep where there is one; without one, `rg` is `pure` too.
    `search_path` is where an `rg` is looked for first: the process's own PATH unless given. `room` and
    `sorts_from` bound what is kept and what is read.
    """

    def __init__(
        self,
        root: Path,
        policy: PathPolicy,
        engine: str = AUTO,
        search_path: str | None = None,
        seconds: float = SECONDS,
        room: int = ROOM_BYTES,
        sorts_from: int = SORTS_FROM,
    ) -> None:
        self._place = os.path.abspath(root)
        self._policy = policy
        self._wish = engine
        self._search_path = search_path
        self._seconds = seconds
        self._room = room
        self._sorts_from = sorts_from
        self._lock = Lock()
        self._made: TreeEngine | None = None

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
        from context_pack_adapters.search.deadline import TimedOut, in_time

        work = self._engine().asked(query)
        try:
            return in_time(work, self._seconds, call)
        except TimedOut:
            hint = "search fewer files with filePattern, or write a simpler pattern"
            raise Failure(Code.TIMED_OUT, TIMED_OUT, {"pattern": query.pattern, "hint": hint}) from None

    def _engine(self) -> TreeEngine:
        if self._made is None:
            with self._lock:
                if self._made is None:
                    from context_pack_adapters.search.tree_engine import TreeEngine

                    self._made = TreeEngine(
                        self._place, self._policy, lambda: self.binary, self._room, self._sorts_from
                    )
        return self._made
