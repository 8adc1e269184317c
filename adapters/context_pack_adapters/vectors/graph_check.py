"""Whether a file is a graph that hnswlib can load and walk without leaving its own memory.

hnswlib believes every number in a file: how many elements there are, how large each is, where the walk
begins, and which elements each one links to. So every one of them is compared here with what a graph of ours
has, and with the length of the file, before hnswlib sees it.

The file: a header; for each element a fixed record (link count, links, vector, label); then for each element
the byte length of its links on the upper levels, and these links, one list per level.
"""

from __future__ import annotations

import os
import struct
from typing import IO, TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

_HEADER = struct.Struct("<6QiI3QdQ")
_BLOCK_BYTES = 1 << 22
_WORD = 4
_LABEL_BYTES = 8


class _Header(NamedTuple):
    """The fields at the start of the file, in hnswlib's order."""

    level0_offset: int
    room: int
    elements: int
    record_bytes: int
    label_offset: int
    vector_offset: int
    top_level: int
    entry: int
    links: int
    level0_links: int
    built_with: int
    level_factor: float
    build_effort: int


def is_sound(path: str, dimension: int, size: int, links: int) -> bool:
    """Whether the file holds a graph of exactly `size` vectors with at most `links` links on upper levels."""
    try:
        with open(path, "rb") as file:
            return _is_sound(file, dimension, size, links)
    except OSError:
        return False


def _is_sound(file: IO[bytes], dimension: int, size: int, links: int) -> bool:
    start = file.read(_HEADER.size)
    if len(start) < _HEADER.size:
        return False
    header = _Header(*_HEADER.unpack(start))
    left = os.fstat(file.fileno()).st_size - _HEADER.size - size * _record_bytes(dimension, links)
    # Beyond the records there is at least the length of each element's upper links.
    if not _fits(header, dimension, size, links) or left < size * _WORD or left % _WORD:
        return False
    return _records_are_sound(file, header) and _upper_links_are_sound(file, header, left)


def _record_bytes(dimension: int, links: int) -> int:
    return _vector_offset(links) + dimension * 4 + _LABEL_BYTES


def _vector_offset(links: int) -> int:
    """The bytes of the links on the lowest level, which may be twice as many, and of their count."""
    return 2 * links * _WORD + _WORD


def _fits(header: _Header, dimension: int, size: int, links: int) -> bool:
    """Whether the header is that of our graphs."""
    return (
        header.level0_offset == 0
        and header.elements == size
        and size <= header.room
        and header.record_bytes == _record_bytes(dimension, links)
        and header.vector_offset == _vector_offset(links)
        and header.label_offset == header.record_bytes - _LABEL_BYTES
        and (header.links, header.level0_links, header.built_with) == (links, 2 * links, links)
        and header.entry < size
        and header.top_level >= 0
    )


def _records_are_sound(file: IO[bytes], header: _Header) -> bool:
    """Whether every element links to elements that there are, none is marked deleted, and labels differ."""
    import numpy

    record = numpy.dtype(
        {
            "names": ["links", "label"],
            "formats": [(numpy.uint32, 1 + header.level0_links), numpy.int64],
            "offsets": [0, header.label_offset],
            "itemsize": header.record_bytes,
        }
    )
    labels = numpy.empty(header.elements, dtype=numpy.int64)
    step = max(1, _BLOCK_BYTES // header.record_bytes)
    for first in range(0, header.elements, step):
        some = min(step, header.elements - first)
        data = file.read(some * header.record_bytes)
        if len(data) < some * header.record_bytes:
            return False
        rows = numpy.frombuffer(data, dtype=record)
        if not _links_are_sound(rows["links"], header.elements):
            return False
        labels[first : first + some] = rows["label"]
    return len(numpy.unique(labels)) == header.elements


def _links_are_sound(lists: NDArray[numpy.uint32], count: int) -> bool:
    """Whether each list (a count, then links) has no more links than room, all of them below `count`.

    A mark in the upper half of the count, as hnswlib sets for deleted elements, makes it too large.
    """
    import numpy

    used = numpy.arange(lists.shape[1] - 1) < lists[:, :1]
    return bool((lists[:, 0] < lists.shape[1]).all() and (lists[:, 1:][used] < count).all())


def _upper_links_are_sound(file: IO[bytes], header: _Header, size: int) -> bool:
    """Whether the links of each upper level lead to elements that have this level."""
    import numpy

    data = file.read(size)
    if len(data) < size:
        return False
    words = numpy.frombuffer(data, dtype=numpy.uint32)
    levels = numpy.zeros(header.elements, dtype=numpy.int64)
    lists = _upper_lists(words, levels, 1 + header.links)
    if lists is None or levels.max() != header.top_level or levels[header.entry] != header.top_level:
        return False
    for level, found in lists.items():
        rows = numpy.stack(found)
        if not _links_are_sound(rows, header.elements):
            return False
        used = numpy.arange(header.links) < rows[:, :1]
        if (levels[rows[:, 1:][used]] < level).any():
            return False
    return True


def _upper_lists(words: Any, levels: Any, width: int) -> dict[int, list[Any]] | None:
    """The link lists by level, and in `levels` how many each element has; None if the words do not add up."""
    import numpy

    lists: dict[int, list[Any]] = {}
    filled = numpy.flatnonzero(words)
    at = element = 0
    while True:
        # An element without upper links is a single zero: skip to the next that has some.
        place = int(numpy.searchsorted(filled, at))
        start = int(filled[place]) if place < len(filled) else len(words)
        element, at = element + start - at, start
        if at == len(words) or element >= len(levels):
            return lists if at == len(words) and element == len(levels) else None
        length = int(words[at])
        height, rest = divmod(length, width * _WORD)
        if rest or at + 1 + height * width > len(words):
            return None
        levels[element] = height
        for level in range(height):
            first = at + 1 + level * width
            lists.setdefault(level + 1, []).append(words[first : first + width])
        element, at = element + 1, at + 1 + height * width
