"""Where a project's derived and private data lies: in folders of the user, never in the project.

A project may come from a stranger, so nothing that we make is ever taken from one. Each project has a folder
in the user's cache (what can be made again) and one in the user's state (what cannot), named after the real
paths of the project and of its storage root. Where these cannot be used, both are in a temporary folder of
this process.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from context_pack_adapters.disk.private import is_private_folder
from context_pack_adapters.settings import Settings

NAME = "context-pack"
_DIGITS, _LETTERS = 16, 40


class PrivatePlaces(NamedTuple):
    """The folders of one project; neither is made before something is kept in it."""

    cache: Path
    """What can be made again: indexes, graphs, fetched repositories, fingerprints of folders."""
    state: Path
    """What cannot: sessions, which files were read, statistics."""
    given: str = ""
    """The folder that holds both, for a child process; empty where they are apart."""
    trouble: str = ""
    """Why both are temporary; empty where they are not."""

    @property
    def temporary(self) -> bool:
        """Whether they are gone when this process ends."""
        return bool(self.trouble)


def open_places(settings: Settings, environ: Mapping[str, str] = os.environ) -> PrivatePlaces:
    """The places of a project; nothing is made, unless they have to be temporary.

    Folders of ours that others could enter are closed to them.
    """
    cache, state = project_folders(settings, environ)
    trouble = trouble_with(cache) or trouble_with(state)
    if trouble:
        from context_pack_adapters.disk.temporary import temporary_home

        settings = settings._replace(cache=temporary_home().path)
        cache, state = project_folders(settings, environ)
    return PrivatePlaces(Path(cache), Path(state), settings.cache, trouble)


def project_folders(settings: Settings, environ: Mapping[str, str] = os.environ) -> tuple[str, str]:
    """Where a project's cache and state belong, whether or not these folders can be used."""
    key = project_key(settings.source_root, settings.root)
    cache, state = user_folders(settings.cache, environ)
    return os.path.join(cache, key), os.path.join(state, key)


def user_folders(given: str, environ: Mapping[str, str], platform: str = sys.platform) -> tuple[str, str]:
    """Our folders in the user's cache and state, by the rules of the platform; `given` is one for both."""
    if given:
        return os.path.join(given, "cache"), os.path.join(given, "state")
    home = environ.get("HOME") or os.path.expanduser("~")
    cache, state = os.path.join(home, ".cache", NAME), os.path.join(home, ".local", "state", NAME)
    if platform == "darwin":
        library = os.path.join(home, "Library")
        cache = os.path.join(library, "Caches", NAME)
        state = os.path.join(library, "Application Support", NAME)
    elif platform == "win32":
        local = environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
        cache, state = os.path.join(local, NAME, "cache"), os.path.join(local, NAME, "state")
    return _chosen(environ, "XDG_CACHE_HOME", cache), _chosen(environ, "XDG_STATE_HOME", state)


def _chosen(environ: Mapping[str, str], variable: str, usual: str) -> str:
    """Our folder where the variable says, which counts only if it is absolute."""
    chosen = environ.get(variable, "")
    return os.path.join(chosen, NAME) if os.path.isabs(chosen) else usual


def project_key(source_root: str, root: str) -> str:
    """The name of a project's folders: a digest of its real paths, and how the project is called."""
    from hashlib import sha256

    real = os.path.realpath(source_root)
    digest = sha256(os.fsencode(real) + b"\0" + os.fsencode(os.path.realpath(root))).hexdigest()[:_DIGITS]
    name = re.sub(r"[^A-Za-z0-9_]+", "-", os.path.basename(real))[:_LETTERS].strip("-")
    return f"{digest}-{name}" if name else digest


def trouble_with(folder: str) -> str:
    """Why a project's folder cannot be used, in words; empty if nothing is known against it."""
    if not os.path.isabs(folder):
        return "there is no home folder"
    for place in (os.path.dirname(folder), folder):
        try:
            is_private_folder(place)
        except OSError as error:
            return f"{place}: {error.strerror}"
    place = folder
    while not os.path.lexists(place):
        place = os.path.dirname(place)
    if os.path.isdir(place) and os.access(place, os.W_OK | os.X_OK):
        return ""
    return f"{place}: it cannot be written to"
