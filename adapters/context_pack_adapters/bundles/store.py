"""Bundles on disk: looked for by every call, loaded by one call at a time.

A bundle's files, and what was made of them, are kept by folder.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from context_pack.bundles.ports import BundleFiles, BundlePlace, FoundBundles
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack_adapters.bundles.discovery import LIST_FILE, BundleSearch, placed
from context_pack_adapters.bundles.reading import DiskBundleFiles, is_missing
from context_pack_adapters.files.opening import Place

T = TypeVar("T")
WAIT_SECONDS = 0.05
"""How often a call that waits for another one looks whether it is still wanted."""


class FileBundleStore:
    """A `BundleStore` on disk; safe to share between threads. `given` are folders that decide alone."""

    def __init__(self, source_root: Path, policy: PathPolicy, given: Sequence[str] = ()) -> None:
        self._root = source_root
        self._policy = policy
        self._given = tuple(given)
        self._source = DiskBundleFiles(source_root, policy)
        self._lock = threading.Lock()
        self._folders: dict[BundlePlace, Place] = {}
        self._kept: dict[Place, _KeptBundle] = {}

    def discover(self) -> FoundBundles:
        """The bundles that there are."""
        search = BundleSearch(self._root, self._policy)
        with self._lock:
            listed = self._source.document(RelativePath(LIST_FILE))
            if self._given:
                located = list(search.given(self._given))
            else:
                located = list(search.found() if is_missing(listed) else search.listed(listed))
            self._folders = placed(located)
            return FoundBundles(tuple(self._folders), tuple(search.diagnostics))

    def files(self, place: BundlePlace) -> BundleFiles:
        """The files of a bundle."""
        return self._of(place).files

    def load(
        self, place: BundlePlace, make: Callable[[BundleFiles, T | None], T], check: Callable[[], None]
    ) -> T:
        """What `make` makes of the files and of what it made last time, one call at a time per bundle."""
        kept = self._of(place)
        while not kept.lock.acquire(timeout=WAIT_SECONDS):
            check()
        try:
            made = make(kept.files, kept.made)
            kept.made = made
            return made
        finally:
            kept.lock.release()

    def _of(self, place: BundlePlace) -> _KeptBundle:
        with self._lock:
            folder = self._folders.get(place)
            if folder is None:
                raise Failure(
                    Code.NOT_FOUND, "the bundle is no longer there; try again", {"bundleId": place.id}
                )
            if folder not in self._kept:
                self._kept[folder] = _KeptBundle(DiskBundleFiles(folder, self._policy))
            return self._kept[folder]


class _KeptBundle:
    """A bundle's files, the lock of its loading, and what was last made of them."""

    def __init__(self, files: DiskBundleFiles) -> None:
        self.files = files
        self.lock = threading.Lock()
        self.made: Any = None
