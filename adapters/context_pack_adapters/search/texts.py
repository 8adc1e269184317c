"""A cache of a tree's files: their texts within a size limit, and facts about the others.

A file is looked at before every search; what was read is used again only while its signature is the same.
Files are opened from their own folder's descriptor and never through a link. A text is kept as it is
searched: no byte order mark, every line ended by one line feed and nothing else. When the room is full, what
is there stays: all searches go over the files in the same order, so throwing out the oldest would not help.
Worth it by `benches/side_by_side/grep.py`: without kept texts a search takes four times as long.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from context_pack.code.domain.search import MAX_FILE_BYTES
from context_pack.code.domain.search_pattern import is_plain
from context_pack.kernel.ports import Reason
from context_pack.kernel.text import decode
from context_pack_adapters.disk.opening import Handle, Place, TooLarge, leave, read_file, status_of
from context_pack_adapters.disk.signature import Signature, settled_signature
from context_pack_adapters.search.deadline import Deadline
from context_pack_adapters.search.listing import unchanged


class KnownText(NamedTuple):
    """A file as it was read; without a signature that can be believed later if it had just changed."""

    signature: Signature | None = None
    is_text: bool = False
    is_plain: bool = False
    """Whether ripgrep and we split this text into the same lines and characters."""
    text: str | None = None
    """As it is searched; None if it is no text, or was not kept."""


class Texts:
    """The files of one tree; safe to share between threads. `room` is how many bytes of texts are kept."""

    def __init__(self, root: str, room: int) -> None:
        self._root = root
        self._known: dict[str, KnownText] = {}
        self._room = room
        self._lock = threading.Lock()

    def plain(self, paths: Iterable[str]) -> list[str]:
        """The files that were plain when they were read, but for one that ripgrep takes for its input."""
        return [path for path in paths if self._known.get(path, KnownText()).is_plain and path != "-"]

    def current(self, paths: Sequence[str], deadline: Deadline) -> list[KnownText | None]:
        """The cached facts of each file; None if there are none or the file changed."""
        top = os.path.join(self._root, "")
        files = [self._known.get(path) for path in paths]
        same = unchanged(
            (top + path for path in paths), (file and file.signature for file in files), deadline
        )
        return [file if is_same else None for file, is_same in zip(files, same, strict=True)]

    def learn(self, paths: Iterable[str], deadline: Deadline) -> None:
        """Read the files that were never read."""
        with self.reading(deadline) as read:
            for path in paths:
                if path not in self._known:
                    read(path)

    @contextmanager
    def reading(self, deadline: Deadline) -> Iterator[Callable[[str], KnownText]]:
        """A way to read files, one after the other; a file's folder is kept open for its neighbours.

        What comes back has the text even if there is no room to keep it.
        """
        way: list[str] | None = None
        folder: Handle = -1

        def read(path: str) -> KnownText:
            nonlocal way, folder
            deadline.left()
            *parts, name = path.split("/")
            before, known = time.time_ns(), None
            with suppress(OSError):
                if parts != way:
                    if way is not None:
                        way = None
                        leave(folder)
                    folder, way = Place(self._root, tuple(parts)).open(), parts
                try:
                    data, status = read_file(folder, name, MAX_FILE_BYTES)
                    known = described(data, settled_signature(status, before))
                except TooLarge:
                    known = KnownText(settled_signature(status_of(folder, name), before))
            self._keep(path, known)
            return known or KnownText()

        try:
            yield read
        finally:
            if way is not None:
                leave(folder)

    def tidy(self, paths: Collection[str]) -> None:
        """Forget the files that are not among `paths`, which are all there are, once they are too many."""
        if len(self._known) > len(paths):
            for path in set(self._known).difference(paths):
                self._keep(path, None)

    def _keep(self, path: str, known: KnownText | None) -> None:
        """Cache what is known of a file; its text only as far as there is room."""
        with self._lock:
            before = self._known.pop(path, None)
            self._room += 0 if before is None or before.text is None else sys.getsizeof(before.text)
            if known is None or known.signature is None:
                return
            size = sys.getsizeof(known.text)
            if known.text is None or size > self._room:
                self._known[path] = known._replace(text=None)
            else:
                self._room -= size
                self._known[path] = known


def described(data: bytes, seen: Signature | None = None) -> KnownText:
    """Classify the bytes of a file; the result has its text as it is searched."""
    text = decode(data)
    if isinstance(text, Reason):
        return KnownText(seen)
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        text = f"{text[:-1]}\n" if text.endswith("\r") else text
    if text and not text.endswith("\n"):
        text += "\n"
    return KnownText(seen, True, is_plain(data), text)
