"""The registry and its lists, made once, by the first thread that needs them.

A server that knows beforehand what its lists will be answers with those: a client lists the tools as soon as
it has said hello, and calls one much later.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from context_pack.kernel.errors import Failure
from context_pack_adapters.mcp.catalog import FixedLists, Item, described
from context_pack_adapters.mcp.jsonrpc import INTERNAL_ERROR
from context_pack_adapters.mcp.wire import Refusal

if TYPE_CHECKING:
    from context_pack.toolkit.registry import Registry

Published = Callable[[], Mapping[str, Sequence[Item]] | None]
"""Gives the lists of a registry that need not be loaded for it; None where they are not known."""


class OnDemand:
    """Loads on demand; a failed load is retried by the next caller."""

    def __init__(self, load: Callable[[], Registry], page_size: int | None, published: Published) -> None:
        self._load = load
        self._published = published
        self._lock = threading.Lock()
        self._unprepared = threading.Semaphore(1)
        self.page_size = page_size
        self.loaded: Registry | None = None
        self.tried = False
        """Whether loading was finished once, successfully or not."""
        self.lists: FixedLists | None = None
        """The lists that cannot change, once one was asked for."""

    def registry(self) -> Registry:
        """The registry; the first call may take long.

        Raises:
            Refusal: the storage cannot be used, in the words of whoever found it so.
        """
        if self.loaded is None:
            with self._lock:
                if self.loaded is None:
                    try:
                        self.loaded = self._load()
                    except Failure as failure:
                        raise Refusal(
                            INTERNAL_ERROR, failure.message, {"code": failure.code.value}
                        ) from failure
                    finally:
                        self.tried = True
        return self.loaded

    def fixed(self) -> FixedLists:
        """The lists that cannot change; the first call may take long if they are not published."""
        if self.lists is None:
            self.lists = FixedLists(self._published() or described(self.registry()), self.page_size)
        return self.lists

    def prepare(self) -> None:
        """Preload, in a thread and once, what the first call of any tool would wait for."""
        if self._unprepared.acquire(blocking=False):
            threading.Thread(target=self._warm, name="tools", daemon=True).start()

    def _warm(self) -> None:
        with suppress(Exception):  # the first call meets the same trouble, and tells it
            self.registry()
