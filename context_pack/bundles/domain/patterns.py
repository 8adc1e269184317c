"""Regular expressions of a schema, matched with a time limit.

A schema's patterns are ECMAScript and foreign: they may be wrong, and they may be of the kind that takes
longer than the universe lasts. Each is compiled once with `regex`, which can stop: a search is given a
moment, then longer, each time for more steps; one that takes longer than `PATIENCE` is given up, and the
pattern is not used again. So what patterns cost is part of what a schema may cost (`steps`).
"""

from __future__ import annotations

import re
from typing import Any

from attrs import define, field

from context_pack.bundles.domain.steps import Steps
from context_pack.kernel.errors import Failure
from context_pack.kernel.pattern_size import check_pattern_size

PATIENCE = 0.2
"""The time limit of one search, in seconds."""
LONGEST = 5_000
"""Characters; a longer pattern is not compiled."""
_STEPS_PER_CHAR = 10
_TRIES = ((0.0002, 40), (0.002, 1_000), (0.02, 10_000), (PATIENCE, 100_000))
"""Seconds that a search may take, and the steps that these cost."""
_SLOW_FLAGS = re.compile(r"\(\?[a-zA-Z]*[fe]")
"""Inline flags that ECMAScript does not have, and that make `regex` slow."""
_PLACES = re.compile(r"\\.|\[(?:[^\]\\]|\\.)*+\]?+|\$", re.DOTALL)
"""A `$`, and what holds none that means the end: an escape, a set."""


@define
class Patterns:
    """The patterns of one schema, compiled when they are first needed.

    `faulty` are those that are no patterns, `spent` those that took too long.
    """

    steps: Steps = field(factory=Steps)
    faulty: dict[str, str] = field(factory=dict)
    spent: dict[str, None] = field(factory=dict)
    _compiled: dict[str, Any] = field(factory=dict)

    def found(self, pattern: str, text: str) -> bool | None:
        """Whether the pattern is found in the text; None if that cannot be said."""
        compiled = self.compiled(pattern)
        if compiled is None or pattern in self.spent:
            return None
        for seconds, cost in _TRIES:
            self.steps.take(cost)
            try:
                return compiled.search(text, timeout=seconds) is not None
            except TimeoutError:
                continue
        self.spent[pattern] = None
        return None

    def compiled(self, pattern: str) -> Any:
        """The compiled pattern; None for a text that is none, with the reason in `faulty`."""
        if pattern not in self._compiled:
            self._compiled[pattern] = self._compile(pattern)
        return self._compiled[pattern]

    def _compile(self, pattern: str) -> Any:
        import regex

        if len(pattern) > LONGEST:
            self.faulty[pattern] = f"longer than {LONGEST} characters"
            return None
        if _SLOW_FLAGS.search(pattern):
            self.faulty[pattern] = "flags in a pattern are not supported"
            return None
        self.steps.take(_STEPS_PER_CHAR * len(pattern))
        try:
            check_pattern_size(pattern)
            return regex.compile(_ended(pattern))
        except Failure as failure:
            self.faulty[pattern] = failure.message
        except (regex.error, OverflowError, ValueError) as error:
            self.faulty[pattern] = str(error).partition("\n")[0][:200]
        except RecursionError:
            self.faulty[pattern] = "nested too deep"
        return None


def _ended(pattern: str) -> str:
    """The pattern with `$` as ECMAScript means it: the very end, not the place before a last line break."""
    return _PLACES.sub(lambda found: r"\Z" if found[0] == "$" else found[0], pattern)
