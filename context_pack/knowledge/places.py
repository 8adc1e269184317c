"""Places that a text names: the lines that a diff touches on both sides, and the frames of a stack trace.

A diff is what `git diff` prints. A frame is a file and a line in the words of whoever printed it (Python,
JavaScript, Go, Rust, Java, test runners); which file of the project is meant is for `project_path` to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from attrs import frozen

from context_pack.kernel.text import LineRange

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
NO_FILE = "/dev/null"


@frozen
class Hunk:
    """One changed place: lines of the old text became lines of the new one.

    Either side may have no lines: then `start` is the line before the place, as git counts.
    """

    old_start: int
    old_count: int
    new_start: int
    new_count: int

    def touches_old(self, lines: LineRange) -> bool:
        """Whether lines of the old text were changed, or something was put between two of them."""
        return _touches(self.old_start, self.old_count, lines)

    def touches_new(self, lines: LineRange) -> bool:
        """Whether lines of the new text are changed ones, or something was taken from between two of them."""
        return _touches(self.new_start, self.new_count, lines)


@frozen
class ChangedFile:
    """A file of a diff; a path is None where the file is new or gone."""

    old: str | None
    new: str | None
    hunks: Sequence[Hunk]

    @property
    def paths(self) -> frozenset[str]:
        """The file's paths, before and after."""
        return frozenset(path for path in (self.old, self.new) if path is not None)

    def leads(self, old: LineRange, new: LineRange) -> bool:
        """Whether lines of the old text are some of these lines of the new one, moved by what came before."""
        above = [each for each in self.hunks if each.old_start + max(each.old_count, 1) <= old.start]
        offset = sum(each.new_count - each.old_count for each in above)
        return old.start + offset <= new.end and new.start <= old.end + offset


def _touches(start: int, count: int, lines: LineRange) -> bool:
    if count == 0:  # between the lines `start` and `start + 1`
        return lines.start <= start < lines.end
    return start <= lines.end and lines.start <= start + count - 1


def looks_like_diff(text: str) -> bool:
    """Whether a text is a diff and not the name of a revision."""
    return "\n" in text.strip() and _HUNK.search(text) is not None


def parse_diff(text: str) -> list[ChangedFile]:
    """The files of a unified diff, in its order; what is no part of one is passed over."""
    return list(_files(text.split("\n")))


def _files(lines: Sequence[str]) -> Iterator[ChangedFile]:
    old = new = None
    hunks: list[Hunk] = []
    is_open = False
    left_old = left_new = 0  # how many lines of the hunk are still to come: they may look like headers
    for line in lines:
        if left_old > 0 or left_new > 0:
            left_old -= line[:1] in (" ", "-", "")
            left_new -= line[:1] in (" ", "+", "")
            continue
        if line.startswith("diff --git "):
            if is_open:
                yield ChangedFile(old, new, tuple(hunks))
            old, new = _both(line.removeprefix("diff --git "))
            hunks, is_open = [], True
        elif line.startswith("--- "):
            if hunks:  # a plain diff has no line for each file
                yield ChangedFile(old, new, tuple(hunks))
                hunks = []
            old, is_open = _path(line[4:], "a/"), True
        elif line.startswith("+++ "):
            new = _path(line[4:], "b/")
        elif line.startswith("rename from "):
            old = _unquoted(line.removeprefix("rename from "))
        elif line.startswith("rename to "):
            new = _unquoted(line.removeprefix("rename to "))
        elif line.startswith("new file mode"):
            old = None
        elif line.startswith("deleted file mode"):
            new = None
        elif (head := _HUNK.match(line)) is not None:
            counts = [1 if number is None else int(number) for number in head.groups()]
            hunks.append(Hunk(*counts))
            left_old, left_new = counts[1], counts[3]
    if is_open:
        yield ChangedFile(old, new, tuple(hunks))


def _both(header: str) -> tuple[str | None, str | None]:
    """The paths of a header, whose halves are alike where nothing was renamed."""
    half = len(header) // 2
    return _path(header[:half], "a/"), _path(header[half + 1 :], "b/")


def _path(written: str, prefix: str) -> str | None:
    name = _unquoted(written.split("\t")[0].rstrip("\r"))
    return None if name == NO_FILE else name.removeprefix(prefix)


def _unquoted(written: str) -> str:
    """A path as git writes it: in quotes, with escapes for bytes of UTF-8, where it has odd letters."""
    if len(written) < 2 or not (written.startswith('"') and written.endswith('"')):
        return written
    text = written[1:-1].encode().decode("unicode_escape", "replace")
    return text.encode("latin-1", "replace").decode("utf-8", "replace")


MOST_FRAMES = 50
_PYTHON = re.compile(r'^\s*File "(?P<file>[^"\n]+)", line (?P<line>\d+)')
_JAVA = re.compile(r"^\s*at (?:[\w.]+/)?(?P<class>[\w.$]+)\.[\w$<>]+\((?P<file>[\w.$-]+):(?P<line>\d+)\)")
_PLACE = re.compile(
    r"(?:^|[\s(\['\"])(?:file://)?(?P<file>(?:[A-Za-z]:)?[\w@./\\+-]+\.[A-Za-z]\w{0,6}):(?P<line>[1-9]\d{0,6})\b"
)
"""A file and a line anywhere in a line: JavaScript, Go, Rust, test runners, panics, compilers."""
_DRIVE = re.compile(r"^[A-Za-z]:")


@frozen
class Frame:
    """One place of a trace, as it was printed."""

    file: str
    line: int


def frames(text: str) -> list[Frame]:
    """The places of a trace in its order, each once."""
    every = dict.fromkeys(frame for line in text.splitlines() for frame in _frames(line))
    return list(every)[:MOST_FRAMES]


def _frames(line: str) -> Iterator[Frame]:
    if (java := _JAVA.match(line)) is not None:
        # The package says which of several files of that name is meant.
        package = java["class"].replace(".", "/").rpartition("/")[0]
        yield Frame(f"{package}/{java['file']}" if package else java["file"], int(java["line"]))
    elif (python := _PYTHON.match(line)) is not None:
        yield Frame(python["file"], int(python["line"]))
    else:
        for place in _PLACE.finditer(line):
            yield Frame(place["file"], int(place["line"]))


def project_path(file: str, is_file: Callable[[str], bool]) -> str | None:
    """The file of the project that a frame means: the longest end of its path that is one."""
    parts = [part for part in _DRIVE.sub("", file).replace("\\", "/").split("/") if part not in ("", ".")]
    for start in range(len(parts)):
        path = "/".join(parts[start:])
        if ".." not in parts[start:] and is_file(path):
            return path
    return None
