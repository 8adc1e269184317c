"""The files of the source tree that memory indexes: which there are and in which state, without reading them.

What `grep_codebase` searches counts here too, but for formats that hold data and not code, and for our own
storage. A stamp is a file's state; one that may change again without a trace (the file is younger than the
clock's grain) is left empty, so that the file is looked at again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import EXCLUDED_FOLDERS, PathPolicy, RelativePath
from context_pack.kernel.ports import Reason
from context_pack.kernel.text import decode
from context_pack.memory.ports import CodeFile, FileState, GoOn, always
from context_pack_adapters.disk.ignore import walk
from context_pack_adapters.disk.rooted import Rooted
from context_pack_adapters.stores.pack_files import trusted_signature

MAX_BYTES = 1024 * 1024
LONGEST_LINE = 20_000
UNTOLD = frozenset({"", "csv", "jsonl", "diff", "gitignore", "json", "xml", "text", "mermaid"})
"""Formats whose beginning says nothing about what they hold."""
TELLING = frozenset({"package.json", "tsconfig.json", "composer.json", "manifest.json", "pom.xml"})
GENERATED = (".lock", ".min.js", ".min.css", ".map", ".snap", "-lock.json", "-lock.yaml", ".svg")
_REASONS = {
    Reason.BINARY: "not text",
    Reason.NOT_UTF8: "not UTF-8",
    Reason.TOO_LARGE: "larger than 1 MiB",
    Reason.MISSING: "gone",
}


class CodeFiles:
    """A `CodeTree` on disk; safe to share between threads."""

    def __init__(self, root: Path, policy: PathPolicy, storage: Path) -> None:
        self._root, self._policy = root, policy
        self._rooted = Rooted(root, policy)
        self._top = os.path.join(os.path.abspath(root), "")
        own = os.path.join(os.path.abspath(storage), "")
        self._own = own[len(self._top) :].replace(os.sep, "/") if own.startswith(self._top) else None

    def survey(self, go_on: GoOn = always) -> Mapping[str, FileState] | None:
        """Every file that counts, by path; None if the walk was not allowed to its end."""
        found: dict[str, FileState] = {}
        stopped = False

        def still() -> bool:
            nonlocal stopped
            stopped = stopped or not go_on()
            return not stopped

        for path in walk(self._root, self._policy, EXCLUDED_FOLDERS, still):
            if self._own and path.startswith(self._own):
                continue
            try:
                status = os.stat(self._top + path, follow_symlinks=False)
            except OSError:
                continue
            found[path] = FileState(stamp_of(status), status.st_size, skip_reason(path, status.st_size))
        return None if stopped else found

    def left_out(self) -> Mapping[str, str]:
        """What a survey does not even show, and why; a folder ends in a slash and stands for all it holds."""
        found: dict[str, str] = {}

        def passed(path: str, is_folder: bool, ignored: bool) -> None:
            if is_folder and path.rpartition("/")[2] in EXCLUDED_FOLDERS:
                reason = "a folder that is never searched"
            else:
                reason = "ignored" if ignored else "denied"
            found[path + "/" if is_folder else path] = reason

        for _ in walk(self._root, self._policy, EXCLUDED_FOLDERS, passed=passed):
            pass  # what counts is the survey's business
        return {path: why for path, why in found.items() if not (self._own and path.startswith(self._own))}

    def read(self, path: str) -> CodeFile:
        """One file."""
        before = time.time_ns()
        read = self._rooted.read(RelativePath(path), MAX_BYTES)
        if isinstance(read, Reason):
            return CodeFile("", self._stamp(path), _REASONS.get(read, "cannot be read"))
        data, status = read
        text = decode(data)
        signature = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
        stamp = stamp_of(status) if trusted_signature(signature, before) else ""
        if isinstance(text, Reason):
            return CodeFile("", stamp, _REASONS.get(text, "not text"))
        if len(text) > LONGEST_LINE and max(map(len, text.split("\n"))) > LONGEST_LINE:
            return CodeFile("", stamp, f"a line of more than {LONGEST_LINE} characters")
        return CodeFile(text, stamp)

    def _stamp(self, path: str) -> str:
        """The state of a file that cannot be read."""
        try:
            return stamp_of(os.stat(self._top + path, follow_symlinks=False))
        except OSError:
            return ""


def stamp_of(status: os.stat_result) -> str:
    """A file's state as text."""
    return f"{status.st_mtime_ns:x}.{status.st_ctime_ns:x}.{status.st_size:x}.{status.st_ino:x}"


def skip_reason(path: str, size: int) -> str | None:
    """Why a file is not indexed, from its name and size; None if it is."""
    if reason := _by_name(path.rpartition("/")[2]):
        return reason
    if size > MAX_BYTES:
        return "larger than 1 MiB"
    return "empty" if not size else None


@lru_cache(maxsize=100_000)
def _by_name(name: str) -> str:
    """Why files of a name are not indexed; asked for every file of the tree on every search."""
    if name.lower().endswith(GENERATED):
        return "generated"
    told = language_of(name) not in UNTOLD or name.lower() in TELLING
    return "" if told else "no source code"
