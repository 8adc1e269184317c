"""The files of the source tree that memory indexes: which there are and in which state, without reading them.

What `grep_codebase` searches counts here too, but for formats that hold data and not code, and for our own
folders. Every survey walks the tree. A stamp is a file's state; one that may change again without a trace
(the file is younger than the clock's grain) is left empty, so that the file is looked at again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from functools import lru_cache, partial
from pathlib import Path

from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import EXCLUDED_FOLDERS, PathPolicy, RelativePath
from context_pack.kernel.ports import Reason, decode
from context_pack.memory.ports import CodeFile, GoOn, always
from context_pack.retrieval.upkeep import File
from context_pack_adapters.files.rooted import Rooted
from context_pack_adapters.files.signature import as_text, is_settled
from context_pack_adapters.files.walking import visit, ways_to
from context_pack_adapters.source.grep import EXPORTED

MAX_BYTES = 2 * 1024 * 1024
"""More than is parsed: the rest is still found in plain lines."""
LONGEST_LINE = 20_000
UNTOLD = frozenset({"", "csv", "jsonl", "diff", "gitignore", "json", "xml", "text", "mermaid"})
"""Formats whose first lines do not describe their content."""
TELLING = frozenset({"package.json", "tsconfig.json", "composer.json", "manifest.json", "pom.xml"})
GENERATED = (".lock", ".min.js", ".min.css", ".map", ".snap", "-lock.json", "-lock.yaml", ".svg")
TOO_LARGE = "larger than 2 MiB"
_REASONS = {
    Reason.BINARY: "not text",
    Reason.NOT_UTF8: "not UTF-8",
    Reason.TOO_LARGE: TOO_LARGE,
    Reason.MISSING: "gone",
}


class CodeFiles:
    """A `CodeTree` on disk without the folders that are our `own`; safe to share between threads."""

    def __init__(self, root: Path, policy: PathPolicy, *own: Path) -> None:
        self._rooted = Rooted(root, policy)
        self._own = ways_to(root, own)
        self._visit = partial(
            visit, self._rooted.root, policy, excluded=EXCLUDED_FOLDERS, except_for=self._own
        )

    def survey(self, go_on: GoOn = always) -> Mapping[str, File] | None:
        """Every file that counts, by path; None if the walk was not allowed to its end."""
        files: dict[str, File] = {}

        def seen(path: str, entry: os.DirEntry[str]) -> None:
            if reason := _by_name(entry.name):
                files[path] = File("", 0, reason)
                return
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                return
            size = status.st_size
            skipped = TOO_LARGE if size > MAX_BYTES else None if size else "empty"
            files[path] = File(as_text(status), size, skipped)

        return dict(sorted(files.items())) if self._visit(seen, go_on=go_on) else None

    def left_out(self) -> Mapping[str, str]:
        """Paths that a survey omits, and why; a folder ends in a slash and stands for all below it."""
        reasons: dict[str, str] = {}

        def passed(path: str, is_folder: bool, ignored: bool) -> None:
            if path in self._own:
                return
            if is_folder and path.rpartition("/")[2] in EXCLUDED_FOLDERS:
                reason = "a folder that is never searched"
            else:
                reason = "ignored" if ignored else "denied"
            reasons[path + "/" if is_folder else path] = reason

        self._visit(lambda _, __: None, passed=passed)
        return dict(sorted(reasons.items()))

    def read(self, path: str) -> CodeFile:
        """One file."""
        before = time.time_ns()
        read = self._rooted.read(RelativePath(path), MAX_BYTES)
        if isinstance(read, Reason):
            return CodeFile("", self._stamp(path), _REASONS.get(read, "cannot be read"))
        data, status = read
        text = decode(data)
        stamp = as_text(status) if is_settled(status.st_mtime_ns, status.st_ctime_ns, before) else ""
        if isinstance(text, Reason):
            return CodeFile("", stamp, _REASONS.get(text, "not text"))
        if len(text) > LONGEST_LINE and max(map(len, text.split("\n"))) > LONGEST_LINE:
            return CodeFile("", stamp, f"a line of more than {LONGEST_LINE} characters")
        if EXPORTED.match(text):
            return CodeFile("", stamp, "an exported pack")
        return CodeFile(text, stamp)

    def _stamp(self, path: str) -> str:
        """The state of a file that cannot be read."""
        status = self._rooted.status(RelativePath(path))
        return "" if isinstance(status, Reason) else as_text(status)


@lru_cache(maxsize=100_000)
def _by_name(name: str) -> str:
    """Why files of a name are not indexed; asked for every file of the tree on every search."""
    if name.lower().endswith(GENERATED):
        return "generated"
    indexed = language_of(name) not in UNTOLD or name.lower() in TELLING
    return "" if indexed else "no source code"
