"""A project on disk: the scan of its folders, one folder by its scope, and writing beside the code.

The scan goes depth first through real folders only and never fails as a whole: what cannot be listed or has
no proper name is left out and counted. A folder that is as it was when last seen is the same object again.
Context files and sources are read through `Rooted`, or with its proof: what counts is the opened file.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import evolve

from context_pack.contexts.domain.model import CONFIG_FILE, CONTEXT_FILE, ROOT_SCOPE
from context_pack.contexts.domain.scan import IGNORE_FILES, Rules, is_entered, read_rules
from context_pack.contexts.ports import Check, ContextFormat, Malformed, Refusal, Scan
from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Reason
from context_pack.kernel.text import decode
from context_pack_adapters.disk.atomic import is_temporary, read_whole, remove_stale, write_atomic
from context_pack_adapters.disk.faults import translated
from context_pack_adapters.disk.gitignore import IgnoreFile
from context_pack_adapters.disk.rooted import Rooted
from context_pack_adapters.stores.context_folder import DiskFolder, Look, is_decodable, look, read_placed
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
    """A `Project` on disk; safe to share between threads. `real` is the root without links."""

    def __init__(
        self, root: str, real: str, policy: PathPolicy, form: ContextFormat, seen: SeenFolders
    ) -> None:
        self.root = root
        self._real = real
        self._policy = ScopePolicy(policy.extra)
        self._by_path = any("/" in glob or "\\" in glob for glob in policy.extra)
        self._format, self._seen = form, seen
        self._contexts = Rooted(Path(real), self._policy)
        self._sources = Rooted(Path(real), policy)
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
        waiting: list[tuple[str, str, int]] = [(ROOT_SCOPE, self._real, 0)]
        while waiting:
            scope, path, depth = waiting.pop()
            if len(known) % FOLDERS_BETWEEN_CHECKS == 0:
                check()
            try:
                seen = look(path)
            except OSError as error:
                if scope == ROOT_SCOPE:
                    return None
                warnings += not isinstance(error, FileNotFoundError)
                continue
            folder = self._folder(scope, path, seen, start_ns)
            known[scope] = folder
            warnings += folder.warnings
            if depth >= rules.max_depth or not seen.folders:
                continue
            prefix = "" if scope == ROOT_SCOPE else scope + "/"
            for name in seen.folders:
                entered = may_enter(prefix + name, name)
                if entered:
                    waiting.append((prefix + name, f"{path}{os.sep}{name}", depth + 1))
                elif entered is None:
                    warnings += 1
        self._known = known
        last, folders = self._last, list(known.values())
        # Folders are equal only to themselves; `find` knows some that the last scan has not seen.
        if last is None or last.folders != folders or last.rules != rules:
            last = self._last = Scan(folders, rules, warnings)
        elif last.warnings != warnings:
            last = self._last = evolve(last, warnings=warnings)
        return last

    def _folder(self, scope: str, path: str, seen: Look, now_ns: int) -> DiskFolder:
        """The folder as just seen: the known object if nothing has changed."""
        before = self._known.get(scope)
        if before is not None and before.is_still(seen):
            return before
        return DiskFolder(scope, path, seen, now_ns, self._context, self._seen, before)

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
        place = self._resolved(scope)
        if isinstance(place, Refusal):
            return place
        real, path = place
        try:
            if path != ROOT_SCOPE and (not is_decodable(path) or self._policy.denies_scope(path)):
                return None
            seen = look(real)
        except OSError:
            return None
        folder = self._folder(path, real, seen, time.time_ns())
        self._known[path] = folder
        return folder

    def inside(self, scope: str) -> Sequence[str]:
        """The scopes of the folders directly in one, as far as a scan would enter them, sorted."""
        place = self._resolved(scope)
        if isinstance(place, Refusal):
            return []
        real, path = place
        try:
            names = look(real).folders
        except OSError:
            return []
        may_enter = self._gate(self._rules()[1])
        prefix = "" if path == ROOT_SCOPE else path + "/"
        return sorted(prefix + name for name in names if may_enter(prefix + name, name))

    def _resolved(self, scope: str) -> tuple[str, str] | Refusal:
        """Where a scope really is, absolute and from the root."""
        try:
            real = os.path.realpath(os.path.join(self._real, scope.replace("\\", "/")))
        except (OSError, ValueError):  # a name that no system has, or links in a circle
            return Refusal.NOT_A_FOLDER
        if real == self._real:
            return real, ROOT_SCOPE
        inside = os.path.join(self._real, "")
        if not real.startswith(inside):
            return self._spelled(scope)
        return real, real.removeprefix(inside).replace(os.sep, "/")

    def _spelled(self, scope: str) -> tuple[str, str] | Refusal:
        """An absolute scope below the root as callers are shown it, when that leads there through a link."""
        shown = os.path.join(self.root, "")
        if self.root != self._real and scope.startswith(shown):
            return self._resolved(scope.removeprefix(shown))
        return Refusal.OUTSIDE

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
        folder = self._real if scope == ROOT_SCOPE else os.path.join(self._real, *scope.split("/"))
        if os.path.realpath(folder) != folder:
            return False
        path = os.path.join(folder, name)
        with translated(name):
            mode = None
            try:
                now, status = read_whole(path, max(len(after), MAX_CONTEXT_BYTES))
                mode = status.st_mode
            except FileNotFoundError:
                now = None
            except OSError:  # a link, a folder, something too large: not what was seen before
                return False
            if now != before:
                return False
            self._sweep(scope, folder)
            write_atomic(folder, name, after, mode)
        return True

    def _sweep(self, scope: str, folder: str) -> None:
        """Remove what a killed write left behind long ago."""
        known = self._known.get(scope)
        if known is not None and any(is_temporary(row[0]) for row in known.files):
            now = time.time()
            with os.scandir(folder) as entries:
                for entry in entries:
                    if is_temporary(entry.name) and entry.name.startswith(f".{CONTEXT_FILE}."):
                        remove_stale(entry, now)

    def _context(self, scope: str) -> bytes | Refusal | None:
        """The bytes of a folder's context file."""
        inside = CONTEXT_FILE if scope == ROOT_SCOPE else f"{scope}/{CONTEXT_FILE}"
        data = read_placed(os.path.join(self._real, inside), MAX_CONTEXT_BYTES)
        if data is not None:
            return data
        try:
            found = self._contexts.read(_path(scope, CONTEXT_FILE), MAX_CONTEXT_BYTES)
        except Failure:  # no path of ours, and not plainly in its place
            return Refusal.UNREADABLE
        if not isinstance(found, Reason):
            return found[0]
        if found in (Reason.MISSING, Reason.DENIED):
            return None
        if found is Reason.TOO_LARGE:
            return Refusal.TOO_LARGE
        return Refusal.OUTSIDE if found is Reason.OUTSIDE else Refusal.UNREADABLE


def _path(scope: str, name: str) -> RelativePath:
    return RelativePath(name if scope == ROOT_SCOPE else f"{scope}/{name}")
