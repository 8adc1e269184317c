"""What a snippet is: a range of lines with a name. Ranges of one file never overlap."""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

LONGEST_PREFIX = 500
"""Classes in classes without end would make names without end: a longer prefix does not grow any more."""


class Part(StrEnum):
    """What a snippet holds: a function, the head of a class, or other lines of a file."""

    FUNCTION = "function"
    CLASS = "class"
    FILE = "file"


@frozen
class Snippet:
    """Lines `start` to `end` of a file, counted from 1, both included; `name` is qualified by dots."""

    part: Part
    name: str
    start: int
    end: int


def prefix_inside(prefix: str, name: str) -> str:
    """What stands before the names in a class of that name, given what stands before its own."""
    longer = f"{prefix}{name}."
    return longer if len(longer) <= LONGEST_PREFIX else prefix
