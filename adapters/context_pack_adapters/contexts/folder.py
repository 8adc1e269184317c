"""Lists a folder on disk: names, sizes and times of its files; and digests one file.

Nothing is read by a look; contents are read only when somebody asks for a fingerprint of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import NamedTuple

from context_pack.contexts.model import CONTEXT_FILE
from context_pack.contexts.ports import FileRow
from context_pack_adapters.files.folder import is_temporary
from context_pack_adapters.files.opening import Handle, open_file

CHUNK = 1024 * 1024
LARGEST_HASHED = 64 * CHUNK
"""A file of more bytes counts by its size alone: a sparse one could keep a listing busy for hours."""


class FolderContents(NamedTuple):
    """The contents of a folder: regular files, folders, and how many names had to be left out."""

    files: list[FileRow]
    folders: list[str]
    warnings: int
    odd_context: bool
    """Whether the context file is something else than a regular file: a link, a folder, a pipe."""


def look(entries: Iterable[os.DirEntry[str]]) -> FolderContents:
    """The files and folders of an open folder; what vanishes meanwhile is not there."""
    files: list[FileRow] = []
    folders: list[str] = []
    warnings, odd = 0, False
    for entry in entries:
        name = entry.name
        if entry.is_file(follow_symlinks=False):
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            except OSError:
                warnings += 1
                continue
            if not name.isascii() and not is_decodable(name):
                warnings += 1
            elif name[0] != "." or not is_temporary(name):
                files.append((name, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino))
        elif entry.is_dir(follow_symlinks=False):
            folders.append(name)
            odd = odd or name == CONTEXT_FILE
        elif name == CONTEXT_FILE:
            odd = True
    return FolderContents(files, folders, warnings, odd)


def is_decodable(name: str) -> bool:
    """Whether a name is text: bytes that are no UTF-8 come as half characters."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def digest_of(folder: Handle, name: str, check: Callable[[], None]) -> str:
    """The SHA-256 of the bytes of a file in an open folder; of a very large one, that of its size.

    Raises:
        OSError: they cannot be had.
    """
    opened = open_file(folder, name)
    size = opened.status.st_size
    try:
        if size > LARGEST_HASHED:
            return sha256(str(size).encode()).hexdigest()
        # One byte more than expected, so that the common case ends with the first, short read.
        chunk = os.read(opened.descriptor, size + 1 if size < CHUNK else CHUNK)
        found = sha256(chunk)
        done = len(chunk) == size
        while not done and (chunk := os.read(opened.descriptor, CHUNK)):
            found.update(chunk)
            check()
        return found.hexdigest()
    finally:
        os.close(opened.descriptor)
