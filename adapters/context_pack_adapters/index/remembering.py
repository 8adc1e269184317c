"""A cache of values computed from one state of an index, valid while nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class StateCache(Generic[K, V]):
    """Values by key, as of one state; a reader of another state begins anew. Safe for threads."""

    def __init__(self, room: int, weigh: Callable[[V], int] = lambda _: 1) -> None:
        self._lock = Lock()
        self._room = self._left = room
        self._weigh = weigh
        self._state: object = None
        self._values: dict[K, V] = {}

    def one(self, state: object, key: K, make: Callable[[], V]) -> V:
        """The value of a key in this state, made if it is not kept."""
        return self.several(state, (key,), lambda _: {key: make()})[key]

    def several(
        self, state: object, keys: Collection[K], make: Callable[[list[K]], Mapping[K, V]]
    ) -> Mapping[K, V]:
        """The values of these keys in this state, and more; `make` is asked for those that are not kept."""
        with self._lock:
            values = self._values if self._state == state else {}
        missing = [key for key in keys if key not in values]
        if not missing:
            return values
        made = make(missing)
        weight = sum(map(self._weigh, made.values()))
        with self._lock:
            if self._state != state or weight > self._left:
                self._state, self._values, self._left = state, {}, self._room
            if weight <= self._left:
                # Others may be reading what was kept so far.
                self._values |= made
                self._left -= weight
        return {**{key: values[key] for key in keys if key in values}, **made}
