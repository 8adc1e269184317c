"""A source file with its lines and short hashes of them, for finding anchored lines.

Lines end at `\\n` only, one trailing `\\r` of a line is dropped, and a final newline adds no line, as in
`kernel.lines.split_lines`. A fingerprint is a line's length and eight digits of its SHA-256: the length lets
a search pass over almost every line unhashed. A checksum is of a run of lines: each line is a number (its
CRC-32), the run a polynomial in them modulo a prime, so that the checksums of all beginnings of a file give
that of any run in it. Both are stored in anchors, so none may depend on the process; neither proves anything.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from zlib import crc32

from context_pack.kernel.ports import Stamp
from context_pack.kernel.text import sha256_hex

PRIME = (1 << 30) - 35
BASE = 0x2A3C_59E7
CHECKSUM_DIGITS = 8
_WORD = re.compile(r"\w+|[^\w\s]")


def fingerprint(line: str) -> str:
    """A short hash of one line: its length, then eight digits of its digest."""
    return f"{len(line):x}-{sha256_hex(line)[:8]}"


def length_of(print_: str) -> int:
    """The length of the lines with that fingerprint."""
    return int(print_.partition("-")[0], 16)


def checksum(lines: Sequence[str]) -> str:
    """The checksum of a run of lines, in hexadecimal."""
    return f"{beginnings(lines)[-1]:0{CHECKSUM_DIGITS}x}"


def beginnings(lines: Sequence[str]) -> array[int]:
    """The checksum of each beginning of the lines, that of no lines first."""
    numbers = {line: crc32(line.encode("utf-8", "surrogatepass")) for line in set(lines)}
    following = map(numbers.__getitem__, lines)
    return array("I", accumulate(following, lambda sum_, line: (sum_ * BASE + line) % PRIME, initial=0))


def word_pairs(line: str) -> Iterator[int]:
    """Short hashes of each word or sign of a line with the one before it."""
    before = ""
    for word in _WORD.findall(line):
        yield crc32(f"{before} {word}".encode("utf-8", "surrogatepass")) & 0xFFFF
        before = word


def runs(sums: array[int], size: int, wanted: str) -> Iterator[int]:
    """Where runs of `size` lines with the wanted checksum begin, in order and counted from 0."""
    scale, sought = pow(BASE, size, PRIME), int(wanted, 16)
    pairs = enumerate(zip(sums, sums[size:], strict=False))
    return (at for at, (before, after) in pairs if (after - before * scale) % PRIME == sought)


class _Fingerprints(dict[str, str]):
    """The fingerprint of each line, computed when it is first asked for."""

    def __missing__(self, line: str) -> str:
        print_ = self[line] = fingerprint(line)
        return print_


class _WordPairs(dict[str, frozenset[int]]):
    """The word pairs of each line, computed when first asked for: each changed ref of a file asks again."""

    def __missing__(self, line: str) -> frozenset[int]:
        pairs = self[line] = frozenset(word_pairs(line))
        return pairs


class SourceText:
    """The text of one file with its lines, and the stamp that it was read with, if that can be relied on."""

    _first: Sequence[str] = ()

    def __init__(self, text: str, stamp: Stamp | None = None) -> None:
        self.stamp = stamp
        # The last line drops a carriage return too when the file ends without a newline.
        normal = text.replace("\r\n", "\n").removesuffix("\r") if "\r" in text else text
        self.text = normal if not text or text.endswith("\n") else f"{normal}\n"

    @cached_property
    def fingerprints(self) -> Mapping[str, str]:
        """The fingerprint of each line."""
        return _Fingerprints()

    @cached_property
    def pairs(self) -> Mapping[str, frozenset[int]]:
        """The word pairs of each line."""
        return _WordPairs()

    @cached_property
    def _like(self) -> dict[int, dict[str, list[int]]]:
        return {}

    @cached_property
    def lines(self) -> list[str]:
        """Every line."""
        return self.text.split("\n")[:-1]

    @property
    def count(self) -> int:
        """How many lines there are."""
        return len(self.lines)

    @cached_property
    def by_length(self) -> Mapping[int, Sequence[int]]:
        """The lines of each length, in file order and counted from 0."""
        found: dict[int, list[int]] = {}
        for at, line in enumerate(self.lines):
            found.setdefault(len(line), []).append(at)
        return found

    @cached_property
    def sums(self) -> array[int]:
        """The checksum of each beginning of the file."""
        return beginnings(self.lines)

    def first(self, count: int) -> Sequence[str]:
        """The lines from the first on, at least so many if there are; the rest need not be split for it."""
        if len(self._first) < count:
            self._first = self.text.split("\n", max(count, 2 * len(self._first)))[:-1]
        return self._first

    def cut(self, start: int, end: int) -> str | None:
        """Lines `start` to `end` (1-based, both included), joined by newlines; None unless all are there."""
        lines = self.first(end)
        return "\n".join(lines[start - 1 : end]) if 1 <= start <= end <= len(lines) else None

    def like(self, print_: str) -> Sequence[int]:
        """The lines with that fingerprint, in file order and counted from 0."""
        length = length_of(print_)
        if length not in self._like:
            # All that are as long at once: many refs ask, and each would walk over them again.
            found = self._like[length] = {}
            for at in self.by_length.get(length, ()):
                found.setdefault(self.fingerprints[self.lines[at]], []).append(at)
        return self._like[length].get(print_, ())

    def occurrences(self, excerpt: str) -> Iterator[int]:
        """The lines, from 1, at which whole lines begin that read like `excerpt`, in file order."""
        text, needle, seen, line = self.text, f"\n{excerpt}\n", 0, 1
        if text.startswith(needle[1:]):
            yield line
        while (at := text.find(needle, seen)) >= 0:
            line += text.count("\n", seen, at + 1)
            seen = at + 1
            yield line
