"""The files of one bundle, read again only when they may have changed, and never anything outside of it.

A file is remembered by its stat signature where that can be trusted: never while the file is so young that a
second write could have left the signature as it is. Such a file is read again, and parsed again only if its
bytes or its time differ. A value and its time are of the same moment: a file that changes while it is read is
read once more. Folders are listed by descriptors that are proved to be inside; links are followed part by
part by `disk.rooted`.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from context_pack.bundles.ports import Document, Flaw
from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Reason
from context_pack_adapters.disk.atomic import TooLarge, read_descriptor
from context_pack_adapters.disk.rooted import Rooted
from context_pack_adapters.stores.bundle_files_folder import Listed, RootedFolders
from context_pack_adapters.stores.bundle_files_parsing import YAML_SUFFIXES, parse
from context_pack_adapters.stores.pack_files import Signature, trusted_signature
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


class _Seen(NamedTuple):
    """What is remembered of a file; no signature means that it must be read again."""

    signature: Signature | None
    digest: bytes
    found: Document | Flaw


class DiskBundleFiles:
    """A `BundleFiles` on disk; one thread at a time loads a bundle, any may read single documents."""

    def __init__(self, root: Path, policy: PathPolicy) -> None:
        self._rooted = Rooted(root, policy)
        self._folders = RootedFolders(root, policy)
        self._seen: dict[str, _Seen] = {}
        self._names: dict[str, list[str]] = {}

    def document(self, path: RelativePath) -> Document | Flaw:
        """One JSON or YAML file."""
        return self._read(path)

    def folder(self, path: RelativePath | None) -> Iterator[Document | Flaw] | Flaw:
        """The YAML files of a folder, by name."""
        listed = self._folders.list(path, YAML_SUFFIXES)
        if isinstance(listed, Flaw):
            return listed
        return self._files(listed, "" if path is None else f"{path.value}/")

    def _files(self, listed: list[Listed], prefix: str) -> Iterator[Document | Flaw]:
        """Each file that was listed, and each that was known and is still there.

        Some file systems leave out of a listing what is replaced while it is made.
        """
        names = {one.name: one for one in listed}
        missed = [name for name in self._names.get(prefix, ()) if name not in names]
        found: list[str] = []
        for name in sorted([*names, *missed]):
            one, seen = names.get(name), self._seen.get(prefix + name)
            if one is not None and seen is not None and one.signature == seen.signature is not None:
                file = seen.found
            else:
                file = self._read_named(prefix + name)
            if one is not None or not is_missing(file):
                found.append(name)
                yield file
        self._names[prefix] = found

    def _read_named(self, path: str) -> Document | Flaw:
        try:
            return self._read(RelativePath(path))
        except Failure as failure:
            return Flaw(path, f"its name cannot be used: {failure.message}")

    def _read(self, path: RelativePath) -> Document | Flaw:
        """Read a file; parse it unless it is the remembered one."""
        before = time.time_ns()
        opened = self._rooted.open(path)
        if isinstance(opened, Reason):
            self._seen.pop(path.value, None)
            return Flaw(path.value, _WORDS.get(opened, _WORDS[Reason.IO]), absent=opened is Reason.MISSING)
        try:
            seen = self._seen.get(path.value)
            if seen is not None and seen.signature == signature(opened.status) is not None:
                return seen.found
            data, status = _steady(opened.descriptor)
        except TooLarge:
            return Flaw(path.value, _WORDS[Reason.TOO_LARGE])
        except OSError:
            return Flaw(path.value, _WORDS[Reason.IO])
        finally:
            os.close(opened.descriptor)
        digest = hashlib.sha256(data).digest()
        found = self._known(path.value, digest, status.st_mtime_ns) or _parsed(path, data, status.st_mtime_ns)
        self._seen[path.value] = _Seen(trusted_signature(signature(status), before), digest, found)
        return found

    def _known(self, path: str, digest: bytes, modified_ns: int) -> Document | Flaw | None:
        """What is remembered, if it is still that."""
        seen = self._seen.get(path)
        if seen is None or seen.digest != digest:
            return None
        if isinstance(seen.found, Flaw) or seen.found.modified_ns == modified_ns:
            return seen.found
        return Document(path, seen.found.value, modified_ns)


def signature(status: os.stat_result) -> Signature:
    """What tells one state of a file from another."""
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)


def _steady(descriptor: int) -> tuple[bytes, os.stat_result]:
    """The bytes of a file and the state they are of."""
    data, after = b"", os.fstat(descriptor)
    for _ in range(_TRIES):
        before = after
        if before.st_size > MAX_FILE_BYTES:
            raise TooLarge
        os.lseek(descriptor, 0, os.SEEK_SET)
        data = read_descriptor(descriptor, before.st_size, MAX_FILE_BYTES)
        after = os.fstat(descriptor)
        if signature(before) == signature(after):
            break
    return data, after


def _parsed(path: RelativePath, data: bytes, modified_ns: int) -> Document | Flaw:
    try:
        return Document(path.value, parse(data, path.name), modified_ns)
    except Malformed as malformed:
        return Flaw(path.value, str(malformed))


def is_missing(found: Document | Flaw) -> bool:
    """Whether there simply is no such file."""
    return isinstance(found, Flaw) and found.absent
