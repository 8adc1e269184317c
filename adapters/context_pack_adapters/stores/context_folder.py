"""One folder on disk as a scan saw it: the names, sizes and times of its files, and what follows from them.

Contents are read only when somebody asks for them. A digest is kept for as long as size, times and inode of
its file stay the same, and only if the file was not touched just before it was looked at: a change within the
same tick of the file system's clock would leave the times as they are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from context_pack.contexts.domain.fingerprint import content_row, fingerprint, stat_row
from context_pack.contexts.domain.model import CONTEXT_FILE
from context_pack.contexts.domain.scan import is_source
from context_pack.contexts.ports import Refusal
from context_pack_adapters.disk.opening import Handle, Place, open_file
from context_pack_adapters.disk.signature import is_settled
from context_pack_adapters.disk.writing import is_temporary
from context_pack_adapters.stores.context_seen import SeenFolders

CHUNK = 1024 * 1024

Signature = tuple[str, int, int, int, int]
"""Name, size, modified, changed, inode."""
Digests = dict[Signature, str]


class Look(NamedTuple):
    """What one look into a folder found."""

    files: list[Signature]
    folders: list[str]
    warnings: int
    odd_context: bool
    """Whether the context file is something else than a regular file: a link, a folder, a pipe."""


def look(entries: Iterable[os.DirEntry[str]]) -> Look:
    """The files and folders of an open folder; what vanishes meanwhile is not there."""
    files: list[Signature] = []
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
                continue
            files.append((name, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino))
        elif entry.is_dir(follow_symlinks=False):
            folders.append(name)
            odd = odd or name == CONTEXT_FILE
        elif name == CONTEXT_FILE:
            odd = True
    return Look(files, folders, warnings, odd)


def is_decodable(name: str) -> bool:
    """Whether a name is text: bytes that are no UTF-8 come as half characters."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


class DiskFolder:
    """A `Folder` on disk at its place below the root; `read` reads its context file, confined to the root."""

    __slots__ = (
        *("_counted", "_digests", "_now_ns", "_place", "_read", "_seen", "_stat"),
        *("files", "memo", "odd_context", "scope", "settled", "source_bytes", "sources", "warnings"),
    )

    def __init__(
        self,
        scope: str,
        place: Place,
        seen: Look,
        now_ns: int,
        read: Callable[[str], bytes | Refusal | None],
        seen_before: SeenFolders,
        before: DiskFolder | None,
    ) -> None:
        self.scope = scope
        self.files = seen.files
        self.odd_context = seen.odd_context
        self.warnings = seen.warnings
        self.memo: dict[str, Any] = {}
        sources = [row for row in seen.files if is_source(row[0])]
        self.sources: Sequence[str] = sorted([row[0] for row in sources])
        self.source_bytes = sum([row[1] for row in sources])
        newest = max([row[3] for row in seen.files], default=0)
        self.settled = not seen.odd_context and is_settled(newest, newest, now_ns)
        self._place, self._read, self._now_ns = place, read, now_ns
        self._seen = seen_before
        self._counted = [row for row in seen.files if row[0] != CONTEXT_FILE and not is_temporary(row[0])]
        self._stat: str | None = None
        self._digests: Digests = {} if before is None else before._digests

    @property
    def names(self) -> frozenset[str]:
        """The names of all regular files directly in it."""
        return frozenset(row[0] for row in self.files)

    def is_still(self, seen: Look) -> bool:
        """Whether a later look found the very same; a context that is a link is read again every time."""
        if not self.settled or seen.odd_context:
            return False
        return self.files == seen.files and self.warnings == seen.warnings

    def stat_fingerprint(self) -> str:
        """The fingerprint of times and sizes."""
        if self._stat is None:
            self._stat = fingerprint(stat_row(row[0], row[2], row[1]) for row in self._counted)
        return self._stat

    def content_fingerprint(self, check: Callable[[], None]) -> str | None:
        """The fingerprint of contents; None when a file cannot be read."""
        counted = self._counted
        lasts = self.settled and bool(counted)
        known = self._seen.recall(self._place.path, counted) if lasts else None
        if known is None:
            known = self._computed(counted, check)
            if known is not None and lasts:
                self._seen.keep(self._place.path, counted, known)
        return known

    def _computed(self, counted: list[Signature], check: Callable[[], None]) -> str | None:
        rows: list[str] = []
        before, digests = self._digests, Digests()
        try:
            with self._place.held() as folder:
                for row in counted:
                    digest = before.get(row) or digest_of(folder, row[0], check)
                    if self.settled or is_settled(row[2], row[3], self._now_ns):
                        digests[row] = digest
                    rows.append(content_row(row[0], digest))
        except OSError:
            return None
        self._digests = digests
        return fingerprint(rows)

    def context(self) -> bytes | Refusal | None:
        """The bytes of the context file; None when there is none."""
        if not self.odd_context and len(self._counted) == len(self.files):
            return None
        return self._read(self.scope)


def digest_of(folder: Handle, name: str, check: Callable[[], None]) -> str:
    """The SHA-256 of the bytes of a file in an open folder.

    Raises:
        OSError: they cannot be had.
    """
    opened = open_file(folder, name)
    size = opened.status.st_size
    try:
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
