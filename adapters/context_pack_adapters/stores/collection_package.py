"""A `.tar.gz` package as a source of documents: streamed, never unpacked.

A package is hostile until read: names are confined, links, devices and sparse files are never followed or
read, and entries, bytes and headers are bounded, so that a small file cannot become a large one in memory.
The manifest stands at the root or one folder down; its folder is the root of the documents. Reading takes
two passes, because the manifest may come after the files it speaks of.
"""

from __future__ import annotations

import gzip
import os
import tarfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from attrs import frozen

from context_pack.documents.domain.manifest import MANIFEST_FILE, Manifest, parse_manifest
from context_pack.documents.domain.manifest import MAX_BYTES as MAX_MANIFEST_BYTES
from context_pack.documents.domain.model import Failed, Survey, Text
from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack_adapters.disk.ignore import IGNORE_FILES, MAX_IGNORE_BYTES
from context_pack_adapters.stores.collection_reading import (
    MAX_DOCUMENT_BYTES,
    document,
    is_young,
    now_ns,
    ruled,
    stamp_of,
)
from context_pack_adapters.stores.collection_tree import Item, Tree

MAX_ENTRIES = 100_000
MAX_TOTAL_BYTES = 1024 * 1024 * 1024
MAX_HEADER_BYTES = 1024 * 1024
FORGET_EVERY = 1000
_LONG_HEADERS = frozenset(
    {
        tarfile.XHDTYPE,
        tarfile.XGLTYPE,
        tarfile.SOLARIS_XHDTYPE,
        tarfile.GNUTYPE_LONGNAME,
        tarfile.GNUTYPE_LONGLINK,
    }
)
_PLAIN = frozenset({tarfile.REGTYPE, tarfile.AREGTYPE})


@frozen
class _Contents:
    """What one pass over a package found."""

    root: str
    manifest: Manifest
    ordinals: dict[str, int]
    """Where the last entry of each path stands; later entries win, as when unpacking."""
    items: dict[str, Item]
    texts: dict[str, str]
    outside: tuple[Failed, ...]


class PackageSource:
    """A `Source` in a package of at most so many entries and bytes.

    `useless` remembers, from one source to the next, the packages that cannot be used, by their signature.
    """

    def __init__(
        self,
        package: Path,
        policy: PathPolicy,
        check: Callable[[], None] = lambda: None,
        max_entries: int = MAX_ENTRIES,
        max_bytes: int = MAX_TOTAL_BYTES,
        useless: dict[str, tuple[str, str]] | None = None,
    ) -> None:
        self._package = package
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
        tree = Tree(found.items, found.texts.get, self._policy)
        survey = tree.survey(found.manifest, signature, explain)
        return Survey(survey.about, survey.files, (*found.outside, *survey.failed), signature, survey.skipped)

    def read(self, documents: Sequence[str]) -> Iterator[Text | Failed]:
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
        with self._opened() as archive:
            for ordinal, member in self._members(archive):
                path = wanted.get(ordinal)
                if path is None:
                    continue
                data = _bytes(archive, member, MAX_DOCUMENT_BYTES)
                yield document(path, data, signature, expected.get(path))

    def _contents(self, signature: str) -> _Contents:
        if self._seen is None or self._seen[0] != signature:
            self._seen = (signature, self._looked(signature))
        return self._seen[1]

    def _looked(self, signature: str) -> _Contents:
        """One pass, unless this very file was found useless before: a bomb takes seconds each time."""
        known = self._useless.get(str(self._package))
        if known is not None and known[0] == signature and not is_young(signature):
            raise invalid(known[1])
        try:
            return self._look(signature)
        except Failure as failure:
            if failure.code is Code.INVALID_DATA:
                self._useless[str(self._package)] = (signature, failure.message)
            raise

    def _look(self, signature: str) -> _Contents:
        """One pass over every header."""
        items: dict[str, Item] = {}
        ordinals: dict[str, int] = {}
        texts: dict[str, str] = {}
        outside: list[Failed] = []
        with self._opened() as archive:
            for ordinal, member in self._members(archive):
                if member.isdir():
                    continue
                try:
                    path = RelativePath.lenient(member.name).value
                except Failure as failure:
                    outside.append(Failed(member.name[:200], f"outside the package: {failure.message}"))
                    continue
                items[path] = Item(signature, member.size, _not_plain(member))
                ordinals[path] = ordinal
                texts.pop(path, None)
                if items[path].problem is None and (most := _kept(path)) and member.size <= most:
                    texts[path] = _bytes(archive, member, most).decode("utf-8", "replace")
        root = _manifest_folder(texts)
        manifest = parse_manifest(texts[root + MANIFEST_FILE])
        return _Contents(
            root, manifest, _below(root, ordinals), _below(root, items), _below(root, texts), tuple(outside)
        )

    def _members(self, archive: tarfile.TarFile) -> Iterator[tuple[int, tarfile.TarInfo]]:
        """Every entry with its place; the archive is kept from remembering all of them."""
        declared = 0
        for ordinal, member in enumerate(archive):
            declared += member.size
            if declared > self._max_bytes:  # seen before a byte of it is unpacked
                raise _Bomb(f"unpacked it has more than {self._max_bytes} bytes")
            if ordinal >= self._max_entries:
                raise self._wrong(f"it has more than {self._max_entries} entries")
            if ordinal % FORGET_EVERY == 0:
                self._check()
            cast(Any, archive).members.clear()
            yield ordinal, member

    @contextmanager
    def _opened(self) -> Iterator[tarfile.TarFile]:
        try:
            with (
                open(self._package, "rb") as file,
                gzip.GzipFile(fileobj=file) as packed,
                tarfile.open(
                    fileobj=cast(IO[bytes], _Bounded(packed, self._max_bytes)),
                    mode="r|",
                    tarinfo=_CautiousMember,
                ) as archive,
            ):
                yield archive
        except _Bomb as bomb:
            raise self._wrong(str(bomb)) from bomb
        except (tarfile.TarError, zlib.error, EOFError, gzip.BadGzipFile) as error:
            raise self._wrong("it is no whole .tar.gz file") from error
        except OSError as error:
            raise self._missing(error) from error

    def _signature(self) -> str:
        try:
            return stamp_of(os.stat(self._package), now_ns())
        except OSError as error:
            raise self._missing(error) from error

    def _missing(self, error: OSError) -> Failure:
        reason = (error.strerror or "it cannot be read").lower()
        return Failure(Code.IO_ERROR, f"the package {self._package.name} cannot be read: {reason}")

    def _wrong(self, reason: str) -> Failure:
        return invalid(f"the package {self._package.name} cannot be used: {reason}")


