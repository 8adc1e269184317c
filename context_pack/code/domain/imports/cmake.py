"""Where CMake looks for headers: the folders that a project's CMakeLists.txt files name.

Read are the lists of the folders above a file, the nearest first, and those that they add by
`add_subdirectory`: a library's headers are for its neighbours too. Paths may begin with CMake's own variables
for the list's folder and the project's; one with any other variable, or out of the root, is not followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from context_pack.code.domain.imports.tree import TreeView, ancestors, is_folder, join, within

LISTS = "CMakeLists.txt"
MOST_LISTS = 60

_COMMENT = re.compile(r"#[^\n]*+")
_CALL = re.compile(
    r"\b(?:(?P<add>add_subdirectory)|(?P<target>target_)?+include_directories)\s*+\((?P<words>[^()]*+)\)",
    re.IGNORECASE,
)
_HERE = re.compile(r"\$\{CMAKE_CURRENT_(?:SOURCE|LIST)_DIR\}/?")
_TOP = re.compile(r"\$\{\w+_SOURCE_DIR\}/?")
_BUILT = re.compile(r"\$<BUILD_INTERFACE:([^<>]*+)>")


def include_folders(here: str, view: TreeView) -> Iterator[str]:
    """The folders that headers of a file in `here` may be in besides the usual ones."""
    lists = [folder for folder in ancestors(here) if LISTS in view.files(folder)]
    top = lists[-1] if lists else ""
    for folder in lists:
        text = _COMMENT.sub("", view.text(within(folder, LISTS)) or "")
        for call in _CALL.finditer(text):
            # The first word names the target, or the folder that is added.
            words = call["words"].split()[bool(call["target"]) :]
            places = filter(
                None, (_place(word, folder, top) for word in (words[:1] if call["add"] else words))
            )
            for place in places:
                if not call["add"]:
                    yield from [place] if is_folder(view, place) else []
                elif place not in lists and len(lists) < MOST_LISTS and LISTS in view.files(place):
                    lists.append(place)


def _place(word: str, folder: str, top: str) -> str | None:
    """Where a path of a list leads; None if that is not known."""
    written = _BUILT.sub(r"\1", word).strip('"')
    for variable, start in ((_HERE, folder), (_TOP, top)):
        if named := variable.match(written):
            folder, written = start, written[named.end() :]
            break
    return None if "$" in written or written.startswith("/") else join(folder, written)
