"""The configured collections of a project on disk: `context.json`, and the sources that it names.

A path in the project's file is taken from the source root, one in the user's file from that file's folder;
`~` is the user's home. What a project may name, `collections.config` tells; a collection of the user's own
may lie anywhere. What must not be read is judged on the whole way to it, and inside it nothing leads out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from attrs import evolve

from context_pack.documents.config import CONFIG_FILE, check_entry, set_collection, set_permit
from context_pack.documents.manifest import (
    MANIFEST_FILE,
    DocumentManifest,
    manifest_of,
    parse_manifest,
)
from context_pack.documents.manifest import MAX_BYTES as MAX_MANIFEST_BYTES
from context_pack.documents.model import Catalogue, Collection, SourceDescription
from context_pack.documents.places import PlaceKind, SourceAddress, without_login
from context_pack.documents.ports import CollectionSource
from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Reason, decode
from context_pack.kernel.text import sha256_hex
from context_pack_adapters.collections.config import ConfigFile, ProjectPlaces
from context_pack_adapters.collections.folders import FolderSource
from context_pack_adapters.collections.git import GitSource, GitStore
from context_pack_adapters.files.faults import io_failure, translated
from context_pack_adapters.files.folder import PrivateFolder
from context_pack_adapters.files.opening import Place, scan
from context_pack_adapters.files.rooted import Rooted
from context_pack_adapters.files.walking import ways_to

ID_DIGITS = 12
LONGEST_WAIT = 3600.0
"""Seconds that a sync waits for another one of the same collection."""
LOGIN_IN_SHARED_FILE = (
    "the address holds a user or a password, and context.json is shared: leave it out and let git use yours "
    "(context-pack docs allow URL --with-credentials), or add it for yourself alone (--user)"
)


class SharedDocuments(CollectionSource, Protocol):
    """A collection whose documents a team shares."""

    def publish(self, source: CollectionSource) -> None:
        """Make its documents those of a source."""


class DiskCollections:
    """`CollectionSources` over `context.json` files; `user_config` is the path of the user-wide one.

    Repositories are fetched into `cache`; `allowed_roots` are folders outside of the project that it may name
    all the same; the storage `root` and `own` hold no documents, wherever they lie. `shared` opens the team's
    copy of a collection of the project that says so.
    """

    def __init__(
        self,
        source_root: Path,
        root: Path,
        policy: PathPolicy,
        cache: PrivateFolder,
        user_config: Path | None = None,
        allowed_roots: Sequence[str] = (),
        own: Sequence[Path] = (),
        shared: Callable[[str], SharedDocuments] | None = None,
    ) -> None:
        self._source_root = os.path.abspath(source_root)
        self.project = sha256_hex(os.path.realpath(source_root))[:16]
        self._ours = (root, *own)
        self._policy = policy
        self._shared = shared
        self._cache, self._repositories = cache, cache.below("git")
        self._project_file = ConfigFile(os.path.join(self._source_root, CONFIG_FILE))
        self._user_file: ConfigFile | None = None
        if user_config is not None:
            self._user_file = ConfigFile(user_config, "the user's context.json", own=True)
        self._places = ProjectPlaces(self._source_root, allowed_roots)

    def catalogue(self) -> Catalogue:
        """Every collection, as the files are now; the project's entries win."""
        project = self._project_file.read(partial(self._collection, False))
        user = self._user_file.read(partial(self._collection, True)) if self._user_file else Catalogue()
        others = {alias: each for alias, each in user.collections.items() if alias not in project.collections}
        problems = (*project.problems, *user.problems)
        return Catalogue({**project.collections, **others}, problems, user.allowed)

    def open(
        self, collection: Collection, fetch: bool = False, check: Callable[[], None] = lambda: None
    ) -> CollectionSource:
        """The source of a collection."""
        if not collection.shared or self._shared is None:
            return self._opened(collection, fetch, check)
        shared = self._shared(collection.alias)
        if fetch:
            try:
                source = self._opened(collection, fetch, check)
            except Failure as failure:
                if failure.code is not Code.NOT_FOUND:
                    raise
            else:  # whoever has the files shares them
                shared.publish(source)
        return shared

    def _opened(self, collection: Collection, fetch: bool, check: Callable[[], None]) -> CollectionSource:
        """The source that the configuration names."""
        where = collection.where
        if where.kind is PlaceKind.GIT:
            trusted = collection.user_wide or self._places.permit(where, self.catalogue().allowed)
            with translated("git"):
                self._repositories.make()
            folder = Path(self._repositories.path) / f"{collection.id}.git"
            store = GitStore(folder, where, check, trusted)
            if fetch:
                store.fetch()
            return GitSource(store, where, self._policy)
        place = self._place(where.place, collection.user_wide)
        try:
            return self._local(place, where)
        except OSError as error:  # a place that cannot be looked at costs no other collection
            raise io_failure(error, self._shown(place)) from error

    def _place(self, place: str, user_wide: bool) -> Place:
        """Where a configured place is; what the user's own file names elsewhere may be a link.

        Raises:
            Failure: `permission_denied` by a name on the way to it, or because the project may not name it.
        """
        folder = Place.of(place, self._source_root) if user_wide else self._places.located(place)
        is_inside = folder.top == self._source_root
        if user_wide and not is_inside:
            folder = Place(os.path.realpath(place))
        names = folder.inside if is_inside else [name for name in folder.path.split(os.sep) if name]
        is_denied = any(map(self._policy.denies_name, names))
        if is_denied or (is_inside and names and self._policy.denies(RelativePath("/".join(names)), True)):
            raise Failure(Code.PERMISSION_DENIED, "the path policy denies the place of the collection")
        return folder

    def _local(self, place: Place, where: SourceAddress) -> CollectionSource:
        """The source at a place on this disk; a folder that cannot be listed is not one without documents."""
        if _is_listed(place):
            return self._folder(place, manifest_of(self._manifest_text(place, MANIFEST_FILE), where.name))
        folder, name = place.split()
        manifest: DocumentManifest | None = None
        if where.kind is not PlaceKind.MANIFEST:
            if Rooted(folder, self._policy).is_file(RelativePath(name)):
                manifest = DocumentManifest(SourceDescription(name), files=frozenset({name}))
        elif (text := self._manifest_text(folder, name)) is not None:
            manifest = parse_manifest(text)
        if manifest is None:
            raise Failure(Code.NOT_FOUND, f"there is no {self._shown(place)}")
        _is_listed(folder)
        return self._folder(folder, manifest)

    def _folder(self, folder: Place, manifest: DocumentManifest) -> CollectionSource:
        """The documents in a folder, but for ours where we keep files in it."""
        names = folder.inside if folder.top == self._source_root else ()
        above = [
            (Place(self._source_root, names[:depth]), "/".join(names[depth:]) + "/")
            for depth in range(len(names))
        ]
        policy = self._policy
        if above and policy.paths:
            policy = evolve(policy, lead=above[0][1])
        return FolderSource(folder, manifest, policy, above, ways_to(folder, self._ours))

    @contextmanager
    def locked(self, collection: str, check: Callable[[], None]) -> Iterator[None]:
        """The lock of a collection's sync between processes; others ask `check` while they wait."""
        file = f"{collection}.lock"
        lock = self._cache.lock(file, LONGEST_WAIT)
        with translated(file):
            self._cache.make()
            lock.acquire(check)
        try:
            yield
        finally:
            lock.release()

    def resolve(self, alias: str, url: str, user_wide: bool = False) -> Collection:
        """The collection that such an entry of the configuration would be.

        Raises:
            Failure: `invalid_data` for an address with a login in a file that is shared;
                `permission_denied` for a place that a project may not name.
        """
        collection = self._collection(user_wide, alias, {"url": url})
        where = collection.where
        if user_wide:
            return collection
        if without_login(url) != url:
            raise invalid(LOGIN_IN_SHARED_FILE, "url")
        if where.is_local:
            self._places.located(where.place)
        elif where.place.startswith("file:"):
            self._places.permit(where, {})
        return collection

    def configure(self, alias: str, entry: Mapping[str, Any] | None, user_wide: bool = False) -> None:
        """Set or remove a collection in one of the files."""
        file = self._own_file() if user_wide else self._project_file
        file.edit(lambda value: set_collection(value, alias, entry))

    def allow(self, address: str, credentials: bool | None) -> None:
        """Allow a repository in the user's file."""
        self._own_file().edit(lambda value: set_permit(value, address, credentials))

    def _own_file(self) -> ConfigFile:
        if self._user_file is None:
            raise invalid("there is no user-wide configuration here")
        return self._user_file

    def _collection(self, user_wide: bool, alias: str, body: Any) -> Collection:
        """The collection that an entry of a file configures, its place made absolute, with its id."""
        where = check_entry(alias, body)
        if where.kind is not PlaceKind.GIT:
            where = SourceAddress(where.kind, self._resolved(where.place, user_wide))
        # The same id while neither project nor source moves, whatever alias or spelling of the place is used.
        project = os.path.realpath(self._source_root)
        digest = sha256_hex("\n".join((project, where.kind, where.place, where.ref, where.manifest)))
        word = re.sub(r"[^a-z0-9]+", "-", where.name.lower()).strip("-")[:32] or "documents"
        shared = body.get("shared", False) and self._shared is not None and not user_wide
        name = f"{word}-{digest[:ID_DIGITS]}"
        return Collection(alias, name, where, body.get("description"), user_wide, shared)

    def _resolved(self, place: str, user_wide: bool) -> str:
        base = self._source_root
        if user_wide and self._user_file is not None:
            base = os.path.dirname(self._user_file.path)
        return os.path.normpath(os.path.join(base, os.path.expanduser(place)))

    def _manifest_text(self, folder: Place, name: str) -> str | None:
        """The text of a manifest; None if there is no such file."""
        file = Rooted(folder, self._policy).read(RelativePath(name), MAX_MANIFEST_BYTES)
        if file in (Reason.MISSING, Reason.NOT_A_FILE):
            return None
        text = file if isinstance(file, Reason) else decode(file[0])
        if isinstance(text, Reason):
            raise Failure(Code.IO_ERROR, f"{self._shown(folder.below(name))} cannot be read as text")
        return text

    def _shown(self, place: Place) -> str:
        """A place as callers may see it: relative to the source root, or by its last names."""
        if place.top == self._source_root:
            return f"./{'/'.join(place.inside)}"
        return f"…/{os.path.basename(place.path)}"


def _is_listed(place: Place) -> bool:
    """Whether there is a folder, which can then be listed.

    Raises:
        OSError: it cannot, which must not look like a folder without documents.
    """
    try:
        with place.held() as folder:
            scan(folder)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
