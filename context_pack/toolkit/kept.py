"""Answers that are given again while what they say is the same: spelling out a long one takes time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Generic, TypeVar

from context_pack.kernel.classes import define, evolve, field
from context_pack.toolkit.spec import Answer, json_answer

F = TypeVar("F")


@define
class KeptAnswers(Generic[F]):
    """The last answers of a tool by its command, each with what it was made of by `body`.

    A file of 50 KiB takes 0.33 ms, where 1 ms is allowed (benches/side_by_side/read_file.py), and 3 ms when
    its tokens have to be counted; a list of 2,000 contexts takes a sixth less (before_after.py there).
    Bounded in number and size; threads share it without a lock, at worst an answer is made once more.
    """

    body: Callable[[F], Mapping[str, Any]]
    most: int
    chars: int
    _kept: OrderedDict[Hashable, tuple[F, Answer]] = field(factory=OrderedDict, init=False)

    def of(self, command: Hashable, found: F, make: Callable[[], Answer] | None = None) -> Answer:
        """The answer that says what was found; `make` makes it where it takes more than `body`."""
        kept = self._kept.get(command)
        if kept is not None and kept[0] == found:
            return kept[1]
        answer = json_answer(self.body(found)) if make is None else make()
        if len(answer.text) <= self.chars:
            answer = evolve(answer, kept=True)
            self._kept.pop(command, None)
            self._kept[command] = (found, answer)
            if len(self._kept) > self.most:
                self._kept.popitem(last=False)
        return answer
