"""Projects on disk: the source root and roots that its owner allowed; scans, reads and writes in them.

The scan goes depth first through real folders only and never fails as a whole: what cannot be listed or has
no proper name is left out and counted. A folder that is as it was when last seen is the same object again.
Every read and write starts at the root's place and goes down by descriptor.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from hashlib import file_digest, sha256
from typing import NamedTuple

from context_pack.contexts.fingerprint import fingerprint
from context_pack.contexts.model import CONTEXT_FILE, ROOT_SCOPE
from context_pack.contexts.ports import FileRow, ProjectFolder, Scan
from context_pack.contexts.scan import gather_rules, is_entered
from context_pack.kernel.errors import Failure
from context_pack.kernel.gitignore import IgnoreFile
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Reason, decode
from context_pack.kernel.text import has_half_characters
from context_pack.toolkit.call import check_call
from context_pack_adapters.files.faults import translated
from context_pack_adapters.files.folder import is_temporary, put, sweep
from context_pack_adapters.files.opening import (
    Handle,
    Place,
    Refused,
    enter,
    leave,
    open_file,
    read_file,
    scan,
    way_inside,
)
from context_pack_adapters.files.rooted import Rooted, is_closed, reason_of
from context_pack_adapters.files.signature import is_settled
from context_pack_adapters.files.walking import Level, walk

MAX_BYTES = 1024 * 1024
"""Of a context, of the rules of a scan, and of a source that is summed up."""


class ScopePolicy(PathPolicy):
    """The path policy, but a context in a folder of packages is no secret; a scan never goes there."""

    def denies_name(self, name: str) -> bool:
        """Whether a path with this segment is denied, wherever the segment stands."""
        return name != "node_modules" and PathPolicy.denies_name(self, name)


class DiskProject:
    """A `Project` on disk at a place; safe to share between threads. `root` is what callers call it."""

    def __init__(self, root: str, place: Place, policy: PathPolicy) -> None:
        self.root = root
        self._place = place
        self._policy = ScopePolicy(policy.extra)
        self._rooted = Rooted(place, self._policy)
        self._known: dict[str, ProjectFolder] = {}

    # -- the scan

    def scan(self) -> Scan | None:
        """Every folder that the rules let in; None when the root cannot be listed."""
        rules, ignored, warnings = gather_rules(self._root_file)
        lines, start_ns = IgnoreFile(ignored), time.time_ns()
        folders: dict[str, ProjectFolder] = {}

        def look_into(level: Level, depth: int) -> Iterator[tuple[str, int]]:
            nonlocal warnings
            scope = level.prefix[:-1] or ROOT_SCOPE
            check_call()
            contents = look(level.entries)
            folders[scope] = self._folder(scope, contents, start_ns)
            warnings += contents.warnings
            if depth >= rules.max_depth:
                return
            for name in contents.folders:
                entered = self._enters(level.prefix + name, name, lines)
                if entered:
                    yield name, depth + 1
                elif entered is None:
                    warnings += 1

        def shut(_: str, error: OSError) -> None:
            nonlocal warnings
            warnings += not isinstance(error, FileNotFoundError)

        walk(self._place, look_into, 0, shut)
        if ROOT_SCOPE not in folders:
            return None
        self._known = folders
        return Scan(list(folders.values()), rules, warnings)

    def _folder(self, scope: str, contents: FolderContents, now_ns: int) -> ProjectFolder:
        """The folder as just seen: the known object if nothing has changed.

        A context that is a link is read again every time.
        """
        before = self._known.get(scope)
        files, _, warnings, odd = contents
        same = before is not None and (before.rows, before.warnings) == (files, warnings)
        if before is not None and same and before.settled and not odd:
            return before
        newest = max([row.changed_ns for row in files], default=0)
        settled = not odd and is_settled(newest, newest, now_ns)
        return ProjectFolder(scope, files, self, warnings, odd, settled)

    def _enters(self, scope: str, name: str, lines: IgnoreFile) -> bool | None:
        """Whether a folder is entered; None is a no that counts as a warning: its name is no text."""
        if not is_entered(name):
            return False
        if has_half_characters(name):
            return None
        # A known folder is one that the policy lets in.
        allowed = scope in self._known or not is_closed(self._policy, scope, True)
        return allowed and not lines.verdict(scope, True)

    def _root_file(self, name: str) -> bytes | None:
        """The bytes of a file in the root, empty if there is none; None if it cannot be read."""
        content = self._rooted.read(RelativePath(name), MAX_BYTES)
        if isinstance(content, Reason):
            return b"" if content is Reason.MISSING else None
        return content[0]

    # -- one folder

    def find(self, scope: str) -> ProjectFolder | Reason:
        """The folder that a caller's scope leads to, or why there is none."""
        parts = self._spelled(scope.replace("\\", "/"))
        if parts is None:
            return Reason.OUTSIDE
        try:
            handle, reached = self._rooted.reach(parts or (".",), enter)
        except Refused as refused:
            return refused.reason
        except (OSError, ValueError):  # none, or a name that no system has
            return Reason.MISSING
        try:
            path = "/".join(reached)
            if path != ROOT_SCOPE and (has_half_characters(path) or is_closed(self._policy, path, True)):
                return Reason.DENIED
            contents = look(scan(handle))
        except OSError:
            return Reason.IO
        finally:
            leave(handle)
        folder = self._known[path] = self._folder(path, contents, time.time_ns())
        return folder

    def top(self) -> Sequence[str]:
        """The scopes of the folders right in the root that a scan would enter, sorted."""
        try:
            with self._place.held() as handle:
                folders = look(scan(handle)).folders
        except OSError:
            return []
        lines = IgnoreFile(gather_rules(self._root_file)[1])
        return sorted(name for name in folders if self._enters(name, name, lines))

    def _spelled(self, scope: str) -> tuple[str, ...] | None:
        """The parts of a scope from the root, be it relative or absolute; None for one that leads out."""
        folder = os.path.normpath(os.path.join(self.root, scope))
        ways = (way_inside(root, folder) for root in (self.root, self._place.path))
        return next((way for way in ways if way is not None), None)

    # -- files

    def text(self, scope: str, name: str) -> str | None:
        """The text of a file in a folder; None when it is no text, too large or not to be read."""
        try:
            content = self._rooted.read(RelativePath("/".join([*_parts(scope), name])), MAX_BYTES)
        except Failure:
            return None
        if isinstance(content, Reason):
            return None
        text = decode(content[0])
        return None if isinstance(text, Reason) else text

    def write(self, scope: str, before: bytes | None, after: bytes) -> bool:
        """Put a context in place of `before` in one step; False when that is no longer there.

        Raises:
            Failure: `io_error`.
        """
        with translated(CONTEXT_FILE):
            try:
                with self._place.below(*_parts(scope)).held() as folder:
                    return _replace(folder, before, after)
            except (FileNotFoundError, NotADirectoryError):  # the folder is gone, or a link now
                return False

    def context_of(self, folder: ProjectFolder) -> bytes | Reason:
        """The bytes of a folder's context file, or why they cannot be had."""
        try:
            return self._rooted.reach((*_parts(folder.scope), CONTEXT_FILE), _context_bytes)[0]
        except OSError as error:
            reason = reason_of(error)
        return Reason.MISSING if reason is Reason.DENIED else reason

    def fingerprint_of(self, folder: ProjectFolder) -> str | None:
        """The fingerprint of a folder's contents; None when a file cannot be read.

        It is computed once for as long as the folder is the same object.
        """
        if "contents" in folder.memo:
            return str(folder.memo["contents"])
        try:
            with self._place.below(*_parts(folder.scope)).held() as handle:
                names = (row.name for row in folder.counted)
                contents = fingerprint(f"{name}:{digest_of(handle, name)}" for name in names)
        except OSError:
            return None
        if folder.settled:
            folder.memo["contents"] = contents
        return contents


