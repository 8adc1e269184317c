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
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from stat import S_ISREG

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
from context_pack_adapters.search.roll import NO_TEXT, Known, Roll, stale

LONG_LINE = 1000
MOST_ROLLS = 4
_ASCII = bytes(range(128))


class Shelf:
    """The files of one tree; safe to share between threads."""

    def __init__(self, root: str, policy: PathPolicy, room: int) -> None:
        self._root = root
        self._top = os.path.join(root, "")
        self._rooted = None if CAN_HOLD else Rooted(root, policy)
        self._known: dict[str, Known] = {}
        self._texts: dict[str, tuple[State, str]] = {}
        self._room = room
        self._lock = threading.Lock()
        self._learned = 0
        self._rolls: dict[int, tuple[int, Roll]] = {}

    def open(self) -> Folders:
        """The folders to read files from, for the time of one search."""
        return Folders(self._root)

    def roll(self, paths: Sequence[str]) -> Roll:
        """The files beside what can be relied on of each; of a tuple, the same until something is learned."""
        if not isinstance(paths, tuple):
            return self._rolled(paths)
        made = self._rolls.get(id(paths))
        if made is None or made[0] != self._learned or made[1].paths is not paths:
            made = (self._learned, self._rolled(paths))
            if len(self._rolls) >= MOST_ROLLS:
                self._rolls.clear()
            self._rolls[id(paths)] = made
        return made[1]

    def _rolled(self, paths: Sequence[str]) -> Roll:
        knowns: list[Known | None] = []
        texts: list[str | None] = []
        for path in paths:
            known, kept = self._known.get(path), self._texts.get(path)
            if known is None or not known.settled:
                known = kept = None
            knowns.append(known)
            texts.append(kept[1] if kept and known and kept[0] == known.state else None)
        return Roll(paths, [self._top + path for path in paths], knowns, texts, {})

    def differ(self, files: Mapping[str, Known], deadline: Deadline) -> list[str]:
        """The files that are not surely what they were.

        Raises:
            TimedOut: there are too many to look at in time.
        """
        knowns = [known if known.settled else None for known in files.values()]
        paths = list(files)
        return [paths[index] for index in stale([self._top + path for path in paths], knowns, deadline)]

    def look_at(self, paths: Iterable[str], deadline: Deadline) -> dict[str, Known]:
        """The state of plain files that are small enough to be searched; nothing is said of their texts.

        Raises:
            TimedOut: there are too many to look at in time.
        """
        seen: dict[str, Known] = {}
        now = time.time_ns()
        for count, path in enumerate(paths):
            if not count & 255:
                deadline.left()
            with suppress(OSError):
                status = os.lstat(self._top + path)
                if S_ISREG(status.st_mode) and status.st_size <= MAX_FILE_BYTES:
                    state = state_of(status)
                    seen[path] = Known(state, is_settled(state, now))
        return seen

    def readable(self, paths: Sequence[str]) -> list[str]:
        """The files that can be opened."""
        return [path for path in paths if os.access(self._top + path, os.R_OK)]

    def learn(self, knowns: Mapping[str, Known]) -> None:
        """Know this of files that somebody else has read."""
        self._known.update(knowns)
        self._learned += 1

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
        before = self._known.get(path)
        # How long its lines are need not be known anew to everybody.
        if before is None or before._replace(has_long_lines=known.has_long_lines) != known:
            self._known[path] = known
            self._learned += 1
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
                self._learned += 1

    def _forget(self, path: str) -> None:
        with self._lock:
            if self._known.pop(path, None) is not None:
                self._learned += 1
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
        text = f"{text[:-1]}\n" if text.endswith("\r") else text
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
