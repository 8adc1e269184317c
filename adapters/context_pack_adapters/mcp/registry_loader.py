"""Loads the registry and its fixed lists, once, when they are first needed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from context_pack.kernel.errors import Failure
from context_pack_adapters.mcp.catalog import FixedLists, describe_registry
from context_pack_adapters.mcp.jsonrpc import INTERNAL_ERROR
from context_pack_adapters.mcp.wire import ProtocolError

if TYPE_CHECKING:
    from context_pack.toolkit.registry import Registry


class RegistryLoader:
    """Loads on demand; a failed load is tried again by the next caller."""

    def __init__(
        self, load: Callable[[], Registry], page_size: int | None, warm_up: Callable[[], None]
    ) -> None:
        self._load, self.page_size, self._warm_up = load, page_size, warm_up
        self._lock = threading.Lock()
        self._loaded: tuple[Registry, FixedLists] | None = None
        self._is_cold = True

    def registry(self) -> Registry:
        """The registry; the first call takes as long as the tools take to load.

        Raises:
            ProtocolError: the storage cannot be used, in the words of whoever found it so.
        """
        return self._both()[0]

    def lists(self) -> FixedLists:
        """The lists that cannot change; raises as `registry` does."""
        return self._both()[1]

    def warm_up(self) -> None:
        """Load in a thread, and once, what the first call of any tool would wait for."""
        if self._is_cold:
            self._is_cold = False
            threading.Thread(target=self._warm_up, name="warm-up", daemon=True).start()

    def _both(self) -> tuple[Registry, FixedLists]:
        with self._lock:
            if self._loaded is None:
                try:
                    registry = self._load()
                except Failure as failure:
                    data = {"code": failure.code.value}
                    raise ProtocolError(INTERNAL_ERROR, failure.message, data) from failure
                self._loaded = registry, FixedLists(describe_registry(registry), self.page_size)
            return self._loaded
