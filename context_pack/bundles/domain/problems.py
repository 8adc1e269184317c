"""Validation errors in words: a place (`$.steps[2].actorId`) and a demand, worded as for arguments.

The words name fields and rules, never the values of a file, and come out the same in every process.
"""

from __future__ import annotations

from typing import Any

from context_pack.bundles.domain.steps import COST
from context_pack.kernel.text import single_line
from context_pack.toolkit.schema_errors import clipped as clipped
from context_pack.toolkit.schema_errors import demand

FORBIDDEN: dict[str, Any] = {"not": {}}
"""A schema that no value fits."""
_SHOWN = 120


def problem_words(error: Any) -> str:
    """An error as a place and a demand; those of our rules about fields hold the field's name."""
    place = "$" + "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path
    )
    rule, value = error.validator, error.validator_value
    if rule == "required" and isinstance(error.message, str) and error.message in (value or ()):
        return _shown(f"{place}.{error.message} is required")
    if rule == "additionalProperties":
        return _shown(f"{place}.{error.message} is not a field that the schema has")
    if rule == "not" and isinstance(value, dict) and value.keys() <= {COST}:
        return _shown(f"{place} is not allowed")
    return _shown(f"{place} {demand(error)}")


def _shown(words: str) -> str:
    """One line of bounded length."""
    line = single_line(words)
    return line if len(line) <= 4 * _SHOWN else line[: 4 * _SHOWN - 1] + "…"
