"""The stamps of files on disk: the same stamp, the same content."""

from __future__ import annotations

import os

from context_pack_adapters.disk.signature import as_text, is_settled

YOUNG = "~"
"""Marks the stamp of a file that may change again without its stamp showing it."""


def stamp_of(status: os.stat_result, now_ns: int) -> str:
    """The signature of a file's state; one that is too young to be trusted is marked."""
    young = "" if is_settled(status.st_mtime_ns, status.st_ctime_ns, now_ns) else YOUNG
    return as_text(status) + young


def is_young(stamp: str) -> bool:
    """Whether what was changed may have changed again unseen."""
    return stamp.endswith(YOUNG)
