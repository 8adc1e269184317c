"""Linux's `openat2`: opens a whole path in one call, refused by the kernel if any part is a link.

Without it each part is opened from the one before, which means the same and costs a call for each part: a
first list of `benches/side_by_side/contexts.py` takes a tenth longer.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from functools import cache

_NUMBER = 437
_NO_SYMLINKS = 0x04
_NOWHERE = -1
"""In the place of a descriptor to start at: an absolute path needs none."""
_NOT_HERE = frozenset({errno.ENOSYS, errno.EPERM, errno.EINVAL, errno.E2BIG})
"""What an older kernel, or a sandbox that does not know the call, answers."""


@cache
def opener() -> Callable[[str, int], int] | None:
    """Opens an absolute path with flags, through no link at all; None where the system cannot."""
    if sys.platform != "linux":
        return None

    class How(ctypes.Structure):
        _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))

    size = ctypes.sizeof(How)
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    call.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(How), ctypes.c_size_t)

    hows: dict[int, How] = {}

    def open_through(path: str, flags: int) -> int:
        name = os.fsencode(path)
        if b"\0" in name:
            raise ValueError("embedded null byte")
        how = hows.get(flags) or hows.setdefault(flags, How(flags, 0, _NO_SYMLINKS))
        found: int = call(_NUMBER, _NOWHERE, name, how, size)
        if found < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return found

    try:
        os.close(open_through("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    except OSError as error:
        if error.errno in _NOT_HERE:
            return None
    return open_through
