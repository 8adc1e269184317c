"""How much work the schemas of a bundle may cause, counted in steps.

A schema is a foreign file, and a small one can ask for endless work: it can refer to itself, nest what
doubles with each level, or compare everything with everything. So every visit of a subschema costs as many
steps as it has keywords and members (`COST`, put into each subschema before it is used), and more for large
values. One value may cost so many, all of a load together so many more; then checking ends, and that is told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

COST = "x-context-pack-cost"
"""A keyword of our own: what a visit of the subschema that it stands in costs."""
MOST_STEPS = 600_000
"""For one value: about a second."""
MOST_FOR_SCHEMA = 2_000_000
"""For a schema, which is checked by the standard's own: some two hundred for each subschema."""
MOST_IN_ALL = 4_000_000
"""For everything that is checked in one go."""
CHECK_EVERY = 2_000
"""Steps between two checks for cancellation."""
_VALUES_PER_STEP = 16
_CHARS_PER_STEP = 64


class TooCostly(Exception):
    """The step budget of a load is used up."""


def is_too_deep(error: BaseException) -> bool:
    """Whether a check ended because it went too deep.

    The compiled part of jsonschema's library panics where Python raises RecursionError inside it, and what it
    raises then is no Exception.
    """
    return isinstance(error, RecursionError) or type(error).__name__ == "PanicException"


class Steps:
    """Counts the steps of one load; safe for one thread at a time."""

    def __init__(self) -> None:
        self._most = MOST_STEPS
        self._check: Callable[[], None] = lambda: None
        self._value = self._total = self._asked = 0
        self._sizes: dict[int, int] = {}
        self.interrupted: BaseException | None = None
        """The exception of `check`, kept because library code may swallow it."""

    def begin(self, check: Callable[[], None] = lambda: None) -> None:
        """Begin a new load; `check` raises when the call was cancelled."""
        self._check = check
        self._value = self._total = self._asked = 0

    def begin_value(self, value: Any = None, most: int = MOST_STEPS) -> None:
        """Begin with a new value, with its own budget of steps."""
        self._value, self._most = 0, most
        self._sizes = {}
        _measure(value, self._sizes)

    def take(self, count: int) -> None:
        """Count steps; raise once the budget is used up.

        Raises:
            TooCostly: they are too many.
        """
        self._value += count
        self._total += count
        if self._value > self._most or self._total > MOST_IN_ALL:
            raise TooCostly
        if self._total - self._asked >= CHECK_EVERY:
            self._asked = self._total
            try:
                self._check()
            except BaseException as raised:
                self.interrupted = raised
                raise

    def visit(self, cost: int, value: Any) -> None:
        """Count one check of a value by a subschema of that cost; large values cost more."""
        self.take(cost + cost * self.size(value) // _VALUES_PER_STEP)

    def text(self, text: str) -> None:
        """Count making or comparing a text."""
        self.take(1 + len(text) // _CHARS_PER_STEP)

    def size(self, value: Any) -> int:
        """How many values there are in a value."""
        if isinstance(value, str):
            return len(value) // _CHARS_PER_STEP
        return self._sizes.get(id(value), 0)


def cost_of(schema: Mapping[str, Any]) -> int:
    """What a visit of a subschema costs: its keywords, and what they list."""
    return 1 + sum(1 + (len(part) if isinstance(part, (Mapping, list)) else 0) for part in schema.values())


def _measure(value: Any, sizes: dict[int, int]) -> int:
    """The number of values in a value, and by identity that of each list and mapping in it."""
    if not isinstance(value, (Mapping, list)):
        return 1
    known = sizes.get(id(value))
    if known is None:
        inner = value.values() if isinstance(value, Mapping) else value
        known = sizes[id(value)] = 1 + sum(_measure(one, sizes) for one in inner)
    return known
