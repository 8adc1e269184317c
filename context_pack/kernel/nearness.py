"""Suggestions of similar words and files for an unknown one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from context_pack.kernel.paths import RelativePath
    from context_pack.kernel.ports import FileNames

MOST_NEAR, LEAST_CLOSE = 3, 0.7
MOST_NAMES = 5_000
"""Names that are compared with one that is not there."""


def close(word: str, words: Iterable[str]) -> list[str]:
    """The words most like one."""
    from difflib import get_close_matches  # only whoever is wrong pays for it

    return get_close_matches(word, sorted(words)[:MOST_NAMES], MOST_NEAR, LEAST_CLOSE)


def near_paths(path: RelativePath, names: FileNames) -> list[str]:
    """Files of that name, else of names like it, those in its folder first."""
    called = [path.name] if path.name in names.paths else close(path.name, names.paths)
    found = [str(each) for name in called for each in names.named(name)]
    folder = path.value.rpartition("/")[0]
    return sorted(found, key=lambda each: each.rpartition("/")[0] != folder)[:MOST_NEAR]
