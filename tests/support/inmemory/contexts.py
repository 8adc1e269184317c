"""Projects and folders in dictionaries.

A project is the mapping of path and content, looked at on every call. There are no links, no times of its own
(all files have the same) and nothing that cannot be read. How ignore lines hide folders is told from outside.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, MutableMapping, Sequence

from context_pack.contexts.fingerprint import content_row, fingerprint
from context_pack.contexts.model import CONTEXT_FILE, ROOT_SCOPE
from context_pack.contexts.ports import Check, ProjectFolder, Scan
from context_pack.contexts.scan import ScanRules, gather_rules, is_entered
from context_pack.kernel.ports import Reason, decode
from context_pack.kernel.text import sha256_hex

Files = Mapping[str, str | bytes]
Hides = Callable[[str, str], bool]
"""(ignore lines, scope of a folder): whether the lines hide it."""


def hides_nothing(_: str, __: str) -> bool:
    """No ignore lines count."""
    return False


class MemoryProject:
    """A `Project` below one prefix of a mapping."""

    def __init__(self, root: str, prefix: str, files: Files, hides: Hides, modified_ns: int) -> None:
        self.root = root
        self._prefix, self._files = prefix, files
        self._hides, self._modified_ns = hides, modified_ns

    def scan(self, check: Check) -> Scan | None:
        """Every folder that the rules let in."""
        rules, ignored, warnings = self._rules()
        found: list[ProjectFolder] = []
        for scope in self._scopes():
            check()
            if scope == ROOT_SCOPE or self._enters(scope, ignored, rules):
                found.append(self._folder(scope))
        return Scan(found, rules, warnings)

    def find(self, scope: str) -> ProjectFolder | Reason:
        """The folder that a caller's scope leads to."""
        path = self._resolved(scope)
        if path is None:
            return Reason.OUTSIDE
        return self._folder(path) if path in self._scopes() else Reason.MISSING

    def inside(self, scope: str) -> Sequence[str]:
        """The scopes of the folders directly in one."""
        path = self._resolved(scope)
        rules, ignored, _ = self._rules()
        wanted = ROOT_SCOPE if path is None else path
        return [
            each
            for each in self._scopes()
            if each != ROOT_SCOPE
            and (posixpath.dirname(each) or ROOT_SCOPE) == wanted
            and self._enters(each, ignored, rules)
        ]

    def text(self, scope: str, name: str) -> str | None:
        """The text of a file in a folder."""
        data = self._inside_of(scope).get(name)
        text = Reason.MISSING if data is None else decode(data)
        return None if isinstance(text, Reason) else text

    def write(self, scope: str, name: str, before: bytes | None, after: bytes) -> bool:
        """Put a file in place of another, if that is still what it was."""
        if not isinstance(self._files, MutableMapping) or self._inside_of(scope).get(name) != before:
            return False
        self._files[posixpath.normpath(posixpath.join(self._prefix, scope, name))] = after
        return True

    def context_of(self, folder: ProjectFolder) -> bytes | Reason:
        """The bytes of a folder's context file."""
        return self._inside_of(folder.scope).get(CONTEXT_FILE, Reason.MISSING)

    def fingerprint_of(self, folder: ProjectFolder, _: Check) -> str | None:
        """The fingerprint of a folder's contents."""
        files = self._inside_of(folder.scope)
        return fingerprint(content_row(row[0], sha256_hex(files.get(row[0], b""))) for row in folder.counted)

    def _rules(self) -> tuple[ScanRules, str, int]:
        files = self._inside_of(ROOT_SCOPE)
        return gather_rules(lambda name: files.get(name, b""))

    def _enters(self, scope: str, ignored: str, rules: ScanRules) -> bool:
        parts = scope.split("/")
        steps = ["/".join(parts[: number + 1]) for number in range(len(parts))]
        if len(parts) > rules.max_depth or not all(map(is_entered, parts)):
            return False
        return not any(self._hides(ignored, step) for step in steps)

    def _scopes(self) -> list[str]:
        found = {ROOT_SCOPE}
        for path in self._paths():
            folder = posixpath.dirname(path)
            while folder:
                found.add(folder)
                folder = posixpath.dirname(folder)
        return sorted(found)

    def _paths(self) -> list[str]:
        inside = f"{self._prefix}/" if self._prefix else ""
        return [path.removeprefix(inside) for path in self._files if path.startswith(inside)]

    def _inside_of(self, scope: str) -> dict[str, bytes]:
        """The files directly in a folder."""
        folder = "" if scope == ROOT_SCOPE else scope
        found = {}
        for path in self._paths():
            if posixpath.dirname(path) == folder:
                content = self._files[posixpath.join(self._prefix, path)]
                found[posixpath.basename(path)] = content.encode() if isinstance(content, str) else content
        return found

    def _folder(self, scope: str) -> ProjectFolder:
        files = self._inside_of(scope)
        return ProjectFolder(
            scope, [(name, len(data), self._modified_ns, 0, 0) for name, data in files.items()], self
        )

    def _resolved(self, scope: str) -> str | None:
        """A scope from the root; None when it leads out."""
        whole = posixpath.normpath(posixpath.join(self.root, scope.replace("\\", "/")))
        if whole == self.root:
            return ROOT_SCOPE
        inside = posixpath.join(self.root, "")
        return whole.removeprefix(inside) if whole.startswith(inside) else None


class MemoryProjects:
    """`Projects` of one mapping, whose root is called `/project`."""

    ROOT = "/project"

    def __init__(self, files: Files, hides: Hides = hides_nothing, modified_ns: int = 0) -> None:
        self._files = files
        self._hides, self._modified_ns = hides, modified_ns

    def open(self, path: str | None) -> MemoryProject | Reason:
        """The project at a path."""
        shown = self.shown(path or "")
        if shown != self.ROOT and not shown.startswith(f"{self.ROOT}/"):
            return Reason.DENIED
        prefix = shown.removeprefix(self.ROOT).strip("/")
        if prefix and not any(each.startswith(f"{prefix}/") for each in self._files):
            return Reason.MISSING
        return MemoryProject(shown, prefix, self._files, self._hides, self._modified_ns)

    def shown(self, path: str) -> str:
        """A path as callers are shown it."""
        return posixpath.normpath(posixpath.join(self.ROOT, path))
