"""Opens the folders of a tree one from the other, so that no link on the way leads out of the root."""

from __future__ import annotations

import os
from types import TracebackType

CAN_HOLD = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
"""Whether this system opens a file by its folder's descriptor."""

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


class Folders:
    """The way from the root to one folder at a time, kept open: neighbours are close to each other."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._prefix: str | None = None
        self._names: list[str] = []
        self._open: list[int] = []

    def __enter__(self) -> Folders:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._open:
            os.close(self._open.pop())

    def at(self, prefix: str) -> int:
        """The folder with this prefix (empty, or ending in a slash), open until the next call.

        Raises:
            OSError: it is no folder of the tree, or a link is on the way.
        """
        if prefix == self._prefix:
            return self._open[-1]
        self._prefix = None
        if not self._open:
            # The root itself may be a link: that is the choice of whoever named it.
            self._open.append(os.open(self._root, _FOLDER))
        names = prefix.split("/")[:-1]
        same = 0
        while same < min(len(names), len(self._names)) and names[same] == self._names[same]:
            same += 1
        while len(self._names) > same:
            self._names.pop()
            os.close(self._open.pop())
        for name in names[same:]:
            self._open.append(os.open(name, _FOLDER | _NOFOLLOW, dir_fd=self._open[-1]))
            self._names.append(name)
        self._prefix = prefix
        return self._open[-1]
