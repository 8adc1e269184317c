"""A mapping whose values are made on first use, by groups of names.

Threads share it without a lock: at worst something is made twice, and one of the two is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Generic, Protocol, TypeVar


class HasName(Protocol):
    """An object with a name."""

    @property
    def name(self) -> str:
        """The name that it is asked for by."""


N = TypeVar("N", bound=HasName)


class LazyMapping(Mapping[str, N], Generic[N]):
    """Things by name; those of one group are made together, when one of them is first asked for."""

    def __init__(self, groups: Sequence[tuple[Sequence[str], Callable[[], Sequence[N]]]]) -> None:
        self._makers = {name: make for names, make in groups for name in names}
        self._made: dict[str, N] = {}

    def __getitem__(self, name: str) -> N:
        found = self._made.get(name)
        if found is None:
            for each in self._makers[name]():
                self._made.setdefault(each.name, each)
            found = self._made[name]
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)
