"""One folder on disk as a scan saw it: the names, sizes and times of its files, and what follows from them.

Contents are read only when somebody asks for them. A digest is kept for as long as size, times and inode of
its file stay the same, and only if the file was not touched just before it was looked at: a change within the
same tick of the file system's clock would leave the times as they are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from hashlib import sha256
from stat import S_ISREG
from typing import Any, NamedTuple

from context_pack.contexts.domain.fingerprint import content_row, fingerprint, stat_row
from context_pack.contexts.domain.model import CONTEXT_FILE
from context_pack.contexts.domain.scan import is_source
from context_pack.contexts.ports import Refusal
from context_pack_adapters.disk.atomic import is_temporary
from context_pack_adapters.stores.context_seen import SeenFolders

CHUNK = 1024 * 1024
TICK_NS = 50_000_000
COARSE_TICK_NS = 2_100_000_000
SECOND_NS = 1_000_000_000

_OPEN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_OPEN |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

_PROC = os.path.isdir("/proc/self/fd")

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


def look(path: str) -> Look:
    """List a folder and the state of its files; what vanishes meanwhile is not there.

    Raises:
        OSError: the folder cannot be listed.
    """
    files: list[Signature] = []
    folders: list[str] = []
    warnings, odd = 0, False
    with os.scandir(path) as entries:
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


def is_settled(changed_ns: int, now_ns: int) -> bool:
    """Whether a file changed long enough ago that a later change must show in its times.

    A file system that counts whole seconds gives itself away: nothing else changes exactly on the second.
    """
    tick = TICK_NS if changed_ns % SECOND_NS else COARSE_TICK_NS
    return changed_ns + tick < now_ns


def read_placed(path: str, max_bytes: int) -> bytes | None:
    """The bytes of a plain file if the system says that it is where its path says; else None.

    The same proof as `Rooted` has, for a path without links in folders that were checked before; whatever is
    out of the ordinary is left to `Rooted`.
    """
    if not _PROC:
        return None
    try:
        descriptor = os.open(path, _OPEN)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if not S_ISREG(status.st_mode) or status.st_size > max_bytes:
            return None
        if os.readlink(f"/proc/self/fd/{descriptor}") != path:
            return None
        data = os.read(descriptor, status.st_size + 1)
        return data if len(data) == status.st_size else None
    except OSError:
        return None
    finally:
        os.close(descriptor)


class DiskFolder:
    """A `Folder` on disk; `read` reads its context file, confined to the root."""

    __slots__ = (
        *("_counted", "_digests", "_now_ns", "_path", "_read", "_seen", "_stat"),
        *("files", "memo", "odd_context", "scope", "settled", "source_bytes", "sources", "warnings"),
    )

    def __init__(
        self,
        scope: str,
        path: str,
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
        self.settled = not seen.odd_context and is_settled(newest, now_ns)
        self._path, self._read, self._now_ns = path, read, now_ns
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
        known = self._seen.recall(self._path, counted) if lasts else None
        if known is None:
            known = self._computed(counted, check)
            if known is not None and lasts:
                self._seen.keep(self._path, counted, known)
        return known

    def _computed(self, counted: list[Signature], check: Callable[[], None]) -> str | None:
        rows: list[str] = []
        before, digests = self._digests, Digests()
        for row in counted:
            digest = before.get(row) or self._digest(row[0], row[1], check)
            if digest is None:
                return None
            if self.settled or is_settled(row[3], self._now_ns):
                digests[row] = digest
            rows.append(content_row(row[0], digest))
        self._digests = digests
        return fingerprint(rows)

    def context(self) -> bytes | Refusal | None:
        """The bytes of the context file; None when there is none."""
        if not self.odd_context and len(self._counted) == len(self.files):
            return None
        return self._read(self.scope)

    def _digest(self, name: str, size: int, check: Callable[[], None]) -> str | None:
        """The SHA-256 of a file's bytes; None when they cannot be had."""
        try:
            descriptor = os.open(f"{self._path}{os.sep}{name}", _OPEN)
        except OSError:
            return None
        try:
            # One byte more than expected, so that the common case ends with the first, short read.
            chunk = os.read(descriptor, size + 1 if size < CHUNK else CHUNK)
            found = sha256(chunk)
            done = len(chunk) == size
            while not done and (chunk := os.read(descriptor, CHUNK)):
                found.update(chunk)
                check()
            return found.hexdigest()
        except OSError:
            return None
        finally:
            os.close(descriptor)
