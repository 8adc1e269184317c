"""Which files of a tree count: ignore files at every level, the path policy, folders left out by name.

`.gitignore` and `.ignore` are read in each folder on the way down. A deeper file wins over a higher one,
and any `.ignore` over any `.gitignore`, as ripgrep has it; what lies in an ignored folder cannot be taken
back. Hidden files count; symbolic links, and names that no relative path can spell, do not. Folders are
opened one from the other, so that no swap on the way leads the walk out of the root.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path

from attrs import evolve, frozen

from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack_adapters.disk.atomic import read_whole
from context_pack_adapters.disk.gitignore import IgnoreFile

IGNORE_FILES = (".gitignore", ".ignore")
MAX_IGNORE_BYTES = 1024 * 1024
MAX_DEPTH = 128

# Names that need no closer look to be parts of a path.
_EASY = re.compile(r"[A-Za-z0-9_.+@=,~#%-][A-Za-z0-9_.+@=,~#% ()-]{0,199}")
_SURE_CHARS = 250
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_BY_DESCRIPTOR = os.scandir in os.supports_fd and os.open in os.supports_dir_fd


class _FromAbove(IgnoreFile):
    """An ignore file of a folder above the root; `lead` is the way from there to the root."""

    def __init__(self, lead: str, text: str) -> None:
        super().__init__(text)
        self._lead = lead

    def verdict(self, path: str, is_folder: bool) -> bool | None:
        """Whether a path relative to the root is ignored."""
        return super().verdict(self._lead + path, is_folder)


Levels = tuple[tuple[int, IgnoreFile], ...]
Passed = Callable[[str, bool, bool], None]
"""Hears of a path, whether it is a folder, and whether ignore files (or else the gate) left it out."""


@frozen
class IgnoreRules:
    """The ignore files that apply in one folder, the strongest first; entering a folder gives new rules."""

    _kinds: tuple[Levels, ...] = ((), ())

    def entered(self, prefix: str, texts: tuple[str | None, ...], lead: str = "") -> IgnoreRules:
        """The rules in the folder with this prefix (empty, or ending in a slash), given its ignore files.

        A folder above the root has no prefix but a `lead`, which is what leads from it to the root.
        """
        if not any(text is not None for text in texts):
            return self

        def level(text: str) -> tuple[int, IgnoreFile]:
            return len(prefix), _FromAbove(lead, text) if lead else IgnoreFile(text)

        return evolve(
            self,
            kinds=tuple(
                levels if text is None else (level(text), *levels)
                for levels, text in zip(self._kinds, texts, strict=True)
            ),
        )

    def ignores(self, path: str, is_folder: bool) -> bool:
        """Whether a path relative to the root is ignored, given that its folder is not."""
        for levels in reversed(self._kinds):
            for base, rules in levels:
                verdict = rules.verdict(path[base:], is_folder)
                if verdict is not None:
                    return verdict
        return False


def walk(
    root: Path,
    policy: PathPolicy,
    excluded: Collection[str] = (),
    go_on: Callable[[], bool] = lambda: True,
    passed: Passed = lambda _, __, ___: None,
) -> Iterator[str]:
    """The paths of the files that count, relative to `root`, in plain string order.

    `excluded` are folder names left out at any depth. `go_on` is asked before each folder; once it says no,
    the walk ends. What cannot be listed is left out. `passed` hears of files and folders that do not count.
    """
    return _Walk(Gate(policy, excluded), go_on, passed).folder(os.path.abspath(root), None, "", IgnoreRules())


def visit(
    root: Path,
    policy: PathPolicy,
    rules: IgnoreRules,
    wants: Callable[[str], bool],
    seen: Callable[[str, os.DirEntry[str]], None],
    except_for: Collection[str] = (),
    passed: Passed = lambda _, __, ___: None,
    shut: Callable[[str], None] = lambda _: None,
) -> None:
    """Show every file that counts and is wanted, and every symbolic link, to `seen`, in no order.

    `rules` hold from above the root; `except_for` are folders by path that are not entered; `shut` hears of
    those that are there and cannot be listed, each with a slash behind it. An entry's state must be asked for
    while it is shown. Faster than `walk`: for those who look at all of a tree often.
    """
    visited = _Walk(Gate(policy, except_for=except_for), lambda: True, passed, shut)
    visited.show(os.path.abspath(root), None, "", rules, wants, seen)


class Gate:
    """Who is left out whatever the ignore files say: by the policy, by a folder's name or by its path."""

    def __init__(
        self, policy: PathPolicy, excluded: Collection[str] = (), except_for: Collection[str] = ()
    ) -> None:
        self._policy = policy
        self._excluded = frozenset(excluded)
        self._except_for = frozenset(except_for)
        self._by_path = any("/" in glob or "\\" in glob for glob in policy.extra)

    def closed(self, name: str, path: str, is_folder: bool) -> bool:
        """Whether an entry of this name at this path is left out."""
        if is_folder and (name in self._excluded or path in self._except_for):
            return True
        if self._policy.denies_name(name):
            return True
        if not self._by_path and len(path) < _SURE_CHARS and _EASY.fullmatch(name):
            return False
        try:
            return self._policy.denies(RelativePath(path))
        except Failure:
            return True


