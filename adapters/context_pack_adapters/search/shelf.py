"""What is known of the tree's files: which are text, and the texts themselves as far as there is room.

A file is looked at before every search; what was read is used again only if the file is as it was then, and
had settled by then. Files are opened from their own folder's descriptor and never through a link. A text is
kept as it is searched: no byte order mark, every line ended by one line feed and nothing else.

When the room is full, what is there stays: every search goes over all files in the same order, so throwing
out the oldest would throw out exactly what is needed next.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections.abc import Collection, Sequence
from functools import cache
from typing import NamedTuple

from context_pack.code.domain.search import MAX_FILE_BYTES
from context_pack.code.domain.search_ripgrep import USUAL, Reach
from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Reason
from context_pack.kernel.text import decode
from context_pack_adapters.disk.atomic import TooLarge, read_whole
from context_pack_adapters.disk.rooted import Rooted
from context_pack_adapters.search.deadline import Deadline
from context_pack_adapters.search.folders import CAN_HOLD, Folders
from context_pack_adapters.search.listing import State, is_settled, state_of

ROOM_BYTES = 128 * 1024 * 1024
LONG_LINE = 1000
_ASCII = bytes(range(128))


class Known(NamedTuple):
    """A file as it was read: when, and what matters of it before its text is searched."""

    state: State
    settled: bool
    is_text: bool = False
    reach: Reach = Reach.ANY
    """The least that a pattern must be trusted with to be trusted with this text."""
    has_returns: bool = False
    """Some lines end in `\\r\\n`."""
    is_odd: bool = False
    """A byte order mark, or a `\\r` that ends no line: what ripgrep sees is not the text."""
    has_long_lines: bool = False


NO_TEXT = Known((0, 0, 0, 0), settled=False)


class Shelf:
    """The files of one tree; safe to share between threads."""

    def __init__(self, root: str, policy: PathPolicy, room: int = ROOM_BYTES) -> None:
        self._root = root
        self._top = os.path.join(root, "")
        self._rooted = None if CAN_HOLD else Rooted(root, policy)  # type: ignore[arg-type]
        self._known: dict[str, Known] = {}
        self._texts: dict[str, tuple[State, str]] = {}
        self._room = room
        self._lock = threading.Lock()

    def open(self) -> Folders:
        """The folders to read files from, for the time of one search."""
        return Folders(self._root)

    def remembered(self, path: str) -> Known | None:
        """What was known of a file when it was last read, if that can be relied on."""
        known = self._known.get(path)
        return known if known is not None and known.settled else None

    def survey(self, paths: Sequence[str], deadline: Deadline) -> list[Known | None]:
        """What is known of each file as it is now; None if it must be read first, or is gone.

        Raises:
            TimedOut: there are too many to look at in time.
        """
        top, look, remembered = self._top, os.lstat, self._known.get
        found: list[Known | None] = []
        for count, path in enumerate(paths):
            if not count & 255:
                deadline.left()
            known = remembered(path)
            if known is not None:
                try:
                    status = look(top + path)
                except OSError:
                    known = None
                else:
                    inode, size, modified, changed = known.state
                    if not (
                        known.settled
                        and status.st_mtime_ns == modified
                        and status.st_size == size
                        and status.st_ino == inode
                        and status.st_ctime_ns == changed
                    ):
                        known = None
            found.append(known)
        return found

    def text(self, path: str, known: Known) -> str | None:
        """The text that is kept of a file in that state."""
        kept = self._texts.get(path)
        return kept[1] if kept is not None and kept[0] == known.state else None

    def read(self, path: str, folders: Folders, keep: bool) -> tuple[Known, str]:
        """Read a file now: what it is, and its text (empty if it is none)."""
        now = time.time_ns()
        found = self._bytes(path, folders)
        if found is None:
            self._forget(path)
            return NO_TEXT, ""
        data, status = found
        state = state_of(status)
        blank = Known(state, is_settled(state, now))
        known, text = (blank, "") if data is None else searched_text(data, blank)
        self._known[path] = known
        if keep and known.settled and known.is_text:
            self._keep(path, state, text)
        return known, text

    def tidy(self, paths: Collection[str]) -> None:
        """Forget every file that is not among `paths`."""
        wanted = set(paths)
        for path in [path for path in list(self._known) if path not in wanted]:
            self._forget(path)

    def _bytes(self, path: str, folders: Folders) -> tuple[bytes | None, os.stat_result] | None:
        """The bytes, without them if there are too many, or nothing if the file cannot be read."""
        prefix, slash, name = path.rpartition("/")
        try:
            if self._rooted is not None:
                return self._rooted_bytes(path)
            folder = folders.at(prefix + slash)
            try:
                return read_whole(name, MAX_FILE_BYTES, dir_fd=folder)
            except TooLarge:
                return None, os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError:
            return None

    def _rooted_bytes(self, path: str) -> tuple[bytes | None, os.stat_result] | None:
        try:
            assert self._rooted is not None
            found = self._rooted.read(RelativePath(path), MAX_FILE_BYTES)
        except Failure:
            return None
        return None if isinstance(found, Reason) else found

    def _keep(self, path: str, state: State, text: str) -> None:
        with self._lock:
            self._drop(path)
            size = sys.getsizeof(text)
            if size <= self._room:
                self._room -= size
                self._texts[path] = (state, text)

    def _forget(self, path: str) -> None:
        with self._lock:
            self._known.pop(path, None)
            self._drop(path)

    def _drop(self, path: str) -> None:
        kept = self._texts.pop(path, None)
        if kept is not None:
            self._room += sys.getsizeof(kept[1])


def searched_text(data: bytes, blank: Known = NO_TEXT) -> tuple[Known, str]:
    """What a file is, and its text as it is searched."""
    text = decode(data)
    if isinstance(text, Reason):
        return blank, ""
    is_odd = data.startswith(b"\xef\xbb\xbf")
    has_returns = b"\r" in data
    if has_returns:
        is_odd = is_odd or data.count(b"\r\n") != data.count(b"\r")
        text = text.replace("\r\n", "\n")
        text = text[:-1] if text.endswith("\r") else text
    if text and not text.endswith("\n"):
        text += "\n"
    reach = Reach.ASCII
    if not data.isascii():
        # Without the ASCII bytes the others are still whole characters, and few.
        reach = Reach.ANY if _unusual().search(data.translate(None, _ASCII).decode()) else Reach.USUAL
    return Known(blank.state, blank.settled, True, reach, has_returns, is_odd, _has_long_lines(text)), text


@cache
def _unusual() -> re.Pattern[str]:
    spans = "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in USUAL)
    return re.compile(f"[^{spans}]")


def _has_long_lines(text: str) -> bool:
    """True if a line has twice `LONG_LINE` characters, False if none has more than that many."""
    find = text.find
    return any(find("\n", at, at + LONG_LINE) < 0 for at in range(0, len(text) - LONG_LINE, LONG_LINE))
