"""Files and repositories of a test, written where it says."""

from __future__ import annotations

import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path

WHO = ("user.name=t", "user.email=t@example.org", "init.defaultBranch=main", "commit.gpgsign=false")


def lay(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a folder; the folder."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def git(folder: Path, *words: str) -> str:
    """What git says in a folder, as somebody whom the tests know."""
    settings = [word for setting in WHO for word in ("-c", setting)]
    done = subprocess.run(
        ["git", "-C", str(folder), *settings, *words], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def committed(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Make a repository of these files."""
    lay(folder, files)
    for words in (["init", "--quiet"], ["add", "-f", "."], ["commit", "--quiet", "-m", "one"]):
        git(folder, *words)
    return folder


def modes(folder: Path) -> dict[str, int]:
    """The mode of everything below a folder that others than the user could use."""
    found = {path: stat.S_IMODE(path.lstat().st_mode) for path in [folder, *folder.rglob("*")]}
    return {str(path.relative_to(folder)): mode for path, mode in found.items() if mode & 0o077}
