"""What a snippet is: a range of lines with a name. Ranges of one file never overlap."""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen


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
