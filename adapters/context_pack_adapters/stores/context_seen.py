"""Fingerprints of contents that were computed before, kept for later processes in a JSON file of the cache.

Worth it by `benches/side_by_side/contexts.py`: a first list without it costs twice as much, over its bound.
A folder's fingerprint counts as long as size, times and inode of every file in it are what they were; the
file means nothing on another machine and may be removed at any time. It is read when it is first needed and
written only when somebody refreshes contexts, never by a question. Whatever is wrong with it is as if it
were not there.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256

from context_pack.contexts.ports import FileRow
from context_pack_adapters.disk.private import PrivateFolder

FILE = "seen.json"
FORMAT = 1
MAX_BYTES = 64 * 1024 * 1024
MOST_FOLDERS = 100_000


class SeenFolders:
    """The fingerprints of folders by their real paths; safe to share between threads."""

    def __init__(self, cache: PrivateFolder) -> None:
        self._folder = cache
        self._known: dict[str, list[str]] | None = None
        self._is_new = False

    def recall(self, path: str, rows: Sequence[FileRow]) -> str | None:
        """The fingerprint of a folder whose files have these rows; None when it is not cached."""
        found = self._loaded().get(path)
        return found[1] if found is not None and found[0] == key_of(rows) else None

    def keep(self, path: str, rows: Sequence[FileRow], fingerprint: str) -> None:
        """Remember a fingerprint for later calls and, after `save`, for later processes."""
        known = self._loaded()
        while len(known) >= MOST_FOLDERS:
            known.pop(next(iter(known)), None)
        known[path], self._is_new = [key_of(rows), fingerprint], True

    def save(self) -> None:
        """Write new fingerprints; errors are ignored, because they can be computed again."""
        if not self._is_new:
            return
        self._is_new = False
        body = json.dumps({"format": FORMAT, "folders": dict(self._loaded())}, indent=0)
        try:
            self._folder.write(FILE, body.encode())
        except (OSError, UnicodeEncodeError):
            return

    def _loaded(self) -> dict[str, list[str]]:
        if self._known is None:
            self._known = self._read()
        return self._known

    def _read(self) -> dict[str, list[str]]:
        folders = self._folder.read_json(FILE, MAX_BYTES, FORMAT).get("folders")
        known = folders.items() if isinstance(folders, dict) else ()
        return {path: entry for path, entry in known if _is_entry(entry)}


def key_of(rows: Sequence[FileRow]) -> str:
    """The rows of a folder's files as one short text."""
    return sha256(repr(sorted(rows)).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _is_entry(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) for part in value)
