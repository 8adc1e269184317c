"""A project on disk: the scan of its folders, one folder by its scope, and writing beside the code.

The scan goes depth first through real folders only and never fails as a whole: what cannot be listed or has
no proper name is left out and counted. A folder that is as it was when last seen is the same object again.
Every read and write starts at the root's place and goes down by descriptor.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence

from attrs import evolve

from context_pack.contexts.domain.model import CONFIG_FILE, CONTEXT_FILE, ROOT_SCOPE
from context_pack.contexts.domain.scan import IGNORE_FILES, Rules, is_entered, read_rules
from context_pack.contexts.ports import Check, ContextFormat, Malformed, Refusal, Scan
from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Reason
from context_pack.kernel.text import decode
from context_pack_adapters.disk.faults import translated
from context_pack_adapters.disk.gitignore import IgnoreFile
from context_pack_adapters.disk.opening import Handle, Place, TooLarge, enter, leave, read_file, scan
from context_pack_adapters.disk.rooted import Refused, Rooted, reason_of
from context_pack_adapters.disk.walking import Level, walk
from context_pack_adapters.disk.writing import put, sweep
from context_pack_adapters.stores.context_folder import DiskFolder, Look, is_decodable, look
from context_pack_adapters.stores.context_policy import ScopePolicy
from context_pack_adapters.stores.context_seen import SeenFolders

MAX_CONTEXT_BYTES = 1024 * 1024
MAX_SOURCE_BYTES = 1024 * 1024
MAX_RULES_BYTES = 1024 * 1024
FOLDERS_BETWEEN_CHECKS = 64
SURE_CHARS = 250
EASY_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")
"""Names that need no second look to know that a path can spell them."""


class DiskProject:
    """A `Project` on disk at a place; safe to share between threads. `root` is what callers call it."""

    def __init__(
        self, root: str, place: Place, policy: PathPolicy, form: ContextFormat, seen: SeenFolders
    ) -> None:
        self.root = root
        self._place = place
        self._policy = ScopePolicy(policy.extra)
        self._by_path = any("/" in glob or "\\" in glob for glob in policy.extra)
        self._format, self._seen = form, seen
        self._contexts = Rooted(place, self._policy)
        self._sources = Rooted(place, policy)
        self._known: dict[str, DiskFolder] = {}
        self._last: Scan | None = None
        self._entered: tuple[str, dict[str, bool]] = ("", {})

    # -- the scan

    def scan(self, check: Check) -> Scan | None:
        """Every folder that the rules let in; None when the root cannot be listed."""
        rules, ignored, warnings = self._rules()
        may_enter = self._gate(ignored)
        start_ns = time.time_ns()
        known: dict[str, DiskFolder] = {}

        def look_into(level: Level, depth: int) -> Iterator[tuple[str, int]]:
            nonlocal warnings
            scope = level.prefix[:-1] or ROOT_SCOPE
            if len(known) % FOLDERS_BETWEEN_CHECKS == 0:
                check()
            seen = look(level.entries)
            known[scope] = self._folder(scope, seen, start_ns)
            warnings += seen.warnings
            if depth >= rules.max_depth:
                return
            for name in seen.folders:
                entered = may_enter(level.prefix + name, name)
                if entered:
                    yield name, depth + 1
                elif entered is None:
                    warnings += 1

        def shut(_: str, error: OSError) -> None:
            nonlocal warnings
            warnings += not isinstance(error, FileNotFoundError)

        walk(self._place, look_into, 0, shut)
        if ROOT_SCOPE not in known:
            return None
        self._known = known
        last, folders = self._last, list(known.values())
        # Folders are equal only to themselves; `find` knows some that the last scan has not seen.
        if last is None or last.folders != folders or last.rules != rules:
            last = self._last = Scan(folders, rules, warnings)
        elif last.warnings != warnings:
            last = self._last = evolve(last, warnings=warnings)
        return last

    def _folder(self, scope: str, seen: Look, now_ns: int) -> DiskFolder:
        """The folder as just seen: the known object if nothing has changed."""
        before = self._known.get(scope)
        if before is not None and before.is_still(seen):
            return before
        place = self._place.below(*_parts(scope))
        return DiskFolder(scope, place, seen, now_ns, self._context, self._seen, before)

    def _gate(self, ignored: str) -> Callable[[str, str], bool | None]:
        """Decides for each folder whether it is entered; None is a no that counts as a warning."""
        if self._entered[0] != ignored:
            self._entered = (ignored, {})
        decided = self._entered[1]
        lines = IgnoreFile(ignored)

        def enters(scope: str, name: str) -> bool | None:
            verdict = decided.get(scope)
            if verdict is None and is_entered(name):
                if is_decodable(name) and lines.verdict(scope, True):
                    verdict = False
                else:
                    verdict = self._allows(scope, name)
                if verdict is not None:
                    decided[scope] = verdict
            return verdict if is_entered(name) else False

        return enters

    def _allows(self, scope: str, name: str) -> bool | None:
        """Whether the policy lets a folder in whose parent it lets in; None for a name that is no text."""
        if not self._by_path and len(scope) < SURE_CHARS and EASY_NAME.fullmatch(name):
            return not self._policy.denies_name(name)
        return not self._policy.denies_scope(scope) if is_decodable(name) else None

    def _rules(self) -> tuple[Rules, str, int]:
        """How to scan, the lines that hide folders, and how much of the configuration was not understood."""
        warnings = 0
        config: object = None
        data = self._root_file(CONFIG_FILE)
        if data is None:
            warnings += 1
        elif data:
            config = self._format.parse(data)
            if isinstance(config, Malformed):
                config = None
                warnings += 1
        rules, faults = read_rules(config)
        texts: list[str] = []
        for name in IGNORE_FILES:
            data = self._root_file(name)
            if data is None:
                warnings += 1
            elif data:
                texts.append(data.decode("utf-8", "surrogateescape").removeprefix("\ufeff"))
        return rules, "\n".join([*texts, *rules.ignore]), warnings + faults

    def _root_file(self, name: str) -> bytes | None:
        """The bytes of a file in the root, empty if there is none; None if it cannot be read."""
        found = self._contexts.read(RelativePath(name), MAX_RULES_BYTES)
        if isinstance(found, Reason):
            return b"" if found is Reason.MISSING else None
        return found[0]

    # -- one folder

    def find(self, scope: str) -> DiskFolder | Refusal | None:
        """The folder that a caller's scope leads to; None when there is none."""
        found = self._looked(scope)
        if found is None or isinstance(found, Refusal):
            return found
        path, seen = found
        folder = self._folder(path, seen, time.time_ns())
        self._known[path] = folder
        return folder

    def inside(self, scope: str) -> Sequence[str]:
        """The scopes of the folders directly in one, as far as a scan would enter them, sorted."""
        found = self._looked(scope)
        if found is None or isinstance(found, Refusal):
            return []
        path, seen = found
        may_enter = self._gate(self._rules()[1])
        prefix = "" if path == ROOT_SCOPE else path + "/"
        return sorted(prefix + name for name in seen.folders if may_enter(prefix + name, name))

    def _looked(self, scope: str) -> tuple[str, Look] | Refusal | None:
        """Where a scope leads, from the root and without links, and what is there."""
        parts = self._spelled(scope.replace("\\", "/"))
        if parts is None:
            return Refusal.OUTSIDE
        try:
            handle, reached = self._contexts.reach(parts or ["."], enter)
        except Refused as refused:
            return Refusal.OUTSIDE if refused.reason is Reason.OUTSIDE else None
        except OSError:
            return None
        except ValueError:  # a name that no system has
            return Refusal.NOT_A_FOLDER
        try:
            path = "/".join(reached)
            if path != ROOT_SCOPE and (not is_decodable(path) or self._policy.denies_scope(path)):
                return None
            return path, look(scan(handle))
        except OSError:
            return None
        finally:
            leave(handle)

    def _spelled(self, scope: str) -> list[str] | None:
        """The parts of a scope from the root, be it relative or absolute; None for one that leads out."""
        for root in (self.root, self._place.path, os.path.realpath(self._place.path)):
            place = os.path.normpath(os.path.join(root, scope))
            if place == root or place.startswith(os.path.join(root, "")):
                return [part for part in place[len(root) :].split(os.sep) if part]
        return None

    # -- files

    def text(self, scope: str, name: str) -> str | None:
        """The text of a file in a folder; None when it is no text, too large or not to be read."""
        try:
            found = self._sources.read(_path(scope, name), MAX_SOURCE_BYTES)
        except Failure:
            return None
        if isinstance(found, Reason):
            return None
        text = decode(found[0])
        return None if isinstance(text, Reason) else text

    def write(self, scope: str, name: str, before: bytes | None, after: bytes) -> bool:
        """Put a file in place of `before` in one step; False when that is no longer there.

        Raises:
            Failure: `io_error`.
        """
        with translated(name):
            try:
                with self._place.below(*_parts(scope)).held() as folder:
                    return self._replace(folder, name, before, after)
            except (FileNotFoundError, NotADirectoryError):  # the folder is gone, or a link now
                return False

    def _replace(self, folder: Handle, name: str, before: bytes | None, after: bytes) -> bool:
        mode = None
        try:
            now, status = read_file(folder, name, max(len(after), MAX_CONTEXT_BYTES))
            mode = status.st_mode
        except FileNotFoundError:
            now = None
        except OSError:  # a link, a folder, something too large: not what was seen before
            return False
        if now != before:
            return False
        sweep(folder, CONTEXT_FILE)
        put(folder, name, after, mode)
        return True

    def _context(self, scope: str) -> bytes | Refusal | None:
        """The bytes of a folder's context file."""
        try:
            return self._contexts.reach([*_parts(scope), CONTEXT_FILE], _context_bytes)[0]
        except Refused as refused:
            found = refused.reason
        except TooLarge:
            return Refusal.TOO_LARGE
        except OSError as error:
            found = reason_of(error)
        if found in (Reason.MISSING, Reason.DENIED):
            return None
        return Refusal.OUTSIDE if found is Reason.OUTSIDE else Refusal.UNREADABLE


def _context_bytes(folder: Handle, name: str) -> bytes:
    return read_file(folder, name, MAX_CONTEXT_BYTES)[0]


def _parts(scope: str) -> list[str]:
    return [] if scope == ROOT_SCOPE else scope.split("/")


def _path(scope: str, name: str) -> RelativePath:
    return RelativePath(name if scope == ROOT_SCOPE else f"{scope}/{name}")
