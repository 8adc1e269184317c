"""Bundles on disk: looked for by every call, loaded by one call at a time.

They are named by the environment or by `bundles.yaml`, else found in the source root: the first of the three
that is there decides alone. Ids are folder names, or what `bundles.yaml` says, made unique in a fixed order.
What is wrong with an entry is a diagnostic, and the others count. `bundles.yaml` names folders inside the
source root only; the environment is of whoever runs the server and may name any. A bundle's files, and what
was made of them, are kept by folder.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from attrs import define, field

from context_pack.bundles.manifest import MANIFEST, path_inside
from context_pack.bundles.model import Diagnostic
from context_pack.bundles.ports import BundleFiles, BundlePlace, Document, Flaw, FoundBundles
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Reason
from context_pack.toolkit.call import CHECK, check_call
from context_pack_adapters.bundles.reading import DiskBundleFiles
from context_pack_adapters.files.opening import Place, scan, way_from
from context_pack_adapters.files.rooted import Rooted, landing

T = TypeVar("T")
LIST_FILE = "bundles.yaml"
WAIT_SECONDS = 0.05
"""How often a call that waits for another one looks whether it is still wanted."""


class FileBundleStore:
    """A `BundleStore` on disk; safe to share between threads.

    `given` are folders that decide alone; `seconds` is how long a bundle may take to load, also where no call
    with a deadline asks for it.
    """

    def __init__(
        self, source_root: Path, policy: PathPolicy, given: Sequence[str] = (), seconds: float = inf
    ) -> None:
        self._root = source_root
        self._policy = policy
        self._given = tuple(given)
        self._seconds = seconds
        self._source = DiskBundleFiles(source_root, policy)
        self._lock = threading.Lock()
        self._folders: dict[BundlePlace, Place] = {}
        self._kept: dict[tuple[str, Place], _KeptBundle] = {}

    def discover(self) -> FoundBundles:
        """The bundles that there are."""
        search = BundleSearch(self._root, self._policy)
        with self._lock:
            listed = self._source.document(RelativePath(LIST_FILE))
            if self._given:
                located = search.given(self._given)
            elif isinstance(listed, Flaw) and listed.absent:
                located = search.found()
            else:
                located = search.listed(listed)
            self._folders = placed(list(located))
            return FoundBundles(tuple(self._folders), tuple(search.diagnostics))

    def files(self, place: BundlePlace) -> BundleFiles:
        """The files of a bundle."""
        return self._of(place).files

    def load(self, place: BundlePlace, make: Callable[[BundleFiles, T | None], T]) -> T:
        """What `make` makes of the files and of what it made last time, one call at a time per bundle."""
        kept = self._of(place)
        with _within(self._seconds, place.id):
            while not kept.lock.acquire(timeout=WAIT_SECONDS):
                check_call()
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
            key = place.id, folder  # a bundle knows its id
            if key not in self._kept:
                self._kept[key] = _KeptBundle(DiskBundleFiles(folder, self._policy))
            return self._kept[key]


@contextmanager
def _within(seconds: float, bundle_id: str) -> Iterator[None]:
    """Let whatever asks in this block whether its call is still wanted also hear of this limit.

    A call of a client has a deadline of its own, which comes first; a command and the library have none.

    Raises:
        Failure: `timed_out`.
    """
    wanted, end = CHECK.get(), time.monotonic() + seconds

    def check() -> None:
        wanted()
        if time.monotonic() > end:
            words = f"the bundle {bundle_id} takes longer than {seconds:g} s to check"
            hint = "make its schemas simpler, or raise CONTEXT_PACK_CALL_SECONDS"
            raise Failure(Code.TIMED_OUT, f"{words}; {hint}", {"bundleId": bundle_id, "seconds": seconds})

    token = CHECK.set(check)
    try:
        yield
    finally:
        CHECK.reset(token)


@define
class _KeptBundle:
    """A bundle's files, the lock of its loading, and what was last made of them."""

    files: DiskBundleFiles
    made: Any = None
    lock: threading.Lock = field(factory=threading.Lock)


# -- where bundles are


class Located(NamedTuple):
    """Where a bundle is, and its preferred id."""

    place: Place
    name: str
    shown: str


