"""Whether a storage root inside the project stays there, whatever links the project brought along.

A storage root that somebody placed elsewhere is that person's choice, and so are the links in it. One inside
the project came with it, maybe from a stranger: a link in it must not make us write, or read, outside.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

DEEPER = ("memory", "derived")
"""Folders of a storage root that have folders of their own."""


def linked_out(root: str, project: str) -> str | None:
    """What in a storage root inside the project leads out of it, as a path from the project; None if nothing.

    Both are absolute paths.
    """
    if not _inside(root, project):
        return None
    real = os.path.realpath(project)
    for place in (root, *_links(root)):
        if not _inside(os.path.realpath(place), real):
            return os.path.relpath(place, project)
    return None


def _links(root: str) -> Iterator[str]:
    """The links in a storage root, where it has folders; what cannot be listed cannot be used either."""
    for folder in (root, *(os.path.join(root, name) for name in DEEPER)):
        with suppress(OSError), os.scandir(folder) as entries:
            yield from (entry.path for entry in entries if entry.is_symlink())


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))
