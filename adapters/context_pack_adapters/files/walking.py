"""The one walk of a tree: folders opened one from the other, so that no swap leads it out of the root.

`walk` shows every folder to a visitor, who says which folders in it to enter. `visit` is the walk with ignore
files, path policy and excluded folders, for those who look for files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple, TypeVar

from context_pack.kernel.paths import PathPolicy
from context_pack_adapters.files.ignore import (
    IGNORE_FILES,
    MAX_DEPTH,
    NO_RULES,
    FixedExclusions,
    IgnoreRules,
    ignore_texts,
)
from context_pack_adapters.files.opening import AnyPlace, Handle, Place, enter, leave, scan, way_from

S = TypeVar("S")


class Level(NamedTuple):
    """A folder during a walk; `prefix` is its path from the root, empty or with a slash at the end."""

    prefix: str
    handle: Handle
    entries: list[os.DirEntry[str]]
    """Their states can be asked for only while the folder is shown."""


Look = Callable[[Level, S], Iterable[tuple[str, S]]]
"""Callback for each folder; returns the folders to enter, each with the state for its own callback."""
Shut = Callable[[str, OSError], None]
"""Called with the prefix of a folder that cannot be listed, and the error."""


def walk(root: AnyPlace, look: Look[S], known: S, shut: Shut = lambda _, __: None) -> None:
    """Visit the root and every folder that the callback enters, depth first; the root may be a link."""

    def inside(handle: Handle, prefix: str, known: S) -> None:
        try:
            try:
                entries = scan(handle)
            except OSError as error:
                shut(prefix, error)
                return
            deepest = prefix.count("/") >= MAX_DEPTH
            for name, below in look(Level(prefix, handle, entries), known):
                if deepest:
                    continue
                path = f"{prefix}{name}/"
                try:
                    folder = enter(handle, name)
                except OSError as error:
                    shut(path, error)
                else:
                    inside(folder, path, below)
        finally:
            leave(handle)

    try:
        top = Place.of(root).open()
    except OSError as error:
        shut("", error)
        return
    inside(top, "", known)


Seen = Callable[[str, os.DirEntry[str]], None]
Passed = Callable[[str, bool, bool], None]
"""Called for a path left out: whether it is a folder, and whether by ignore files or by the policy."""


def visit(
    root: AnyPlace,
    policy: PathPolicy,
    seen: Seen,
    *,
    wants: Callable[[str], bool] | None = None,
    rules: IgnoreRules = NO_RULES,
    excluded: Collection[str] = (),
    except_for: Collection[str] = (),
    go_on: Callable[[], bool] = lambda: True,
    passed: Passed = lambda _, __, ___: None,
    shut: Shut = lambda _, __: None,
    entered: Callable[[Level], None] = lambda _: None,
) -> None:
    """Show every file that counts, and every link if some are wanted, to `seen`, folder by folder.

    `wants` is asked first, of files; `rules` hold from above the root. `excluded` are folder names that are
    not entered at any depth, `except_for` folders by path. `go_on` is asked before each folder; once it says
    no, the walk ends. `passed` hears of what does not count, `entered` of each folder before what is in it.
    """
    closed = FixedExclusions(policy, excluded, except_for).closed

    def look(level: Level, rules: IgnoreRules) -> Iterable[tuple[str, IgnoreRules]]:
        if not go_on():
            return []
        entered(level)
        present = {entry.name for entry in level.entries if entry.name in IGNORE_FILES}
        if present:
            rules = rules.entered(level.prefix, ignore_texts(level.handle, present))
        below: list[tuple[str, IgnoreRules]] = []
        for entry in level.entries:
            path = level.prefix + entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if not is_folder and wants is not None and not wants(path) and not entry.is_symlink():
                continue
            ignored = rules.ignores(path, is_folder)
            if ignored or closed(entry.name, path, is_folder):
                passed(path, is_folder, ignored)
            elif is_folder:
                below.append((entry.name, rules))
            elif entry.is_file(follow_symlinks=False) or (wants is not None and entry.is_symlink()):
                seen(path, entry)
        return below

    walk(root, look, rules, shut)


def files_below(
    root: AnyPlace,
    policy: PathPolicy,
    excluded: Collection[str] = (),
    go_on: Callable[[], bool] = lambda: True,
    except_for: Collection[str] = (),
) -> list[str]:
    """The paths of the files that count, in plain string order."""
    found: list[str] = []
    visit(
        root,
        policy,
        lambda path, _: found.append(path),
        excluded=excluded,
        except_for=except_for,
        go_on=go_on,
    )
    return sorted(found)


def ways_to(root: AnyPlace, folders: Iterable[str | os.PathLike[str]]) -> tuple[str, ...]:
    """The paths from the root to those of the folders that are inside it."""
    top = Place.of(root).path
    ways = (way_from(top, os.path.abspath(folder)) for folder in folders)
    return tuple("/".join(way) for way in ways if way)
