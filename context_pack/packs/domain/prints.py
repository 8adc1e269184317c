"""Fingerprints of lines: short enough to be stored by the dozen, good enough to say where a line may stand.

A fingerprint proves nothing. It starts with the line's length, so that a search hashes only the few lines
that have the right one, and each of them once per file.
"""

from __future__ import annotations

from context_pack.kernel.digest import sha256_hex


def fingerprint(line: str) -> str:
    """A short hash of one line: its length, then eight digits of its digest."""
    return f"{len(line):x}-{sha256_hex(line)[:8]}"


def length_of(print_: str) -> int:
    """The length of the lines with that fingerprint."""
    return int(print_.partition("-")[0], 16)


class Prints(dict[str, str]):
    """The fingerprints of the lines of one file; none is computed before it is asked for, or twice."""

    def __missing__(self, line: str) -> str:
        print_ = self[line] = fingerprint(line)
        return print_
