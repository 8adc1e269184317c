"""A `.tar.gz` package as a source of documents: streamed, never unpacked.

A package is hostile until read: names are confined, links, devices and sparse files are never followed or
read, and everything that is read has a budget (`tar_stream`), so that a small file cannot become a large one
in memory. The manifest stands at the root or one folder down; its folder is the root of the documents.
Reading takes two passes, because the manifest may come after the files it speaks of.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from attrs import evolve, frozen

from context_pack.documents.domain.manifest import MANIFEST_FILE, DocumentManifest, parse_manifest
from context_pack.documents.domain.manifest import MAX_BYTES as MAX_MANIFEST_BYTES
from context_pack.documents.domain.model import DocumentText, Failed, Survey
from context_pack.documents.domain.reading import MAX_DOCUMENT_BYTES, WORDS, document, ruled
from context_pack.documents.domain.tree import TreeItem, below, surveyed
from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Reason
from context_pack_adapters.collections.tar_stream import (
    MAX_ENTRIES,
    MAX_SECONDS,
    MAX_TOTAL_BYTES,
    Budget,
    BudgetExceeded,
    NoArchive,
    TarStream,
)
from context_pack_adapters.files.ignore import IGNORE_FILES, MAX_IGNORE_BYTES, IgnoredPaths
from context_pack_adapters.files.opening import AnyPlace, Place, open_file, status_of
from context_pack_adapters.files.signature import is_young, stamp_of

MAX_KEPT_BYTES = 8 * 1024 * 1024
"""Of all manifests and ignore files together."""
MOST_OUTSIDE = 1000


@frozen
class _Contents:
    """The result of one scan of a package."""

    manifest: DocumentManifest
    ordinals: dict[str, int]
    """Where the last entry of each path stands; later entries win, as when unpacking."""
    items: dict[str, TreeItem]
    texts: dict[str, str]
    outside: tuple[Failed, ...]


class PackageSource:
    """A `Source` in a package of at most so many entries and bytes.

    `useless` remembers, from one source to the next, the packages that cannot be used, by their signature.
    """

    def __init__(
        self,
        package: AnyPlace,
        policy: PathPolicy,
        check: Callable[[], None] = lambda: None,
        max_entries: int = MAX_ENTRIES,
        max_bytes: int = MAX_TOTAL_BYTES,
        useless: dict[str, tuple[str, str]] | None = None,
    ) -> None:
        self._package = Place.of(package)
        self._folder, self._name = self._package.split()
        self._policy = policy
        self._check = check
        self._max_entries, self._max_bytes = max_entries, max_bytes
        self._useless = {} if useless is None else useless
        self._seen: tuple[str, _Contents] | None = None

    def survey(self, since: str = "", explain: bool = False) -> Survey | None:
        """What the package holds; None if the file is the one of that signature."""
        state = self._signature()
        signature = ruled(state, self._policy)
        if since == signature and not is_young(state):
            return None
        found = self._contents(state)
        ignores = IgnoredPaths(found.texts.get).ignores
        survey = surveyed(found.items, ignores, self._policy, found.manifest, signature, explain)
        return evolve(survey, failed=(*found.outside, *survey.failed))

    def read(self, documents: Sequence[str]) -> Iterator[DocumentText | Failed]:
        """The contents of documents, in the order of the package."""
        signature = self._signature()
        found = self._contents(signature)
        wanted = {found.ordinals[path]: path for path in documents if path in found.ordinals}
        expected = found.manifest.files or {}
        yield from (
            Failed(path, "it is not in the package") for path in documents if path not in found.ordinals
        )
        if not wanted:
            return
        # Whoever takes the documents works in between: that is not the time of reading.
        with self._opened(seconds=math.inf) as stream:
            for ordinal, entry in enumerate(stream):
                path = wanted.get(ordinal)
                if path is None:
                    continue
                if entry.size > MAX_DOCUMENT_BYTES:
                    yield Failed(path, WORDS[Reason.TOO_LARGE])
                else:
                    yield document(path, stream.read(), signature, expected.get(path))

    def _contents(self, signature: str) -> _Contents:
        if self._seen is None or self._seen[0] != signature:
            self._seen = (signature, self._looked(signature))
        return self._seen[1]

    def _looked(self, signature: str) -> _Contents:
        """Scan the package once, unless this same file was found unusable before."""
        known = self._useless.get(self._package.path)
        if known is not None and known[0] == signature and not is_young(signature):
            raise invalid(known[1])
        try:
            return self._look(signature)
        except Failure as failure:
            if failure.code is Code.INVALID_DATA:
                self._useless[self._package.path] = (signature, failure.message)
            raise

    def _look(self, signature: str) -> _Contents:
        """One pass over every entry."""
        items: dict[str, TreeItem] = {}
        ordinals: dict[str, int] = {}
        texts: dict[str, str] = {}
        outside: list[Failed] = []
        kept = 0
        with self._opened() as stream:
            for ordinal, entry in enumerate(stream):
                if entry.is_folder:
                    continue
                try:
                    path = RelativePath.lenient(entry.name).value
                except Failure as failure:
                    if len(outside) < MOST_OUTSIDE:
                        outside.append(Failed(entry.name[:200], f"outside the package: {failure.message}"))
                    continue
                items[path] = TreeItem(signature, entry.size, entry.problem)
                ordinals[path] = ordinal
                texts.pop(path, None)
                if entry.problem is None and entry.size <= _most_kept(path):
                    kept += entry.size
                    if kept > MAX_KEPT_BYTES:
                        raise BudgetExceeded(
                            f"its manifests and ignore files have more than {MAX_KEPT_BYTES} bytes"
                        )
                    texts[path] = stream.read().decode("utf-8", "replace")
        root = _manifest_folder(texts)
        manifest = parse_manifest(texts[root + MANIFEST_FILE])
        return _Contents(
            manifest, below(root, ordinals), below(root, items), below(root, texts), tuple(outside)
        )

    @contextmanager
    def _opened(self, seconds: float = MAX_SECONDS) -> Iterator[TarStream]:
        budget = Budget(self._check, self._max_entries, self._max_bytes, seconds)
        try:
            with self._folder.held() as folder:
                opened = open_file(folder, self._name)
            with os.fdopen(opened.descriptor, "rb") as file:
                yield TarStream(file, budget)
        except BudgetExceeded as exceeded:
            raise self._wrong(str(exceeded)) from exceeded
        except NoArchive as error:
            raise self._wrong("it is no whole .tar.gz file") from error
        except OSError as error:
            raise self._missing(error) from error

    def _signature(self) -> str:
        try:
            with self._folder.held() as folder:
                return stamp_of(status_of(folder, self._name), time.time_ns())
        except OSError as error:
            raise self._missing(error) from error

    def _missing(self, error: OSError) -> Failure:
        reason = (error.strerror or "it cannot be read").lower()
        return Failure(Code.IO_ERROR, f"the package {self._name} cannot be read: {reason}")

    def _wrong(self, reason: str) -> Failure:
        return invalid(f"the package {self._name} cannot be used: {reason}")


def _most_kept(path: str) -> int:
    """How large an entry may be to be kept while looking: manifests and ignore files are, no others."""
    name = path.rpartition("/")[2]
    if name == MANIFEST_FILE and path.count("/") <= 1:
        return MAX_MANIFEST_BYTES
    return MAX_IGNORE_BYTES if name in IGNORE_FILES else -1


def _manifest_folder(texts: dict[str, str]) -> str:
    """The folder of the manifest: the root, else the first of the folders in it."""
    places = sorted(path for path in texts if path.rpartition("/")[2] == MANIFEST_FILE)
    if MANIFEST_FILE in texts:
        return ""
    if not places:
        raise invalid(f"the package has no {MANIFEST_FILE} at its root or one folder down")
    return places[0].removesuffix(MANIFEST_FILE)