class BundleSearch:
    """One search for bundles; `diagnostics` is what was wrong on the way."""

    def __init__(self, source_root: Path, policy: PathPolicy) -> None:
        self._root = os.path.abspath(source_root)
        self._rooted = Rooted(source_root, policy)
        self.diagnostics: list[Diagnostic] = []

    def given(self, folders: Sequence[str]) -> Iterator[Located]:
        """Bundles that the environment names; a manifest may stand for its folder."""
        for text in folders:
            folder = os.path.abspath(os.path.join(self._root, os.path.expanduser(text)))
            if os.path.basename(folder) == MANIFEST and not os.path.isdir(folder):
                folder = os.path.dirname(folder)
            if Rooted(folder, PathPolicy()).is_file(RelativePath(MANIFEST)):
                yield Located(Place(folder), os.path.basename(folder), self._shown(folder))
            else:
                self._complain(f"CONTEXT_PACK_BUNDLES names {self._shown(folder)}, which has no {MANIFEST}")

    def listed(self, listing: Document | Flaw) -> Iterator[Located]:
        """Bundles that `bundles.yaml` names."""
        if isinstance(listing, Flaw):
            self._complain(listing.reason, LIST_FILE)
            return
        entries = listing.value.get("bundles") if isinstance(listing.value, Mapping) else None
        if not isinstance(entries, list):
            self._complain("$.bundles must be a list of bundles", LIST_FILE)
            return
        for number, entry in enumerate(entries):
            located = self._entry(entry, f"$.bundles[{number}]")
            if located is not None:
                yield located

    def found(self) -> Iterator[Located]:
        """Bundles in the source root and one folder down."""
        for name in ("", *self._folders()):
            place = self._place(f"{name}/" if name else "")
            if isinstance(place, Place):
                yield Located(place, name or os.path.basename(self._root), name or ".")

    def _entry(self, entry: Any, place: str) -> Located | None:
        path = entry.get("path") if isinstance(entry, Mapping) else None
        if not isinstance(path, str) or not path.strip():
            self._complain(f"{place}.path must be the folder of a bundle", LIST_FILE)
            return None
        try:
            inside = path_inside(path)
        except Failure as failure:
            words = f"{place}.path is no folder inside the source root: {failure.message}"
            self._complain(words, LIST_FILE)
            return None
        prefix = "" if inside is None else f"{inside.value}/"
        folder = self._place(prefix)
        if isinstance(folder, Reason):
            why = "leads out of the source root" if folder is Reason.OUTSIDE else f"has no {MANIFEST}"
            self._complain(f"{place}.path {why}", LIST_FILE)
            return None
        own = entry.get("id")
        if not isinstance(own, str) or not own.strip():
            own = os.path.basename(os.path.join(self._root, prefix.rstrip("/")).rstrip("/"))
        return Located(folder, own, prefix.rstrip("/") or ".")

    def _place(self, prefix: str) -> Place | Reason:
        """The place of the bundle whose manifest is below a prefix, or why there is none that may be read."""
        try:
            manifest = RelativePath(prefix + MANIFEST)
        except Failure:
            return Reason.DENIED
        status = self._rooted.status(manifest)
        if isinstance(status, Reason):
            return status
        if not stat.S_ISREG(status.st_mode):
            return Reason.NOT_A_FILE
        try:
            return landing(self._rooted.root, manifest.parts[:-1])
        except OSError:  # it was there a moment ago
            return Reason.MISSING

    def _folders(self) -> list[str]:
        """The folders right in the source root, by name; links last, so that a folder goes by its own."""
        try:
            with self._rooted.root.held() as folder:
                names = [
                    (entry.is_symlink(), entry.name)
                    for entry in scan(folder)
                    if entry.is_symlink() or entry.is_dir(follow_symlinks=False)
                ]
        except OSError:
            self._complain("the source root cannot be listed")
            return []
        return [name for _, name in sorted(names)]

    def _shown(self, folder: str) -> str:
        """A folder as messages show it: from the source root, or by its name alone."""
        inside = way_from(self._root, folder)
        return os.path.basename(folder) if inside is None else "/".join(inside) or "."

    def _complain(self, words: str, file: str | None = None) -> None:
        self.diagnostics.append(Diagnostic("error", words, file))


def placed(located: Sequence[Located]) -> dict[BundlePlace, Place]:
    """Each folder once, under an id of its own."""
    places: dict[BundlePlace, Place] = {}
    ids: set[str] = set()
    folders: set[str] = set()
    for one in located:
        real = os.path.realpath(one.place.path)
        if real in folders:
            continue
        folders.add(real)
        name = _whole(one.name) or "bundle"
        own, number = name, 1
        while own in ids:
            number += 1
            own = f"{name}-{number}"
        ids.add(own)
        places[BundlePlace(own, _whole(one.shown))] = one.place
    return places


def _whole(name: str) -> str:
    """The file name with undecodable bytes replaced."""
    return name.encode("utf-8", "replace").decode("utf-8")
