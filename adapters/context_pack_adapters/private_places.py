"""Where the settings keep what is stored, and where a project's derived and private data lies.

Packs and discoveries are in the storage root; what is private is in folders of the user, never in the
project. A project may come from a stranger, so nothing that we make is ever taken from one. Each project has
a folder in the user's cache (what can be made again) and one in the user's state (what cannot), named after
the real paths of the project and of its storage root. Where these cannot be used, both are in a temporary
folder of this process.
"""

from __future__ import annotations

import errno
import os
import re
import tempfile
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from platformdirs import PlatformDirs

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.files.folder import PrivateFolder
from context_pack_adapters.files.opening import Place
from context_pack_adapters.settings import Settings

NAME = "context-pack"
DOCUMENTS_INDEX, MEMORY_INDEX = "documents.sqlite3", "memory.sqlite3"
"""The indexes in a project's cache."""
_DIGITS, _LETTERS = 16, 40


class PrivatePlaces(NamedTuple):
    """The folders of one project."""

    cache: PrivateFolder
    """What can be made again: indexes, graphs, fetched repositories, fingerprints of folders."""
    state: PrivateFolder
    """What cannot: sessions, which files were read."""
    given: str = ""
    """The folder that holds both, for a child process; empty where they are apart."""
    trouble: str = ""
    """Why both are temporary, and removed when this process ends; empty where they are not."""

    @property
    def every_project(self) -> tuple[Path, Path]:
        """The folders that hold those of every project; no file in them is a source or a document."""
        return Path(self.cache.path).parent, Path(self.state.path).parent


def open_places(settings: Settings) -> PrivatePlaces:
    """The places of a project, made if need be; temporary ones where that cannot be."""
    folders, trouble = project_folders(settings), ""
    for folder in folders:
        try:
            if not os.path.isabs(folder.path):  # a home that is not known is no place in the project
                raise OSError(errno.EINVAL, "it is not an absolute path")
            folder.make()
        except OSError as error:
            trouble = f"{folder.path}: {error.strerror}"
    if trouble:
        settings = settings._replace(cache=temporary_home().name)
        folders = project_folders(settings)
    return PrivatePlaces(*folders, settings.cache, trouble)


@cache
def temporary_home() -> tempfile.TemporaryDirectory[str]:
    """A folder that is removed when this process ends."""
    return tempfile.TemporaryDirectory(prefix="context-pack-", ignore_cleanup_errors=True)


def project_folders(settings: Settings) -> tuple[PrivateFolder, PrivateFolder]:
    """Where a project's cache and state belong, whether or not these folders can be used."""
    key = project_key(settings.source_root, settings.root)
    cache, state = user_folders(settings.cache)
    return PrivateFolder(cache.below(key)), PrivateFolder(state.below(key))


def user_folders(given: str) -> tuple[Place, Place]:
    """Our folders in the user's cache and state, by the rules of the platform; `given` is one for both."""
    if given:
        return Place(given, ("cache",)), Place(given, ("state",))
    ours = PlatformDirs(NAME, appauthor=False)
    cache, state = (os.path.split(folder) for folder in (ours.user_cache_dir, ours.user_state_dir))
    return Place(cache[0], (cache[1],)), Place(state[0], (state[1],))


def models_folder(given: str) -> Path:
    """Where fetched models are kept, which no project is asked about."""
    data = Path(given, "data") if given else PlatformDirs(NAME, appauthor=False).user_data_path
    return data / "models"


def project_key(source_root: str, root: str) -> str:
    """The name of a project's folders: a digest of its real paths, and how the project is called."""
    real = os.path.realpath(source_root)
    digest = sha256(os.fsencode(real) + b"\0" + os.fsencode(os.path.realpath(root))).hexdigest()[:_DIGITS]
    name = re.sub(r"[^A-Za-z0-9_]+", "-", os.path.basename(real))[:_LETTERS].strip("-")
    return f"{digest}-{name}" if name else digest


def storage_place(settings: Settings) -> Place:
    """The storage root, from the project down if it is inside."""
    return Place.of(settings.root, settings.source_root)


def check_settings(settings: Settings) -> None:
    """Refuse to read or write where a variable says something that is not understood.

    Raises:
        Failure: `invalid_data`, with what to set.
    """
    if settings.refusals:
        raise Failure(Code.INVALID_DATA, "; ".join(settings.refusals))
