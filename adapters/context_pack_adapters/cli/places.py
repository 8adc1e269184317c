"""Places that people write on a command line: files of the project, and lines or definitions in them."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from context_pack_adapters.settings import working_directory

_PLACE = re.compile(r"(?P<path>.+?)(?::(?P<start>\d{1,18})(?:-(?P<end>\d{1,18}))?|#(?P<symbol>.+))", re.ASCII)


class WrittenPlace(NamedTuple):
    """A file, and lines or a definition of it; with neither, the whole file. No path is any file."""

    path: str
    start: int | None = None
    end: int | None = None
    symbol: str | None = None

    def __str__(self) -> str:
        if self.symbol is not None:
            return f"{self.path}#{self.symbol}".lstrip("#")
        lines = f"{self.start}" if self.start == self.end else f"{self.start}-{self.end}"
        return self.path if self.start is None else f"{self.path}:{lines}"


def place_of(written: str, source_root: str) -> WrittenPlace:
    """The place that `FILE`, `FILE:10-40`, `FILE:10` or `FILE#Class.method` means."""
    found = _PLACE.fullmatch(written)
    if found is None or os.path.lexists(os.path.join(source_root, written)):
        return WrittenPlace(in_project(written, source_root))
    start = None if found["start"] is None else int(found["start"])
    end = start if found["end"] is None else int(found["end"])
    return WrittenPlace(in_project(found["path"], source_root), start, end, found["symbol"])


def in_project(path: str, source_root: str) -> str:
    """A path from the source root, as tools take it.

    A path is meant from the source root; from the working directory if it is absolute, begins with `./` or
    `../`, or is only there. What leads out of the source root stays as it is written, for the tool to refuse.
    """
    meant_here = os.path.isabs(path) or path.split("/")[0] in {".", ".."}
    if not meant_here and os.path.lexists(os.path.join(source_root, path)):
        return path
    here = os.path.normpath(os.path.join(working_directory(), path))
    if here == source_root:
        return "."
    below = os.path.join(source_root, "")
    if not here.startswith(below) or not (meant_here or os.path.lexists(here)):
        return path
    return here.removeprefix(below)
