"""`CodeSearch` over a tree on disk; the engine is imported with the first search."""

from __future__ import annotations

import os
from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from context_pack.code.domain.search import SECONDS, FoundLines, LineQuery
from context_pack.kernel.paths import PathPolicy
from context_pack.toolkit.call import Call

if TYPE_CHECKING:
    from context_pack_adapters.search.tree_engine import TreeEngine

AUTO, RIPGREP, PURE = "auto", "rg", "pure"
ROOM_BYTES = 128 * 1024 * 1024
"""How many bytes of texts are kept."""


class FileTreeSearch:
    """Searches the files under `root`; safe to share between threads.

    With the engine `pure` ripgrep does not help; with `rg` and `auto` it does where there is one, which is
    looked for on `search_path` first: the process's own PATH unless given. `room` bounds what is kept.
    Folders that are our `own` are not searched.
    """

    def __init__(
        self,
        root: Path,
        policy: PathPolicy,
        engine: str = AUTO,
        search_path: str | None = None,
        seconds: float = SECONDS,
        room: int = ROOM_BYTES,
        own: Collection[Path] = (),
    ) -> None:
        self._root = os.path.abspath(root)
        self._policy = policy
        self._wish = engine
        self._search_path = search_path
        self._seconds = seconds
        self._room, self._own = room, own

    @cached_property
    def binary(self) -> str | None:
        """The `rg` that helps, or None."""
        if self._wish == PURE:
            return None
        from context_pack_adapters.search.ripgrep import find_binary

        return find_binary(os.environ.get("PATH", "") if self._search_path is None else self._search_path)

    def search(self, query: LineQuery, call: Call) -> FoundLines:
        """The lines that match."""
        from context_pack_adapters.search.deadline import in_time

        return in_time(self._engine.asked(query), query.pattern, self._seconds, call)

    @cached_property
    def _engine(self) -> TreeEngine:
        from context_pack_adapters.search.tree_engine import TreeEngine

        return TreeEngine(self._root, self._policy, lambda: self.binary, self._room, self._own)
