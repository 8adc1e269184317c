"""Where the servers of a test keep what is derived or private."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import NamedTuple

from stdio_client import PRIVATE

from context_pack_adapters.private_places import open_places
from context_pack_adapters.settings import read_settings


class Places(NamedTuple):
    """The private folders of a project."""

    cache: Path
    state: Path


def places_of(project: Path, **variables: str) -> Places:
    """The folders of a project, for a server in it with these `CONTEXT_PACK_` variables."""
    environ = {
        PRIVATE: os.environ[PRIVATE],
        **{f"CONTEXT_PACK_{key}": value for key, value in variables.items()},
    }
    found = open_places(read_settings(environ, str(project)))
    return Places(Path(found.cache.path), Path(found.state.path))


def modes(folder: Path) -> dict[str, int]:
    """The mode of everything below a folder that others than the user could use."""
    found = {path: stat.S_IMODE(path.lstat().st_mode) for path in [folder, *folder.rglob("*")]}
    return {str(path.relative_to(folder)): mode for path, mode in found.items() if mode & 0o077}
