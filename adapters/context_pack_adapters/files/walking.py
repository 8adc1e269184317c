"""The one walk of a tree, and which files of it count: ignore files, the path policy, folders by name.

`walk` shows every folder to a visitor, who says which folders in it to enter; they are opened one from the
other, so that no swap leads the walk out of the root. `visit` is the walk for those who look for files.

`.gitignore` and `.ignore` are read in each folder on the way down. A deeper file wins over a higher one,
and any `.ignore` over any `.gitignore`, as ripgrep has it; what lies in an ignored folder cannot be taken
back. Hidden files count; symbolic links, and names that no relative path can spell, do not.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from typing import NamedTuple, TypeVar

from attrs import frozen

from context_pack.kernel.gitignore import MOST_PATTERNS, IgnoreFile
from context_pack.kernel.paths import PathPolicy
from context_pack_adapters.files.opening import (
    AnyPlace,
    Handle,
    Place,
    enter,
    leave,
    read_file,
    scan,
    way_from,
)
from context_pack_adapters.files.rooted import is_closed

S = TypeVar("S")

IGNORE_FILES = (".gitignore", ".ignore")
MAX_IGNORE_BYTES = 1024 * 1024
MAX_DEPTH = 128


@lru_cache(maxsize=64)
def _compiled(text: str) -> IgnoreFile:
    """A compiled ignore file, cached because every search walks the tree again."""
    rules = IgnoreFile(text)
    if rules.patterns > MOST_PATTERNS:
        words = "an ignore file has %d patterns: the first %d count, and all plain names and paths"
        logging.getLogger("context_pack").warning(words, rules.patterns, MOST_PATTERNS)
    return rules


IgnoreFiles = tuple[tuple[int, str, IgnoreFile], ...]
"""Ignore files, each with how much of a path it does not see, and what it sees before it."""


@frozen
class IgnoreRules:
    """The ignore files that apply in one folder, the strongest first; entering a folder gives new rules."""

    _kinds: tuple[IgnoreFiles, ...] = ((), ())

    def entered(self, prefix: str, texts: tuple[str | None, ...], lead: str = "") -> IgnoreRules:
        """The rules in the folder with this prefix (empty, or ending in a slash), given its ignore files.

        A folder above the root has no prefix but a `lead`, which is what leads from it to the root.
        """
        kinds = zip(self._kinds, texts, strict=True)
        return IgnoreRules(
            tuple(
                files if text is None else ((len(prefix), lead, _compiled(text)), *files)
                for files, text in kinds
            )
        )

    def ignores(self, path: str, is_folder: bool) -> bool:
        """Whether a path relative to the root is ignored, given that its folder is not."""
        for files in reversed(self._kinds):
            for base, lead, rules in files:
                verdict = rules.verdict(lead + path[base:], is_folder)
                if verdict is not None:
                    return verdict
        return False


NO_RULES = IgnoreRules()


class IgnoredPaths:
    """Whether single paths are ignored; `text` gives an ignore file by its path, and is asked once."""

    def __init__(self, text: Callable[[str], str | None], above: IgnoreRules = NO_RULES) -> None:
        self._text = text
        self._above = above
        self._known: dict[str, IgnoreRules] = {}

    def ignores(self, path: str) -> bool:
        """Whether the path or a folder on the way is ignored."""
        rules, at = self._entered("", self._above), path.find("/")
        while at >= 0:
            if rules.ignores(path[:at], True):
                return True
            rules, at = self._entered(path[: at + 1], rules), path.find("/", at + 1)
        return rules.ignores(path, False)

    def _entered(self, prefix: str, rules: IgnoreRules) -> IgnoreRules:
        if prefix not in self._known:
            self._known[prefix] = rules.entered(
                prefix, tuple(self._text(prefix + name) for name in IGNORE_FILES)
            )
        return self._known[prefix]


def ignore_texts(folder: Handle, present: Collection[str]) -> tuple[str | None, ...]:
    """The texts of an open folder's ignore files, of those that are there; one unreadable has no lines."""
    return tuple(ignore_text(folder, name) if name in present else None for name in IGNORE_FILES)


def ignore_text(folder: Handle, name: str) -> str | None:
    """The text of an ignore file in an open folder; None if it cannot be read."""
    try:
        return read_file(folder, name, MAX_IGNORE_BYTES)[0].decode("utf-8", "surrogateescape")
    except OSError:
        return None


def ignore_text_at(root: Place, path: str) -> str | None:
    """The text of the ignore file at a path from the root; None if it cannot be read."""
    *folders, name = path.split("/")
    try:
        with root.below(*folders).held() as folder:
            return ignore_text(folder, name)
    except OSError:
        return None


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
) -> bool:
    """Show every file that counts to `seen`, folder by folder.

    Says whether it was allowed to go to its end: `go_on` is asked before each folder, until it says no.

    `wants` is asked first, of files; `rules` hold from above the root. `excluded` are folder names that are
    not entered at any depth, `except_for` folders by path. `passed` hears of what does not count.
    """

    is_wanted = True

    def look(level: Level, rules: IgnoreRules) -> Iterable[tuple[str, IgnoreRules]]:
        nonlocal is_wanted
        is_wanted = is_wanted and go_on()
        if not is_wanted:
            return []
        present = {entry.name for entry in level.entries if entry.name in IGNORE_FILES}
        if present:
            rules = rules.entered(level.prefix, ignore_texts(level.handle, present))
        below: list[tuple[str, IgnoreRules]] = []
        for entry in level.entries:
            path = level.prefix + entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if not is_folder and wants is not None and not wants(path):
                continue
            ignored = rules.ignores(path, is_folder)
            is_out = is_folder and (entry.name in excluded or path in except_for)
            if ignored or is_out or is_closed(policy, path, is_folder):
                passed(path, is_folder, ignored)
            elif is_folder:
                below.append((entry.name, rules))
            elif entry.is_file(follow_symlinks=False):
                seen(path, entry)
        return below

    walk(root, look, rules, shut)
    return is_wanted


def ways_to(root: AnyPlace, folders: Iterable[str | os.PathLike[str]]) -> tuple[str, ...]:
    """The paths from the root to those of the folders that are inside it."""
    top = Place.of(root).path
    ways = (way_from(top, os.path.abspath(folder)) for folder in folders)
    return tuple("/".join(way) for way in ways if way)
