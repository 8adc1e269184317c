"""Whether a storage root inside the project stays there, whatever links the project brought along.

A storage root that somebody placed elsewhere is that person's choice, and so are the links in it. One inside
the project came with it, maybe from a stranger: a link in it must not make us write, or read, outside.
"""

from __future__ import annotations

import os

USED = ("packs", "memory", "memory/discoveries", "contexts")
"""The folders of a storage root that are read or written; others are none of ours."""


def linked_out(root: str, project: str) -> str | None:
    """What in a storage root inside the project leads out of it, as a path from the project; None if nothing.

    Both are absolute paths.
    """
    if not _inside(root, project):
        return None
    real = os.path.realpath(project)
    places = (os.path.join(root, name) for name in USED)
    for place in (root, *filter(os.path.islink, places)):
        if not _inside(os.path.realpath(place), real):
            return os.path.relpath(place, project)
    return None


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))
