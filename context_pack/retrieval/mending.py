"""Asking once more where the index showed damage: by then an empty one has taken its place.

Everything in an index is made from sources, so whoever asks again has it built anew on the way. What is asked
here only reads: asking twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from context_pack.kernel.errors import Failure

DAMAGED = "damaged"
"""The `reason` in the details of a failure by which an index says so."""

T = TypeVar("T")


def mended(ask: Callable[[], T]) -> T:
    """What is answered, the second time if the index was damaged at first."""
    try:
        return ask()
    except Failure as failure:
        if failure.details.get("reason") != DAMAGED:
            raise
    return ask()
