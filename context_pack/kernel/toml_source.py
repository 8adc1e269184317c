"""TOML by the standard library's parser, guarded against inputs that take it quadratic time."""

from __future__ import annotations

import tomllib
from typing import Any

MOST_DOTS = 500


def toml_of(text: str) -> dict[str, Any]:
    """The tables of a text.

    Raises:
        ValueError: it is no TOML, or too much for the parser: nested too deep, or a key of too many parts.
    """
    if any(line.count(".") > MOST_DOTS for line in text.split("\n")):
        raise ValueError("a key of too many parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None