class _Walk:
    """What stays the same during one walk."""

    def __init__(
        self,
        gate: Gate,
        go_on: Callable[[], bool],
        passed: Passed,
        shut: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._closed = gate.closed
        self._go_on, self._passed, self._shut = go_on, passed, shut

    def folder(self, name: str, parent: int | None, prefix: str, rules: IgnoreRules) -> Iterator[str]:
        """The files in a folder and below it."""
        if not self._go_on() or prefix.count("/") > MAX_DEPTH:
            return
        with suppress(OSError):
            handle: int | str = name
            if _BY_DESCRIPTOR:
                # The root itself may be a link: that is the choice of whoever named it.
                flags = _FOLDER | _NOFOLLOW if prefix else _FOLDER
                handle = os.open(name, flags, dir_fd=parent)
            try:
                yield from self._inside(handle, prefix, rules)
            finally:
                if isinstance(handle, int):
                    os.close(handle)

    def _inside(self, handle: int | str, prefix: str, rules: IgnoreRules) -> Iterator[str]:
        entries = listed(handle)
        present = {name for name, is_folder in entries if not is_folder and name in IGNORE_FILES}
        if present:
            rules = rules.entered(prefix, tuple(_read(handle, name, present) for name in IGNORE_FILES))
        for name, is_folder in entries:
            path = prefix + name
            if (closed := self._closed(name, path, is_folder)) or rules.ignores(path, is_folder):
                self._passed(path, is_folder, not closed)
            elif not is_folder:
                yield path
            elif isinstance(handle, int):
                yield from self.folder(name, handle, path + "/", rules)
            else:
                yield from self.folder(os.path.join(handle, name), None, path + "/", rules)

    def show(
        self,
        name: str,
        parent: int | None,
        prefix: str,
        rules: IgnoreRules,
        wants: Callable[[str], bool],
        seen: Callable[[str, os.DirEntry[str]], None],
    ) -> None:
        """Show what is in a folder and below it."""
        if prefix.count("/") > MAX_DEPTH:
            return
        try:
            handle: int | str = name
            if _BY_DESCRIPTOR:
                handle = os.open(name, _FOLDER | _NOFOLLOW if prefix else _FOLDER, dir_fd=parent)
            try:
                with os.scandir(handle) as entries:
                    found = list(entries)
                present = {entry.name for entry in found if entry.name in IGNORE_FILES}
                if present:
                    rules = rules.entered(prefix, tuple(_read(handle, one, present) for one in IGNORE_FILES))
                for entry in found:
                    path = prefix + entry.name
                    is_folder = entry.is_dir(follow_symlinks=False)
                    if not is_folder and not wants(path) and not entry.is_symlink():
                        continue
                    if rules.ignores(path, is_folder) or self._closed(entry.name, path, is_folder):
                        self._passed(path, is_folder, rules.ignores(path, is_folder))
                        continue
                    if is_folder:
                        below = entry.name if isinstance(handle, int) else os.path.join(handle, entry.name)
                        inside = handle if isinstance(handle, int) else None
                        self.show(below, inside, path + "/", rules, wants, seen)
                    elif entry.is_file(follow_symlinks=False) or entry.is_symlink():
                        seen(path, entry)
            finally:
                if isinstance(handle, int):
                    os.close(handle)
        except OSError as error:
            if not isinstance(error, FileNotFoundError | NotADirectoryError):  # it has gone meanwhile
                self._shut(prefix)


def listed(handle: int | str) -> list[tuple[str, bool]]:
    """Files and folders, without links, in the plain string order of the paths below them."""
    found = []
    with os.scandir(handle) as entries:
        for entry in entries:
            with suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    found.append((entry.name + "/", entry.name, True))
                elif entry.is_file(follow_symlinks=False):
                    found.append((entry.name, entry.name, False))
    found.sort()
    return [(name, is_folder) for _, name, is_folder in found]


def _read(handle: int | str, name: str, present: Collection[str]) -> str | None:
    """The text of an ignore file; one that cannot be read has no lines."""
    if name not in present:
        return None
    try:
        if isinstance(handle, int):
            data, _ = read_whole(name, MAX_IGNORE_BYTES, dir_fd=handle)
        else:
            data, _ = read_whole(os.path.join(handle, name), MAX_IGNORE_BYTES)
    except OSError:
        return None
    return data.decode("utf-8", "surrogateescape")
