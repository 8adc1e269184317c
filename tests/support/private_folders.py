"""Whom the files of a test's servers are open to."""

from __future__ import annotations

import stat
from pathlib import Path


def modes(folder: Path) -> dict[str, int]:
    """The mode of everything below a folder that others than the user could use."""
    found = {path: stat.S_IMODE(path.lstat().st_mode) for path in [folder, *folder.rglob("*")]}
    return {str(path.relative_to(folder)): mode for path, mode in found.items() if mode & 0o077}
