"""The configured collections of a project on disk: `context.json`, and the sources that it names.

A path in the project's file is taken from the source root, one in the user's file from that file's folder;
`~` is the user's home. What a project may name is told by `collection_places`; a collection of the user's own
may lie anywhere. What must not be read is judged on the whole way to it, and inside it nothing leads out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen

from context_pack.documents.domain import config
from context_pack.documents.domain.config import (
    CONFIG_FILE,
    Config,
    Entry,
    changed,
    edited,
    entry_of,
    merged,
    parse_config,
)
from context_pack.documents.domain.manifest import (
    MANIFEST_FILE,
    Manifest,
    looks_like_ours,
    parse_manifest,
    plain,
)
from context_pack.documents.domain.manifest import MAX_BYTES as MAX_MANIFEST_BYTES
from context_pack.documents.domain.model import Catalogue, Collection
from context_pack.documents.domain.naming import collection_id
from context_pack.documents.domain.permits import with_permit
from context_pack.documents.domain.where import Kind, Where
from context_pack.documents.ports import Source
from context_pack.kernel.digest import sha256_hex
from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack_adapters.disk.atomic import (
    ensure_folder,
    read_whole,
    write_atomic,
)
from context_pack_adapters.disk.faults import translated
from context_pack_adapters.disk.locking import PathLock
from context_pack_adapters.disk.opening import Place, scan
from context_pack_adapters.disk.private import PrivateFolder
from context_pack_adapters.stores.collection_files import FolderSource
from context_pack_adapters.stores.collection_places import ProjectPlaces

EDIT_SECONDS = 10.0
LINK_OUT = "it is a link that leads out of the project; put a file in its place"


@frozen
class LedPolicy(PathPolicy):
    """A policy for paths below a folder: its globs also speak of the path from the source root."""

    lead: str = ""

    def denies(self, path: RelativePath) -> bool:
        """Whether a path relative to the folder must not be read."""
        return PathPolicy.denies(self, path) or PathPolicy.denies(self, RelativePath(self.lead + path.value))


class DiskCollections:
    """`CollectionSources` over `context.json` files; `user_config` is the path of the user-wide one.

    Repositories are fetched into `cache`; `allowed_roots` are folders outside of the project that it may name
    all the same; the storage `root` and `own` hold no documents, wherever they lie.
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
    ) -> None:
        self._source_root = Path(os.path.abspath(source_root))
        self._ours = [Path(os.path.abspath(folder)) for folder in (root, *own)]
        self._policy = policy
        self._repositories = cache.below("git")
        self._project_file = self._source_root / CONFIG_FILE
        self._user_file = user_config
        self._places = ProjectPlaces(self._source_root, allowed_roots)
        self._read: tuple[object, Catalogue, Mapping[str, bool]] | None = None
        self._useless: dict[str, tuple[str, str]] = {}

    def catalogue(self) -> Catalogue:
        """Every collection; read again when a file has changed."""
        return self._configured()[0]

    def allowed(self) -> Mapping[str, bool]:
        """What the user's file allows."""
        return self._configured()[1]

    def _configured(self) -> tuple[Catalogue, Mapping[str, bool]]:
        state = (_state(self._project_file), _state(self._user_file))
        if self._read is None or self._read[0] != state:
            project = self._project_config()
            user = _config(self._user_file, "the user's context.json")
            found = {
                alias: self._collection(entry, user_wide)
                for alias, (entry, user_wide) in merged(project, user).items()
            }
            name = sha256_hex(os.path.realpath(self._source_root))[:16]
            catalogue = Catalogue(found, (*project.problems, *user.problems), name)
            self._read = (state, catalogue, user.allowed)
        return self._read[1:]

    def _project_config(self) -> Config:
        if self._places.leads_out(str(self._project_file)):
            return Config(problems=(f"{CONFIG_FILE}: {LINK_OUT}",))
        return _config(self._project_file, CONFIG_FILE)

    @contextmanager
    def open(
        self, collection: Collection, fetch: bool = False, check: Callable[[], None] = lambda: None
    ) -> Iterator[Source]:
        """The source of a collection."""
        where = collection.where
        if where.kind is Kind.GIT:
            from context_pack_adapters.stores.collection_git import GitSource, GitStore

            trusted = collection.user_wide or self._places.permit(where, self.allowed())
            with translated("git"):
                self._repositories.make()
            folder = Path(self._repositories.path) / f"{collection.id}.git"
            store = GitStore(folder, where, check, trusted)
            if fetch:
                store.fetch()
            yield GitSource(store, where, self._policy)
            return
        place = Path(where.place if collection.user_wide else self._places.located(where.place))
        with translated(self._shown(place)):  # a place that cannot be looked at costs no other collection
            source = self._local(place, where, check)
        yield source

    def _local(self, place: Path, where: Where, check: Callable[[], None]) -> Source:
        """The source at a place on this disk."""
        self._check_place(place)
        if where.kind is Kind.PACKAGE and not place.is_dir():
            from context_pack_adapters.stores.collection_package import PackageSource

            return PackageSource(place, self._policy, check, useless=self._useless)
        folder, manifest = self._folder(place, where)
        with Place.of(folder, self._source_root).held() as handle:
            scan(handle)  # one that cannot be listed is not one without documents
        above = self._above(folder)
        policy = LedPolicy(self._policy.extra, above[0][1]) if above else self._policy
        return FolderSource(Place.of(folder, self._source_root), manifest, policy, above, self._own(folder))

    def resolve(self, alias: str, url: str, user_wide: bool = False) -> Collection:
        """The collection that such an entry of the configuration would be."""
        found = self._collection(entry_of(alias, {"url": url}), user_wide)
        if not user_wide and found.where.is_local:
            self._places.located(found.where.place)
        return found

    def configure(self, alias: str, entry: Mapping[str, str] | None, user_wide: bool = False) -> None:
        """Set or remove a collection in one of the files."""
        self._edit(
            self._user_file if user_wide else self._project_file, lambda text: edited(text, alias, entry)
        )

    def allow(self, address: str, credentials: bool | None) -> None:
        """Allow a repository in the user's file."""
        self._edit(
            self._user_file,
            lambda text: changed(text, lambda value: with_permit(value, address, credentials)),
        )

    def _edit(self, named: Path | None, change: Callable[[str | None], str]) -> None:
        if named is None:
            raise invalid("there is no user-wide configuration here")
        if named == self._project_file and self._places.leads_out(str(named)):
            raise Failure(Code.PERMISSION_DENIED, f"{CONFIG_FILE}: {LINK_OUT}")
        file = Path(os.path.realpath(named))  # a link stays one
        with translated(CONFIG_FILE):
            ensure_folder(str(file.parent))
            with PathLock(str(file.parent / f".{CONFIG_FILE}.lock"), EDIT_SECONDS) as lock:
                text, mode = _text(file)
                write_atomic(str(file.parent), file.name, change(text).encode("utf-8"), mode)
                lock.retire()

    def _collection(self, entry: Entry, user_wide: bool) -> Collection:
        """The configured entry with its place made absolute and its id."""
        where = entry.where
        if where.kind is not Kind.GIT:
            where = Where(where.kind, self._resolved(where.place, user_wide))
        spelled = "\n".join((where.place, where.ref, where.manifest))
        name = collection_id(os.path.realpath(self._source_root), where.kind, spelled, where.name)
        return Collection(entry.alias, name, where, entry.description, user_wide)

    def _resolved(self, place: str, user_wide: bool) -> str:
        base = self._user_file.parent if user_wide and self._user_file is not None else self._source_root
        return os.path.normpath(os.path.join(base, os.path.expanduser(place)))

    def _check_place(self, place: Path) -> None:
        """Refuse a place that must not be read, by every name on the way to where it really is."""
        real, root = os.path.realpath(place), os.path.realpath(self._source_root)
        inside = os.path.join(root, "")
        parts = real.removeprefix(inside) if real.startswith(inside) else real
        for way in (parts, str(place) if parts == real else ""):
            names = [name for name in way.split(os.sep) if name]
            if real != root and names and any(map(self._policy.denies_name, names)):
                raise _denied()
        if parts != real and real != root and self._policy.denies(RelativePath(parts.replace(os.sep, "/"))):
            raise _denied()

    def _folder(self, place: Path, where: Where) -> tuple[Path, Manifest]:
        """The folder that the documents are in, and what its manifest says."""
        if where.kind is Kind.MANIFEST and not place.is_dir():
            return place.parent, parse_manifest(self._manifest_text(place))
        if not place.is_dir():
            raise Failure(Code.NOT_FOUND, f"there is no folder {self._shown(place)}")
        inner = place / MANIFEST_FILE
        if inner.is_file():
            text = self._manifest_text(inner)
            if looks_like_ours(text):
                return place, parse_manifest(text)
        return place, plain(where.name)

    def _manifest_text(self, file: Path) -> str:
        try:
            data, _ = read_whole(str(file), MAX_MANIFEST_BYTES)
            return data.decode("utf-8").removeprefix("\ufeff")
        except FileNotFoundError as error:
            raise Failure(Code.NOT_FOUND, f"there is no {self._shown(file)}") from error
        except (OSError, UnicodeDecodeError) as error:
            raise Failure(Code.IO_ERROR, f"{self._shown(file)} cannot be read as text") from error

    def _shown(self, place: Path) -> str:
        """A place as callers may see it: relative to the source root, or by its last names."""
        if place.is_relative_to(self._source_root):
            return f"./{place.relative_to(self._source_root).as_posix()}"
        return f"…/{place.name}"

    def _above(self, folder: Path) -> list[tuple[Place, str]]:
        """The folders from the source root down to the collection's, with the way from each."""
        if folder == self._source_root or not folder.is_relative_to(self._source_root):
            return []
        names = folder.relative_to(self._source_root).parts
        return [
            (Place(str(self._source_root), names[:depth]), "/".join(names[depth:]) + "/")
            for depth in range(len(names))
        ]

    def _own(self, folder: Path) -> list[str]:
        """Our own folders, where they lie inside the collection: they hold no documents of the user."""
        inside = (own for own in self._ours if own != folder and own.is_relative_to(folder))
        return [own.relative_to(folder).as_posix() for own in inside]


def _denied() -> Failure:
    return Failure(Code.PERMISSION_DENIED, "the path policy denies the place of the collection")


def _state(file: Path | None) -> object:
    if file is None:
        return None
    try:
        status = os.stat(file)
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)


def _text(file: Path) -> tuple[str | None, int | None]:
    """The text of a file and its mode, or nothing where it is not there."""
    try:
        data, status = read_whole(os.path.realpath(file), config.MAX_BYTES)
    except FileNotFoundError:
        return None, None
    return data.decode("utf-8", "replace"), status.st_mode


def _config(file: Path | None, name: str) -> Config:
    if file is None:
        return Config()
    try:
        text, _ = _text(file)
    except OSError as error:
        return Config(problems=(f"{name}: it cannot be read ({error.strerror or 'unknown'})",))
    return Config() if text is None else parse_config(text, name)
