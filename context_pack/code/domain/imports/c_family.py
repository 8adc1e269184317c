"""Includes of C, C++ and Objective-C: quoted names, from the file's own folder or where headers are kept.

A quoted name is looked for beside the file, then in each folder above it, there first in `include/` and
`src/`, then where CMake is told that headers are. A name in angle brackets belongs to the system or a package
and is external. What `#if 0` leaves out does not count; of any other condition both sides do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from context_pack.code.domain.imports.tree import (
    Found,
    TreeView,
    ancestors,
    first_file,
    folder_of,
    is_folder,
    join,
    within,
)
from context_pack.kernel.syntax import Import, Parsed

HEADER_FOLDERS = ("include", "src", "")
MOST_LISTED = 500
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


def resolve(parsed: Parsed, path: str, view: TreeView) -> Found:
    """The files that the quoted names lead to."""
    here = folder_of(path)
    usual = [here, *(within(folder, inner) for folder in ancestors(here) for inner in HEADER_FOLDERS)]
    usual = list(dict.fromkeys(usual))
    listed: dict[str, list[str]] | None = None
    for name, quoted in dict.fromkeys(map(_include, parsed.imports)):
        file = first_file(view, _places(name, usual)) if quoted else None
        if file is None and quoted:
            listed = _by_content(_cmake_folders(here, view), view) if listed is None else listed
            file = first_file(view, _places(name, listed.get(name.partition("/")[0], ())))
        yield name, file


def _include(written: Import) -> tuple[str, bool]:
    """An included name, and whether it is quoted."""
    name = written.specifier.strip()
    if written.how == "module":
        return name.removeprefix("@import").strip(" \t\r\n;"), False
    if name.startswith("<"):
        return name.strip("<>").strip(), False
    return name.strip('"').replace("\\", "/"), True


def _by_content(folders: Iterable[str], view: TreeView) -> dict[str, list[str]]:
    """The folders by what a name in them may begin with: many names may be looked for in many folders."""
    known = list(islice(dict.fromkeys(folders), MOST_LISTED))
    found = {".": known, "..": known}
    for folder in known:
        for name in chain(view.files(folder), view.folders(folder)):
            found.setdefault(name, []).append(folder)
    return found


def _places(name: str, folders: Iterable[str]) -> Iterator[str]:
    """Where a quoted name may be in these folders."""
    if not name.startswith("/"):
        yield from filter(None, (join(folder, name) for folder in folders))


def _cmake_folders(here: str, view: TreeView) -> Iterator[str]:
    """The folders that CMake is told of for headers of a file in `here`.

    Read are the lists of the folders above it, the nearest first, and those that they add: a library's
    headers are for its neighbours too. Paths may begin with CMake's own variables for the list's folder and
    the project's; one with any other variable, or out of the root, is not followed.
    """
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
