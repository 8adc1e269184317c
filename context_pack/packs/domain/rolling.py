"""A checksum of lines that can be rolled over a file: where may these lines stand, all places in one pass.

Every line is a number (its CRC-32), a run of lines is a polynomial in those numbers modulo a prime. From the
checksums of all beginnings of a file follows that of any run in it, without a look at its lines. Equal runs
always have equal checksums, unequal ones almost never: whoever must be sure compares a real digest. The prime
is small so that the arithmetic stays quick. Checksums are stored in anchors: none may depend on the process.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate
from zlib import crc32

PRIME = (1 << 30) - 35
BASE = 0x2A3C_59E7
DIGITS = 8


def checksum(lines: Sequence[str]) -> str:
    """The checksum of a run of lines, in hexadecimal."""
    return f"{beginnings(lines)[-1]:0{DIGITS}x}"


def beginnings(lines: Sequence[str]) -> array[int]:
    """The checksum of each beginning of the lines, that of no lines first."""
    distinct = list(set(lines))
    # Encoded all at once: line by line this would cost more than everything else here.
    spelled = "\n".join(distinct).encode("utf-8", "surrogatepass").split(b"\n")
    numbers = dict(zip(distinct, map(crc32, spelled), strict=True))
    following = map(numbers.__getitem__, lines)
    return array("I", accumulate(following, lambda sum_, line: (sum_ * BASE + line) % PRIME, initial=0))


def runs(sums: array[int], size: int, wanted: str) -> Iterator[int]:
    """Where runs of `size` lines with the wanted checksum begin, in order and counted from 0."""
    scale, sought, at = pow(BASE, size, PRIME), int(wanted, 16), -1
    found = [(after - before * scale) % PRIME for before, after in zip(sums, sums[size:], strict=False)]
    while True:
        try:
            at = found.index(sought, at + 1)
        except ValueError:
            return
        yield at
