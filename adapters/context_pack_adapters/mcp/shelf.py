"""The registry and its lists, made by whoever needs them first; making them is slow and happens once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from context_pack_adapters.mcp.catalog import Catalog

if TYPE_CHECKING:
    from context_pack.toolkit.registry import Registry


class Shelf:
    """Loads on demand; a load that failed is tried again by the next one who asks."""

    def __init__(self, load: Callable[[], Registry], page_size: int | None) -> None:
        self._load = load
        self._page_size = page_size
        self._lock = threading.Lock()
        self.loaded: Registry | None = None
        self.lists: Catalog | None = None
        """The lists, once the registry is loaded."""

    def registry(self) -> Registry:
        """The registry; the first call may take long."""
        if self.loaded is None:
            with self._lock:
                if self.loaded is None:
                    registry = self._load()
                    self.lists = Catalog(registry, self._page_size)
                    self.loaded = registry
        return self.loaded

    def catalog(self) -> Catalog:
        """The lists; the first call may take long."""
        if self.lists is None:
            self.registry()
        assert self.lists is not None
        return self.lists