def _replace(folder: Handle, before: bytes | None, after: bytes) -> bool:
    mode = None
    try:
        now, status = read_file(folder, CONTEXT_FILE, MAX_BYTES)
        mode = status.st_mode
    except FileNotFoundError:
        now = None
    except OSError:  # a link, a folder, something too large: not what was seen before
        return False
    if now != before:
        return False
    sweep(folder, CONTEXT_FILE)
    put(folder, {CONTEXT_FILE: after}, mode)
    return True


def _context_bytes(folder: Handle, name: str) -> bytes:
    return read_file(folder, name, MAX_BYTES)[0]


def _parts(scope: str) -> list[str]:
    return [] if scope == ROOT_SCOPE else scope.split("/")


KEPT_PROJECTS = 16


class DiskProjects:
    """`Projects` on disk; safe to share between threads."""

    def __init__(self, source_root: str, allowed: Sequence[str], policy: PathPolicy) -> None:
        self._source_root = os.path.abspath(source_root)
        self._allowed = (self._source_root, *map(os.path.abspath, allowed))
        self._policy = ScopePolicy(policy.extra)
        # A project knows what was found out about its folders by earlier calls.
        self._project = lru_cache(KEPT_PROJECTS)(partial(DiskProject, policy=policy))

    def open(self, path: str | None) -> DiskProject | Reason:
        """The project at a path, if it lies where it may; what is outside never shows whether it exists."""
        shown = self.shown(path or "")
        try:
            spellings = dict.fromkeys((shown, os.path.realpath(shown)))
        except (OSError, ValueError):
            return Reason.DENIED
        for root in self._allowed:
            for spelled in spellings:
                place = self._inside(root, spelled)
                if isinstance(place, Place):
                    return self._project(shown, place)
                if place is Reason.MISSING:
                    return place
        return Reason.DENIED

    def shown(self, path: str) -> str:
        """A path as callers are shown it: absolute, not resolved."""
        return os.path.normpath(os.path.join(self._source_root, path))

    def _inside(self, root: str, spelled: str) -> Place | Reason:
        """The place of a folder in an allowed root, reached without leaving it."""
        parts = way_inside(root, spelled)
        if parts is None:
            return Reason.DENIED
        if parts and is_closed(self._policy, "/".join(parts), True):
            return Reason.DENIED
        try:
            handle, reached = Rooted(root, self._policy).reach(tuple(parts) or (".",), enter)
        except Refused:
            return Reason.DENIED
        except OSError:
            return Reason.MISSING
        try:
            scan(handle)
        except OSError:
            return Reason.MISSING
        finally:
            leave(handle)
        return Place(root, tuple(part for part in reached if part != "."))


