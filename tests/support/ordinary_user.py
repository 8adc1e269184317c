"""Without root's power to read what is closed: tests of unreadable files also hold where root runs them."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


class _Head(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Sets(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inherited", ctypes.c_uint32),
    )


@contextmanager
def ordinary_user() -> Iterator[None]:
    """This thread may not read what is closed while the block runs."""
    if os.geteuid() != 0 or sys.platform != "linux":
        yield
        return
    library = ctypes.CDLL(None, use_errno=True)
    head, sets = _Head(0x20080522, 0), (_Sets * 2)()
    _check(library.capget(ctypes.byref(head), sets))
    before = sets[0].effective
    sets[0].effective = before & ~0b110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    _check(library.capset(ctypes.byref(head), sets))
    try:
        yield
    finally:
        sets[0].effective = before
        _check(library.capset(ctypes.byref(head), sets))


def _check(answer: int) -> None:
    if answer:
        number = ctypes.get_errno() or errno.EPERM
        raise OSError(number, os.strerror(number))
