"""Bundles in dictionaries: parsed values by path, searched and remembered as the store on disk does it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from context_pack.bundles.ports import BundleFiles, BundlePlace, Document, Flaw, FoundBundles
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import RelativePath

T = TypeVar("T")
YAML_SUFFIXES = (".yaml", ".yml")
WAIT_SECONDS = 0.05


class MemoryBundleFiles:
    """A `BundleFiles` of path and value; a `Flaw` stands for a file that cannot be used.

    The mapping is looked at on every call: a changed value makes a new document.
    """

    def __init__(self, files: Mapping[str, Any], modified_ns: int = 0) -> None:
        self._files = files
        self._modified_ns = modified_ns
        self._seen: dict[str, tuple[str, Document]] = {}

    def document(self, path: RelativePath) -> Document | Flaw:
        """One file."""
        if path.value not in self._files:
            return Flaw(path.value, "there is no such file", absent=True)
        value = self._files[path.value]
        if isinstance(value, Flaw):
            return value
        text = json.dumps(value, ensure_ascii=False)
        known = self._seen.get(path.value)
        if known is None or known[0] != text:
            known = self._seen[path.value] = (text, Document(path.value, json.loads(text), self._modified_ns))
        return known[1]

    def folder(self, path: RelativePath | None) -> Iterator[Document | Flaw] | Flaw:
        """The YAML files right in a folder, by name."""
        prefix = "" if path is None else f"{path.value}/"
        inside = [name.removeprefix(prefix) for name in self._files if name.startswith(prefix)]
        if not inside:
            words = "there is no such folder, so the type has no entities"
            return Flaw("." if path is None else path.value, words, "warning", absent=True)
        names = sorted(name for name in inside if "/" not in name and name.endswith(YAML_SUFFIXES))
        return (self.document(RelativePath(prefix + name)) for name in names)


class MemoryBundleStore:
    """A `BundleStore` in memory: files by path, by bundle id; a bundle is found if it has a manifest."""

    def __init__(self, bundles: Mapping[str, Mapping[str, Any]] | None = None, modified_ns: int = 0) -> None:
        self._bundles = {} if bundles is None else bundles
        self._modified_ns = modified_ns
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[MemoryBundleFiles, threading.Lock]] = {}
        self._made: dict[str, Any] = {}

    def discover(self) -> FoundBundles:
        """The bundles that there are."""
        found = [key for key, files in self._bundles.items() if "sdd-bundle.yaml" in files]
        return FoundBundles(tuple(BundlePlace(key, key) for key in found))

    def files(self, place: BundlePlace) -> BundleFiles:
        """The files of a bundle."""
        return self._of(place)[0]

    def load(
        self, place: BundlePlace, make: Callable[[BundleFiles, T | None], T], check: Callable[[], None]
    ) -> T:
        """What `make` makes of the files and of what it made last time, one call at a time per bundle."""
        files, lock = self._of(place)
        while not lock.acquire(timeout=WAIT_SECONDS):
            check()
        try:
            made = make(files, self._made.get(place.id))
            self._made[place.id] = made
            return made
        finally:
            lock.release()

    def _of(self, place: BundlePlace) -> tuple[MemoryBundleFiles, threading.Lock]:
        with self._lock:
            if place.id not in self._bundles:
                raise Failure(
                    Code.NOT_FOUND, "the bundle is no longer there; try again", {"bundleId": place.id}
                )
            if place.id not in self._kept:
                files = MemoryBundleFiles(self._bundles[place.id], self._modified_ns)
                self._kept[place.id] = (files, threading.Lock())
            return self._kept[place.id]
