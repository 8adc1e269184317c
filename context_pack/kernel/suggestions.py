"""Suggestions of similar words and files for an unknown one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import FileNames

MOST_NEAR, LEAST_CLOSE = 3, 0.7


def close(word: str, words: Iterable[str]) -> list[str]:
    """The words most like one, whatever order they come in."""
    return get_close_matches(word, words, MOST_NEAR, LEAST_CLOSE)


def near_paths(path: RelativePath, names: FileNames) -> list[str]:
    """Files of that name, else of names like it, those in its folder first."""
    called = [path.name] if path.name in names.paths else close(path.name, names.paths)
    found = [str(each) for name in called for each in names.named(name)]
    folder = path.value.rpartition("/")[0]
    return sorted(found, key=lambda each: each.rpartition("/")[0] != folder)[:MOST_NEAR]
