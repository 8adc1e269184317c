"""The frames of a stack trace or a failing test: Python, JavaScript, Go, Rust, Java and their like.

A frame is a file, a line and perhaps a function, in the words of whoever printed it; which file of the
project is meant is for `project_path` to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from attrs import frozen

MOST_FRAMES = 50
_PYTHON = re.compile(r'^\s*File "(?P<file>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<name>\S+))?')
_JAVA = re.compile(
    r"^\s*at (?:[\w.]+/)?(?P<class>[\w.$]+)\.(?P<name>[\w$<>]+)\((?P<file>[\w.$-]+):(?P<line>\d+)\)"
)
_SCRIPT = re.compile(
    r"^\s*at (?:async )?(?:(?P<name>[^\s(]+)(?: \[as [^\]]+\])? \()?"
    r"(?:file://)?(?P<file>[^()\s]+?):(?P<line>\d+):\d+\)?"
)
_RUST = re.compile(r"^\s*at (?P<file>[^\s:]+\.rs):(?P<line>\d+)(?::\d+)?")
_GO = re.compile(r"^\s+(?P<file>[^\s:]+\.(?:go|s)):(?P<line>\d+)(?: \+0x[0-9a-f]+)?\s*$")
_PLACE = re.compile(r"(?:^|[\s(\['\"])(?P<file>[\w@./\\+-]+\.[A-Za-z]\w{0,6}):(?P<line>[1-9]\d{0,6})\b")
"""A file and a line anywhere in a line: assertions of test runners, panics, compilers."""
_DRIVE = re.compile(r"^[A-Za-z]:")


@frozen
class Frame:
    """One place of a trace, as it was printed."""

    file: str
    line: int
    name: str | None = None


def frames(text: str) -> list[Frame]:
    """The places of a trace in its order, each once."""
    every = dict.fromkeys(frame for line in text.splitlines() for frame in _frames(line))
    return list(every)[:MOST_FRAMES]


def _frames(line: str) -> Iterator[Frame]:
    if (java := _JAVA.match(line)) is not None:
        # The package says which of several files of that name is meant.
        package = java["class"].replace(".", "/").rpartition("/")[0]
        file = f"{package}/{java['file']}" if package else java["file"]
        yield Frame(file, int(java["line"]), java["name"])
        return
    for pattern in (_PYTHON, _RUST, _SCRIPT, _GO):
        found = pattern.match(line)
        if found is not None:
            yield Frame(found["file"], int(found["line"]), found.groupdict().get("name"))
            return
    for found in _PLACE.finditer(line):
        yield Frame(found["file"], int(found["line"]))


def project_path(file: str, is_file: Callable[[str], bool]) -> str | None:
    """The file of the project that a frame means: the longest end of its path that is one."""
    parts = [part for part in _DRIVE.sub("", file).replace("\\", "/").split("/") if part not in ("", ".")]
    for start in range(len(parts)):
        path = "/".join(parts[start:])
        if ".." not in parts[start:] and is_file(path):
            return path
    return None
