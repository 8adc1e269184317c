"""Checks the storage root for links on its path.

A storage root inside the project came with it, maybe from a stranger: from the project on, no link is
followed. One that somebody placed elsewhere may be a link itself; what is in it may not.
"""

from __future__ import annotations

from contextlib import suppress

from context_pack_adapters.files.opening import Place, first_link

USED = ((), ("packs",), ("excerpts",), ("memory", "discoveries"), ("contexts",))
"""The folders of a storage root that are read or written; others are none of ours."""


def link_in_the_way(root: Place) -> str | None:
    """The first link at, above or in a storage root, as a path from the place; None if there is none."""
    top = Place(root.top)
    for names in USED:
        parts = (*root.inside, *names)
        with suppress(OSError):
            if (found := first_link(top, parts)) is not None:
                return "/".join(parts[: found[0] + 1])
    return None
