"""The files of one bundle, read again only when they may have changed, and never anything outside of it.

A file is remembered by its stat signature where that can be trusted: never while the file is so young that a
second write could have left the signature as it is. Such a file is read again, and parsed again only if its
bytes or its time differ. A value and its time are of the same moment: a file that changes while it is read is
read once more. Files and folders are opened through `disk.rooted`.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from context_pack.bundles.ports import Document, Flaw
from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Reason
from context_pack_adapters.disk.opening import AnyPlace, Opened, TooLarge, read_opened, scan
from context_pack_adapters.disk.rooted import Rooted
from context_pack_adapters.disk.signature import Signature, settled_signature, signature
from context_pack_adapters.stores.bundle_files_parsing import YAML_SUFFIXES, parse
from context_pack_adapters.stores.yaml_core import Malformed

MAX_FILE_BYTES = 8 * 1024 * 1024
_TRIES = 5
"""How often a file that keeps changing is read before it is taken as it is."""

_WORDS = {
    Reason.MISSING: "there is no such file",
    Reason.OUTSIDE: "it leads out of the bundle and is not read",
    Reason.DENIED: "its name is on the list of what is never read",
    Reason.NOT_A_FILE: "it is not a regular file",
    Reason.TOO_LARGE: f"it is larger than {MAX_FILE_BYTES // 1024 // 1024} MiB",
    Reason.IO: "it cannot be read; check its permissions",
}


NO_FOLDER = "there is no such folder, so the type has no entities"
OUTSIDE = "the folder leads out of the bundle and is not read"


class _SeenBundleFile(NamedTuple):
    """The cached state of a file; without a signature it must be read again."""

    signature: Signature | None
    digest: bytes
    found: Document | Flaw


class DiskBundleFiles:
    """A `BundleFiles` on disk; one thread at a time loads a bundle, any may read single documents."""

    def __init__(self, root: AnyPlace, policy: PathPolicy) -> None:
        self._rooted = Rooted(root, policy)
        self._seen: dict[str, _SeenBundleFile] = {}
        self._names: dict[str, list[str]] = {}

    def folder(self, path: RelativePath | None) -> Iterator[Document | Flaw] | Flaw:
        """The YAML files of a folder, by name."""
        listed = self._listed(path)
        if isinstance(listed, Flaw):
            return listed
        return self._files(listed, "" if path is None else f"{path.value}/")

    def _listed(self, path: RelativePath | None) -> dict[str, Signature | None] | Flaw:
        """The YAML files of a folder with their signatures; a link has none."""
        with self._rooted.folder(path) as folder:
            if isinstance(folder, Reason):
                return self._no_folder(path, folder)
            try:
                return {
                    entry.name: _signed(entry) for entry in scan(folder) if entry.name.endswith(YAML_SUFFIXES)
                }
            except OSError:
                return self._no_folder(path, Reason.IO)

    def _no_folder(self, path: RelativePath | None, reason: Reason) -> Flaw:
        shown = "." if path is None else path.value
        if reason is Reason.MISSING:
            if path is not None and not isinstance(self._rooted.status(path), Reason):
                return Flaw(shown, "it is not a folder")
            return Flaw(shown, NO_FOLDER, "warning", absent=True)
        if reason is Reason.OUTSIDE:
            return Flaw(shown, OUTSIDE)
        if reason is Reason.DENIED:
            return Flaw(shown, _WORDS[Reason.DENIED])
        return Flaw(shown, "the folder cannot be read; check its permissions")

    def _files(self, names: Mapping[str, Signature | None], prefix: str) -> Iterator[Document | Flaw]:
        """Each file that was listed, and each that was known and is still there.

        Some file systems leave out of a listing what is replaced while it is made.
        """
        missed = [name for name in self._names.get(prefix, ()) if name not in names]
        found: list[str] = []
        for name in sorted([*names, *missed]):
            seen = self._seen.get(prefix + name)
            if seen is not None and names.get(name) == seen.signature is not None:
                file = seen.found
            else:
                file = self._read_named(prefix + name)
            if name in names or not is_missing(file):
                found.append(name)
                yield file
        self._names[prefix] = found

    def _read_named(self, path: str) -> Document | Flaw:
        try:
            return self.document(RelativePath(path))
        except Failure as failure:
            return Flaw(path, f"its name cannot be used: {failure.message}")

    def document(self, path: RelativePath) -> Document | Flaw:
        """One JSON or YAML file; it is parsed unless it is the remembered one."""
        before = time.time_ns()
        opened = self._rooted.open(path)
        if isinstance(opened, Reason):
            self._seen.pop(path.value, None)
            return Flaw(path.value, _WORDS.get(opened, _WORDS[Reason.IO]), absent=opened is Reason.MISSING)
        try:
            seen = self._seen.get(path.value)
            if seen is not None and seen.signature == signature(opened.status) is not None:
                return seen.found
            data, status = _steady(opened)
        except TooLarge:
            return Flaw(path.value, _WORDS[Reason.TOO_LARGE])
        except OSError:
            return Flaw(path.value, _WORDS[Reason.IO])
        finally:
            os.close(opened.descriptor)
        digest = hashlib.sha256(data).digest()
        found = self._known(path.value, digest, status.st_mtime_ns) or _parsed(path, data, status.st_mtime_ns)
        self._seen[path.value] = _SeenBundleFile(settled_signature(status, before), digest, found)
        return found

    def _known(self, path: str, digest: bytes, modified_ns: int) -> Document | Flaw | None:
        """The cached file, if its signature is unchanged."""
        seen = self._seen.get(path)
        if seen is None or seen.digest != digest:
            return None
        if isinstance(seen.found, Flaw) or seen.found.modified_ns == modified_ns:
            return seen.found
        return Document(path, seen.found.value, modified_ns)


def _signed(entry: os.DirEntry[str]) -> Signature | None:
    with suppress(OSError):
        if entry.is_file(follow_symlinks=False):
            return signature(entry.stat(follow_symlinks=False))
    return None


def _steady(opened: Opened) -> tuple[bytes, os.stat_result]:
    """The bytes of a file and the state they are of."""
    data = b""
    for _ in range(_TRIES):
        os.lseek(opened.descriptor, 0, os.SEEK_SET)
        data = read_opened(opened, MAX_FILE_BYTES)
        before, opened = opened, Opened(opened.descriptor, os.fstat(opened.descriptor))
        if signature(before.status) == signature(opened.status):
            break
    return data, opened.status


def _parsed(path: RelativePath, data: bytes, modified_ns: int) -> Document | Flaw:
    try:
        return Document(path.value, parse(data, path.name), modified_ns)
    except Malformed as malformed:
        return Flaw(path.value, str(malformed))


def is_missing(found: Document | Flaw) -> bool:
    """Whether there simply is no such file."""
    return isinstance(found, Flaw) and found.absent
