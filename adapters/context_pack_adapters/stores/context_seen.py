"""Fingerprints of contents that were computed before, kept for later processes in a JSON file of the cache.

A folder's fingerprint counts as long as size, times and inode of every file in it are what they were; the
file means nothing on another machine and may be removed at any time. It is read when it is first needed and
written only when somebody refreshes contexts, never by a question. Whatever is wrong with it is as if it
were not there.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from threading import Lock
from typing import Any

from context_pack_adapters.disk.private import PrivateFolder

Rows = Sequence[tuple[Any, ...]]
"""The signs of a folder's files: names, sizes, times, inodes."""

FILE = "seen.json"
FORMAT = 1
MAX_BYTES = 64 * 1024 * 1024
MOST_FOLDERS = 100_000


class SeenFolders:
    """What is known of folders by their real paths; safe to share between threads."""

    def __init__(self, cache: PrivateFolder) -> None:
        self._folder = cache
        self._lock = Lock()
        self._known: dict[str, list[str]] | None = None
        self._new: dict[str, tuple[Rows, str]] = {}

    def recall(self, path: str, rows: Rows) -> str | None:
        """The fingerprint of a folder whose files have these signs; None when nobody knows it."""
        fresh = self._new.get(path)
        if fresh is not None:
            return fresh[1] if fresh[0] == rows else None
        found = self._load().get(path)
        return found[1] if found is not None and found[0] == key_of(rows) else None

    def keep(self, path: str, rows: Rows, fingerprint: str) -> None:
        """Remember a fingerprint until `save`; what is never saved is never made short."""
        with self._lock:
            if path in self._new or len(self._new) < MOST_FOLDERS:
                self._new[path] = (rows, fingerprint)

    def save(self) -> None:
        """Write what is new; a disk that does not take it only costs time later."""
        with self._lock:
            if not self._new:
                return
            known = self._load()
            known.update({path: [key_of(rows), found] for path, (rows, found) in self._new.items()})
            self._new = {}
            while len(known) > MOST_FOLDERS:
                known.pop(next(iter(known)))
            body = json.dumps({"format": FORMAT, "folders": known}, indent=0)
        try:
            self._folder.write(FILE, body.encode())
        except (OSError, UnicodeEncodeError):
            return

    def _load(self) -> dict[str, list[str]]:
        if self._known is None:
            self._known = self._read()
        return self._known

    def _read(self) -> dict[str, list[str]]:
        try:
            data, _ = self._folder.read(FILE, MAX_BYTES)
            value = json.loads(data)
        except (OSError, ValueError, RecursionError):
            return {}
        folders = value.get("folders") if isinstance(value, dict) and value.get("format") == FORMAT else None
        if not isinstance(folders, dict):
            return {}
        return {path: entry for path, entry in folders.items() if _is_entry(entry)}


def key_of(rows: Rows) -> str:
    """The signs of a folder's files as one short text."""
    return sha256(repr(sorted(rows)).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _is_entry(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) for part in value)