# -- a look at a folder: names, sizes and times of its files; nothing is read

LARGEST_HASHED = 64 * 1024 * 1024
"""A file of more bytes counts by its size alone: a sparse one could keep a listing busy for hours."""


class FolderContents(NamedTuple):
    """The contents of a folder: regular files, folders, and how many names had to be left out."""

    files: list[FileRow]
    folders: list[str]
    warnings: int
    odd_context: bool
    """Whether the context file is something else than a regular file: a link, a folder, a pipe."""


def look(entries: Iterable[os.DirEntry[str]]) -> FolderContents:
    """The files and folders of an open folder; what vanishes meanwhile is not there."""
    files: list[FileRow] = []
    folders: list[str] = []
    warnings, odd = 0, False
    for entry in entries:
        name = entry.name
        if entry.is_file(follow_symlinks=False):
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            except OSError:
                warnings += 1
                continue
            if has_half_characters(name):
                warnings += 1
            elif name[0] != "." or not is_temporary(name):
                times = status.st_mtime_ns, status.st_ctime_ns
                files.append(FileRow(name, status.st_size, *times, status.st_ino))
        elif entry.is_dir(follow_symlinks=False):
            folders.append(name)
            odd = odd or name == CONTEXT_FILE
        elif name == CONTEXT_FILE:
            odd = True
    return FolderContents(files, folders, warnings, odd)


def digest_of(folder: Handle, name: str) -> str:
    """The SHA-256 of the bytes of a file in an open folder; of a very large one, that of its size.

    Raises:
        OSError: they cannot be had.
    """
    check_call()
    opened = open_file(folder, name)
    with open(opened.descriptor, "rb", buffering=0) as stream:
        size = opened.status.st_size
        digest = sha256(str(size).encode()) if size > LARGEST_HASHED else file_digest(stream, "sha256")
    return digest.hexdigest()
