"""Folders that go away with what uses them, and one that holds the files of a mapping."""

from __future__ import annotations

import os
import shutil
import weakref
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, TypeVar, cast

Port = TypeVar("Port")


def temporary(owner: object) -> Path:
    """A new folder, removed when its owner is."""
    folder = Path(mkdtemp(prefix="context-pack-")).resolve()
    weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    return folder


class Mirror:
    """A folder with the files of a mapping, which a test may change at any time.

    `modified` is when they say that they were last modified.
    """

    def __init__(self, files: Mapping[str, str | bytes], modified: float | None = None) -> None:
        self.folder = temporary(self)
        self._files, self._modified = files, modified
        self._written: dict[str, bytes] = {}

    def write(self) -> None:
        """Write what the mapping holds now, and remove what it no longer holds."""
        now = {path: data.encode() if isinstance(data, str) else data for path, data in self._files.items()}
        for path in self._written.keys() - now.keys():
            (self.folder / path).unlink()
        for path, data in now.items():
            if self._written.get(path) != data:
                (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
                (self.folder / path).write_bytes(data)
                if self._modified is not None:
                    os.utime(self.folder / path, (self._modified, self._modified))
        self._written = now

    def before_each_call(self, port: Port) -> Port:
        """The port, but whoever uses it finds the files as they are in the mapping."""
        return cast(Port, _Mirrored(port, self))


class _Mirrored:
    def __init__(self, port: object, mirror: Mirror) -> None:
        self._port, self._mirror = port, mirror

    def __getattr__(self, name: str) -> Any:
        self._mirror.write()
        return getattr(self._port, name)
