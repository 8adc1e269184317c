"""A list of files beside what is known of each, and the look at the disk that tells what is no longer true.

Made anew whenever the shelf has learned something. That is rare, so that a search of an unchanged tree costs
one look at each file and little else.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from context_pack.code.domain.search_ripgrep import Reach
from context_pack_adapters.search.deadline import Deadline
from context_pack_adapters.search.listing import State


class Known(NamedTuple):
    """A file as it was read: when, and what matters of it before its text is searched."""

    state: State
    settled: bool
    is_text: bool = False
    reach: Reach = Reach.ANY
    """The least that a pattern must be trusted with to be trusted with this text."""
    has_returns: bool = False
    """Some lines end in `\\r\\n`."""
    is_odd: bool = False
    """A byte order mark, or a `\\r` that ends no line: what ripgrep sees is not the text."""
    has_long_lines: bool = False
    """Some lines are long, or nobody has looked."""


NO_TEXT = Known((0, 0, 0, 0), settled=False)


class Roll(NamedTuple):
    """Files side by side: paths, where they are on the disk, what is known of them, and their kept texts.

    What cannot be relied on is None. `views` holds what others derive from the roll, by a key of theirs.
    """

    paths: Sequence[str]
    places: list[str]
    knowns: list[Known | None]
    texts: list[str | None]
    views: dict[Hashable, Any]

    def stale(self, deadline: Deadline) -> list[int]:
        """The indices of the files that are not what they were, or of which nothing is known.

        Raises:
            TimedOut: there are too many to look at in time.
        """
        return stale(self.places, self.knowns, deadline)


def stale(places: Sequence[str], knowns: Sequence[Known | None], deadline: Deadline) -> list[int]:
    """The indices of the places where nothing is known, or what is known is not so any more.

    Raises:
        TimedOut: there are too many to look at in time.
    """
    look = os.lstat
    found: list[int] = []
    for index, known in enumerate(knowns):
        if not index & 255:
            deadline.left()
        if known is None:
            found.append(index)
            continue
        try:
            status = look(places[index])
        except OSError:
            found.append(index)
            continue
        inode, size, modified, changed = known[0]
        if (
            status.st_mtime_ns != modified
            or status.st_size != size
            or status.st_ino != inode
            or status.st_ctime_ns != changed
        ):
            found.append(index)
    return found
