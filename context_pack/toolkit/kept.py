"""Small caches: recent values by key, and answers by what they were made of."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Generic, TypeVar

from attrs import define, evolve, field

from context_pack.toolkit.spec import Answer, json_answer

F = TypeVar("F")
V = TypeVar("V")


@define
class RecentValues(Generic[V]):
    """The last values by what was asked; threads share it without a lock, at worst one is made once more."""

    most: int
    _kept: OrderedDict[Hashable, V] = field(factory=OrderedDict, init=False)

    def get(self, asked: Hashable) -> V | None:
        """The value that was kept."""
        return self._kept.get(asked)

    def keep(self, asked: Hashable, value: V) -> V:
        """Keep a value as the newest, and only so many."""
        self._kept.pop(asked, None)
        self._kept[asked] = value
        if len(self._kept) > self.most:
            self._kept.popitem(last=False)
        return value


@define
class KeptAnswers(Generic[F]):
    """The last answers of a tool by its command, each with what it was made of by `body`.

    A file of 50 KiB takes 0.33 ms, where 1 ms is allowed (benches/side_by_side/read_file.py), and 3 ms when
    its tokens have to be counted; a list of 2,000 contexts takes a sixth less (before_after.py there).
    """

    body: Callable[[F], Mapping[str, Any]]
    last: RecentValues[tuple[F, Answer]] = field(converter=RecentValues)
    chars: int

    def of(self, command: Hashable, found: F, make: Callable[[], Answer] | None = None) -> Answer:
        """The answer that says what was found; `make` makes it where it takes more than `body`."""
        kept = self.last.get(command)
        if kept is not None and kept[0] == found:
            return kept[1]
        answer = json_answer(self.body(found)) if make is None else make()
        if len(answer.text) <= self.chars:
            return self.last.keep(command, (found, evolve(answer, kept=True)))[1]
        return answer
