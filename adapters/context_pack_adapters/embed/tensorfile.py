"""Reading a `.safetensors` file: its header's length as u64, the header as JSON, then the tensors' bytes.

The file comes from anywhere, so nothing in it is believed: every place and size is checked against the file
before it is used. Floats of 16 bits are made float32; other kinds of numbers are left alone.
"""

from __future__ import annotations

import json
import os
from math import prod
from struct import unpack
from typing import TYPE_CHECKING, Any

from context_pack.retrieval.ports import EmbedderFailed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LONGEST_HEADER = 16 * 1024 * 1024
SIZES = {"F32": 4, "F16": 2, "BF16": 2, "F64": 8}


def read_tensors(path: str) -> dict[str, NDArray[np.float32]]:
    """Every float tensor of the file as float32, by name.

    Raises:
        EmbedderFailed: the file cannot be read, or contradicts itself.
    """
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            header, start = _header(file.read(8), file.read, size)
            return {
                name: _tensor(entry, file, start, size)
                for name, entry in header.items()
                if name != "__metadata__" and isinstance(entry, dict) and entry.get("dtype") in SIZES
            }
    except OSError as error:
        raise EmbedderFailed(f"model.safetensors cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise EmbedderFailed("model.safetensors is damaged or is no such file") from None


def _header(front: bytes, read: Any, size: int) -> tuple[dict[str, Any], int]:
    """The header, and where the tensors begin."""
    (length,) = unpack("<Q", front) if len(front) == 8 else (size,)
    if length > min(LONGEST_HEADER, size - 8):
        raise ValueError("longer than the file")
    header = json.loads(read(length))
    if not isinstance(header, dict):
        raise ValueError("no header")
    return header, 8 + length


def _tensor(entry: dict[str, Any], file: Any, start: int, size: int) -> NDArray[np.float32]:
    """One tensor, read from its place."""
    import numpy as np

    first, last = entry["data_offsets"]
    shape = tuple(entry["shape"])
    whole = all(type(number) is int and number >= 0 for number in (first, last, *shape))
    if (
        not whole
        or last < first
        or start + last > size
        or prod(shape) * SIZES[entry["dtype"]] != last - first
    ):
        raise ValueError("outside of the file")
    file.seek(start + first)
    raw = file.read(last - first)
    if len(raw) != last - first:
        raise ValueError("cut off while it was read")
    if entry["dtype"] == "BF16":
        # A bfloat16 is the upper half of a float32.
        return (np.frombuffer(raw, "<u2").astype(np.uint32) << 16).view(np.float32).reshape(shape)
    kind = {"F32": "<f4", "F16": "<f2", "F64": "<f8"}[entry["dtype"]]
    return np.frombuffer(raw, kind).astype(np.float32).reshape(shape)
