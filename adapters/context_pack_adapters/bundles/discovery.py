"""Where bundles are: named by the environment or by `bundles.yaml`, else found in the source root.

The first of the three that is there decides alone. Ids are folder names, or what `bundles.yaml` says, made
unique in a fixed order. What is wrong with an entry is a diagnostic, and the others count. `bundles.yaml`
names folders inside the source root only; the environment is of whoever runs the server and may name any.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from context_pack.bundles.manifest import MANIFEST, path_inside
from context_pack.bundles.model import Diagnostic
from context_pack.bundles.ports import BundlePlace as Bundle
from context_pack.bundles.ports import Document, Flaw
from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Reason
from context_pack_adapters.files.opening import Place, link_target, scan, way_from
from context_pack_adapters.files.rooted import Rooted, landing

LIST_FILE = "bundles.yaml"
MOST_FOLDERS = 10_000


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

    def listed(self, found: Document | Flaw) -> Iterator[Located]:
        """Bundles that `bundles.yaml` names."""
        if isinstance(found, Flaw):
            self._complain(found.reason, LIST_FILE)
            return
        entries = found.value.get("bundles") if isinstance(found.value, Mapping) else None
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
        found = self._place(prefix)
        if isinstance(found, Reason):
            why = "leads out of the source root" if found is Reason.OUTSIDE else f"has no {MANIFEST}"
            self._complain(f"{place}.path {why}", LIST_FILE)
            return None
        own = entry.get("id")
        if not isinstance(own, str) or not own.strip():
            own = os.path.basename(os.path.join(self._root, prefix.rstrip("/")).rstrip("/"))
        return Located(found, own, prefix.rstrip("/") or ".")

    def _place(self, prefix: str) -> Place | Reason:
        """The place of the bundle whose manifest is below a prefix, or why there is none that may be read."""
        try:
            manifest = RelativePath(prefix + MANIFEST)
        except Failure:
            return Reason.DENIED
        found = self._rooted.status(manifest)
        if isinstance(found, Reason):
            return found
        if not stat.S_ISREG(found.st_mode):
            return Reason.NOT_A_FILE
        try:
            return landing(self._rooted.root, manifest.parts[:-1])
        except OSError:  # it was there a moment ago
            return Reason.MISSING

    def _folders(self) -> list[str]:
        """The folders right in the source root, by name; too many to look at are too many to be bundles."""
        try:
            with self._rooted.root.held() as folder:
                entries = {entry.name: entry.is_symlink() for entry in scan(folder) if _leads_on(entry)}
                # Links come last, so that a folder goes by its own name; one to another of these adds none.
                names = [
                    (is_link, name)
                    for name, is_link in entries.items()
                    if not is_link or os.path.normpath(link_target(folder, name) or name) not in entries
                ]
        except OSError:
            self._complain("the source root cannot be listed")
            return []
        if len(names) > MOST_FOLDERS:
            self._complain(f"only the first {MOST_FOLDERS} folders of the source root were looked at")
        return [name for _, name in sorted(names)[:MOST_FOLDERS]]

    def _shown(self, folder: str) -> str:
        """A folder as messages show it: from the source root, or by its name alone."""
        inside = way_from(self._root, folder)
        return os.path.basename(folder) if inside is None else "/".join(inside) or "."

    def _complain(self, words: str, file: str | None = None) -> None:
        self.diagnostics.append(Diagnostic("error", words, file))


def placed(located: Sequence[Located]) -> dict[Bundle, Place]:
    """Each folder once, under an id of its own."""
    places: dict[Bundle, Place] = {}
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
        places[Bundle(own, _whole(one.shown))] = one.place
    return places


def _leads_on(entry: os.DirEntry[str]) -> bool:
    """Whether a name in a folder may be that of a folder, or leads to one."""
    return entry.is_symlink() or entry.is_dir(follow_symlinks=False)


def _whole(name: str) -> str:
    """The file name with undecodable bytes replaced."""
    return name.encode("utf-8", "replace").decode("utf-8")
