"""Collections in a mapping of path and content.

The mapping is looked at on every call, `context.json` in it included, so that changing it edits the sources.
Folders and manifests work as on disk; repositories are not there. How the lines of an ignore
file judge a path is told from outside.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from threading import Lock

from attrs import evolve

from context_pack.documents.config import (
    CONFIG_FILE,
    Config,
    ConfiguredCollection,
    PlaceKind,
    edited,
    entry_of,
    merged,
    parse_config,
)
from context_pack.documents.manifest import (
    MANIFEST_FILE,
    DocumentManifest,
    TreeItem,
    document,
    failure,
    manifest_of,
    parse_manifest,
    surveyed,
)
from context_pack.documents.model import Catalogue, Collection, DocumentText, Failed, Survey, collection_id
from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.paths import PathPolicy
from context_pack.kernel.ports import Reason
from context_pack.kernel.text import sha256_hex

PROJECT = "memory"
Read = Callable[[str], str | None]
"""The text at a path; None where there is none."""
Ignoring = Callable[[Read], Callable[[str, str], bool]]
"""Whether the ignore files that can be read hide a path, given the folder that its collection is in."""


def ignoring_nothing(_: Read) -> Callable[[str, str], bool]:
    """No ignore files count."""
    return lambda _, __: False


class MemoryCollections:
    """`CollectionSources` in a mapping."""

    project = PROJECT

    def __init__(
        self,
        files: Mapping[str, str | bytes],
        policy: PathPolicy | None = None,
        ignoring: Ignoring = ignoring_nothing,
    ) -> None:
        self._files = files
        self._policy = policy or PathPolicy()
        self._ignoring = ignoring

    def catalogue(self) -> Catalogue:
        """The collections that `context.json` in the mapping configures."""
        data = self._files.get(CONFIG_FILE)
        config = Config() if data is None else parse_config(_bytes(data).decode("utf-8", "replace"))
        found = {alias: self._collection(entry) for alias, (entry, _) in merged(config, Config()).items()}
        return Catalogue(found, config.problems)

    def open(
        self, collection: Collection, fetch: bool = False, check: Callable[[], None] = lambda: None
    ) -> MemorySource:
        """The source of a collection."""
        check()
        where = collection.where
        if where.kind is PlaceKind.GIT:
            raise Failure(Code.NOT_FOUND, f"a {where.kind} cannot be read in memory{', nor fetched' * fetch}")
        folder = _folder(where.place)
        if where.kind is PlaceKind.MANIFEST:
            folder, manifest = folder.rpartition("/")[0], parse_manifest(self._text(folder))
        else:
            inner = f"{folder}/{MANIFEST_FILE}".lstrip("/")
            manifest = manifest_of(self._text(inner) if inner in self._files else None, where.name)
        prefix = f"{folder}/" if folder else ""
        if not any(path.startswith(prefix) for path in self._files):
            raise Failure(Code.NOT_FOUND, f"there is no folder ./{folder}")
        return MemorySource(self._files, prefix, manifest, self._policy, self._ignoring)

    def resolve(self, alias: str, url: str, user_wide: bool = False) -> Collection:
        """The collection that such an entry of the configuration would be."""
        if user_wide:
            raise invalid("there is no such configuration in memory")
        return self._collection(entry_of(alias, {"url": url}))

    def configure(self, alias: str, entry: Mapping[str, str] | None, user_wide: bool = False) -> None:
        """Set or remove a collection in the mapping's `context.json`."""
        if user_wide or not isinstance(self._files, MutableMapping):
            raise invalid("there is no such configuration in memory")
        before = self._files.get(CONFIG_FILE)
        text = None if before is None else _bytes(before).decode("utf-8", "replace")
        self._files[CONFIG_FILE] = edited(text, alias, entry)

    def allow(self, address: str, credentials: bool | None) -> None:
        """There is no user's configuration in memory."""
        raise invalid("there is no such configuration in memory")

    def _collection(self, entry: ConfiguredCollection) -> Collection:
        where = entry.where
        name = collection_id(PROJECT, where.kind, _folder(where.place), where.name)
        return Collection(entry.alias, name, where, entry.description)

    def _text(self, path: str) -> str:
        data = self._files.get(path)
        if data is None:
            raise Failure(Code.NOT_FOUND, f"there is no ./{path}")
        return _bytes(data).decode("utf-8", "replace")


class MemorySource:
    """A `Source` below one prefix of a mapping."""

    def __init__(
        self,
        files: Mapping[str, str | bytes],
        prefix: str,
        manifest: DocumentManifest,
        policy: PathPolicy,
        ignoring: Ignoring,
    ) -> None:
        self._files, self._prefix, self._manifest = files, prefix, manifest
        self._policy, self._ignoring = policy, ignoring

    def survey(self, since: str = "", explain: bool = False) -> Survey | None:
        """The documents below the prefix now."""
        items = {
            path.removeprefix(self._prefix): TreeItem(_stamp(data), len(data))
            for path, data in ((path, _bytes(content)) for path, content in self._files.items())
            if path.startswith(self._prefix)
        }
        policy = evolve(self._policy, lead=self._prefix)
        prefix, ignores = self._prefix, self._ignoring(self._ignore_file)
        hides = lambda path: ignores(prefix + path, prefix)  # noqa: E731
        return surveyed(items, hides, policy, self._manifest, explain=explain)

    def read(self, documents: Sequence[str]) -> Iterator[DocumentText | Failed]:
        """The contents of documents."""
        expected = self._manifest.files or {}
        for path in documents:
            content = self._files.get(self._prefix + path)
            if content is None:
                yield failure(path, Reason.MISSING)
            else:
                data = _bytes(content)
                yield document(path, data, _stamp(data), expected.get(path))

    def _ignore_file(self, path: str) -> str | None:
        data = self._files.get(path)
        return None if data is None else _bytes(data).decode("utf-8", "surrogateescape")


def _folder(place: str) -> str:
    """A place in the mapping: without `./` and slashes at its ends."""
    return "/".join(part for part in place.split("/") if part not in ("", "."))


def _bytes(content: str | bytes) -> bytes:
    return content.encode("utf-8") if isinstance(content, str) else content


def _stamp(data: bytes) -> str:
    return sha256_hex(data)[:32]


class MemoryLocks:
    """`CollectionLocks` between the threads of one process: in memory there are no others."""

    def __init__(self) -> None:
        self._locks = defaultdict[str, Lock](Lock)

    def in_process(self, name: str) -> Lock:
        """Held by one thread at a time."""
        return self._locks[name]

    @contextmanager
    def across_processes(self, name: str, check: Callable[[], None]) -> Iterator[None]:
        """Held by one thread."""
        check()
        with self._locks[f"across processes {name}"]:
            yield
