"""Imports of Ruby: `require_relative` from the file's folder, `require`, `load` and `autoload` under `lib/`.

Only literal names count. `lib/`, `spec/` and `test/` of the folders above the file are where gems and their
tests find their own code.
"""

from __future__ import annotations

from collections.abc import Iterator

from context_pack.code.domain.imports.tree import (
    Found,
    TreeView,
    ancestors,
    first_file,
    folder_of,
    join,
    within,
)
from context_pack.kernel.syntax import Import, Parsed

LOAD_FOLDERS = ("lib", "spec", "test")


def resolve(parsed: Parsed, path: str, view: TreeView) -> Found:
    """The files that the names lead to."""
    for require in parsed.imports:
        yield require.specifier, first_file(view, _places(require, folder_of(path)))


def _places(require: Import, here: str) -> Iterator[str]:
    if require.specifier.startswith("/"):
        return
    if require.how == "relative":
        starts = [here]
    elif require.specifier.startswith("."):
        starts = [""]  # `require "./x"` starts where the process was started
    else:
        starts = [within(folder, inner) for folder in ancestors(here) for inner in LOAD_FOLDERS]
    for start in starts:
        place = join(start, require.specifier)
        if place:
            yield f"{place}.rb"
            yield place
