"""What several features ask of the world: the time, randomness, and the files under the source root.

A text file is UTF-8 without a NUL near its start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from difflib import get_close_matches
from enum import StrEnum
from typing import Protocol

from attrs import frozen

from context_pack.kernel.paths import RelativePath
from context_pack.kernel.text import MOST_NEAR, close

SNIFFED_BYTES = 8192


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """The current instant, aware, in UTC."""

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""


IdSource = Callable[[int], bytes]
"""Gives so many unpredictable bytes, as `os.urandom` does."""


class Reason(StrEnum):
    """Why a path of the source tree cannot be read; it never depends on what lies outside the root."""

    MISSING = "missing"
    OUTSIDE = "outside"
    DENIED = "denied"
    NOT_A_FILE = "not_a_file"
    TOO_LARGE = "too_large"
    BINARY = "binary"
    NOT_UTF8 = "not_utf8"
    IO = "io"


@frozen
class SourceFile:
    """One text file as it was read: `text` has no BOM and keeps its line endings."""

    path: RelativePath
    text: str
    size: int
    modified_ns: int


@frozen
class Unreadable:
    """A path that cannot be read, and why; a value, never an exception."""

    path: RelativePath
    reason: Reason


@frozen
class FileNames:
    """The files of a tree by their base names; `complete` when the walk saw all of them."""

    paths: Mapping[str, Sequence[str]]
    complete: bool

    def named(self, name: str) -> tuple[RelativePath, ...]:
        """The files with that base name, in path order."""
        return tuple(map(RelativePath, self.paths.get(name, ())))


class SourceTree(Protocol):
    """The files under the source root, behind the path policy; nothing outside it can be reached."""

    def read(self, path: RelativePath, max_bytes: int) -> SourceFile | Unreadable:
        """The text of one file, checked on the opened file itself."""

    def names(self, go_on: Callable[[], bool] | None = None, /) -> FileNames:
        """Where files of each name are, from one walk; ignored and denied ones are left out.

        It lasts while `go_on` says so; without it, for a second at most.
        """

    def is_file(self, path: RelativePath) -> bool:
        """Whether there is a regular file inside the root that the policy allows; cheaper than reading it."""

    def is_folder(self, path: RelativePath) -> bool:
        """Whether there is a folder inside the root that the policy allows."""


class KnownNear(Protocol):
    """Tells what is known of lines of a file, for answers about them to carry along: a few sentences."""

    def __call__(
        self, path: str, first: float, last: float, check: Callable[[], None], /
    ) -> Sequence[str]: ...


def decode(data: bytes) -> str | Reason:
    """The text without its byte order mark, or the reason why it is not one."""
    if data.find(b"\0", 0, SNIFFED_BYTES) >= 0:
        return Reason.BINARY
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        return Reason.NOT_UTF8


def near_paths(path: RelativePath, names: FileNames) -> list[str]:
    """Files of that name, else of names like it, those in its folder first.

    They must be alike without their ends, too: `gone.py` is not nearly `conf.py`.
    """
    called = [path.name]
    if path.name not in names.paths:
        stem = path.name.partition(".")[0]
        near = close(path.name, names.paths)
        called = [name for name in near if get_close_matches(stem, [name.partition(".")[0]])]
    paths = [str(each) for name in called for each in names.named(name)]
    folder = path.value.rpartition("/")[0]
    return sorted(paths, key=lambda each: each.rpartition("/")[0] != folder)[:MOST_NEAR]
