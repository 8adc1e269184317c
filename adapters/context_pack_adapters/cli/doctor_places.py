"""The doctor's questions about folders: the project, its storage root, and the user's own folders.

Looking changes nothing: no file is written, and a folder that does not exist is not made.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from context_pack.kernel.errors import Failure
from context_pack_adapters.cli.words import words_for
from context_pack_adapters.private_places import open_places
from context_pack_adapters.settings import Settings

FORMER = ("derived", "stats", "access", "memory/sessions")
"""What older versions kept in the storage root; it is neither read nor removed."""


class Finding(NamedTuple):
    """One thing looked at: `state` is ok, warn (works less well) or broken."""

    subject: str
    state: str
    found: str
    mend: str | None = None


def examined_places(settings: Settings) -> Iterator[Finding]:
    """Every folder that is read or written."""
    yield _source_root(Path(settings.source_root))
    yield from _storage(settings)
    yield _private(settings)
    yield from _former(Path(settings.root))


def _source_root(root: Path) -> Finding:
    """The folder that refs point into."""
    mend = "set CONTEXT_PACK_SOURCE_ROOT, or start in the project's folder"
    if not root.is_dir():
        what = "is not a folder" if root.exists() else "does not exist"
        return Finding("source root", "broken", f"{root} {what}", mend)
    if not os.access(root, os.R_OK | os.X_OK):
        return Finding("source root", "broken", f"{root} cannot be read", f"make it readable, or {mend}")
    return Finding("source root", "ok", "readable")


def _storage(settings: Settings) -> Iterator[Finding]:
    """The folder where packs are kept, and the packs in it."""
    root = Path(settings.root)
    if not root.exists():
        yield _place_for(root)
        return
    if not root.is_dir():
        yield Finding("storage root", "broken", f"{root} is not a folder", "set CONTEXT_PACK_ROOT")
        return
    if not os.access(root, os.R_OK | os.X_OK):
        mend = "make it readable, or set CONTEXT_PACK_ROOT"
        yield Finding("storage root", "broken", f"{root} cannot be read", mend)
        return
    places = [root, *(place for place in [root / "packs"] if place.exists())]
    if all(os.access(place, os.W_OK) for place in places):
        yield Finding("storage root", "ok", "readable and writable")
    else:
        mend = "make it writable, or set CONTEXT_PACK_ROOT"
        yield Finding("storage root", "warn", "read-only: packs can be read, not changed", mend)
    yield _packs(settings)


def _place_for(root: Path) -> Finding:
    """Whether a missing storage root could be made."""
    parent = next(place for place in root.parents if place.exists())
    if parent.is_dir() and os.access(parent, os.W_OK | os.X_OK):
        return Finding("storage root", "ok", "not there yet; the first pack makes it")
    mend = "make that folder writable, or set CONTEXT_PACK_ROOT"
    return Finding("storage root", "broken", f"cannot be made in {parent}", mend)


def _packs(settings: Settings) -> Finding:
    """Whether every pack file is sound."""
    from context_pack_adapters.disk_ports import open_ports

    if settings.refusals:
        return Finding("packs", "warn", "not looked at: where they are is not understood", "see environment")
    try:
        packs = open_ports(settings).packs.all()
    except ImportError:
        return Finding("packs", "warn", "not looked at: a package is missing", "mend the packages first")
    except Failure as failure:
        mend = "mend the files by hand or move them out of the packs folder"
        return Finding("packs", "broken", "; ".join(map(str.strip, words_for(failure))), mend)
    return Finding("packs", "ok", f"{len(packs)} live, all sound")


def _private(settings: Settings) -> Finding:
    """The user's folders for what is derived or private."""
    trouble = open_places(settings).trouble
    if not trouble:
        return Finding("cache and state", "ok", "for this user only")
    found = f"temporary, so that every server indexes anew: {trouble}"
    return Finding("cache and state", "warn", found, "mend that, or set CONTEXT_PACK_CACHE to another folder")


def _former(root: Path) -> Iterator[Finding]:
    """Files that older versions left in the project: derived and private data."""
    left = [name for name in FORMER if os.path.lexists(root / name)]
    if left:
        found = f"not used any more: {', '.join(left)}"
        yield Finding("older storage", "warn", found, f"safe to delete, in {root}")