class _Bomb(Exception):
    """More than a package may hold."""


class _Bounded:
    """A stream that ends in an error where it is longer than any package may be."""

    def __init__(self, stream: gzip.GzipFile, most: int) -> None:
        self._stream = stream
        self._most = self._left = most

    def read(self, size: int) -> bytes:
        """The next bytes."""
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise _Bomb(f"unpacked it has more than {self._most} bytes")
        return data


class _CautiousMember(tarfile.TarInfo):
    """An entry whose long headers are bounded: the library would read any length of them into memory."""

    def _proc_member(self, archive: tarfile.TarFile) -> Any:
        if self.type in _LONG_HEADERS and self.size > MAX_HEADER_BYTES:
            raise _Bomb("an entry has a header that is too long")
        return super()._proc_member(archive)  # type: ignore[misc]


def _not_plain(member: tarfile.TarInfo) -> str | None:
    """Why an entry is no plain file."""
    if member.type in _PLAIN and getattr(member, "sparse", None) is None:
        return None
    if member.issym() or member.islnk():
        return "a link in a package is not followed"
    return "it is not a regular file"


def _bytes(archive: tarfile.TarFile, member: tarfile.TarInfo, most: int) -> bytes:
    """The content of an entry whose size was checked."""
    stream = archive.extractfile(member)
    return b"" if stream is None else stream.read(min(member.size, most))


def _kept(path: str) -> int:
    """How much of an entry is kept while looking: manifests and ignore files are, up to their bounds."""
    name = path.rpartition("/")[2]
    if name == MANIFEST_FILE and path.count("/") <= 1:
        return MAX_MANIFEST_BYTES
    return MAX_IGNORE_BYTES if name in IGNORE_FILES else 0


def _manifest_folder(texts: dict[str, str]) -> str:
    """The folder of the manifest: the root, else the first of the folders in it."""
    places = sorted(path for path in texts if path.rpartition("/")[2] == MANIFEST_FILE)
    if MANIFEST_FILE in texts:
        return ""
    if not places:
        raise invalid(f"the package has no {MANIFEST_FILE} at its root or one folder down")
    return places[0].removesuffix(MANIFEST_FILE)


def _below(root: str, found: dict[str, Any]) -> dict[str, Any]:
    return {path.removeprefix(root): value for path, value in found.items() if path.startswith(root)}
