"""What the context use cases ask of the world: projects and their folders.

A `ProjectFolder` is one folder as it was when it was looked at; a project gives the same object again as long
as nothing in it has changed, so what was found out about it can be kept in its `memo`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from attrs import field, frozen

from context_pack.contexts.fingerprint import Freshness, Method, compared, fingerprint, stat_row
from context_pack.contexts.model import CONTEXT_FILE, ROOT_SCOPE
from context_pack.contexts.scan import BUNDLE_FILE, ScanRules, is_source, is_within, kept_scopes
from context_pack.kernel.ports import Reason


class FileRow(NamedTuple):
    """A file as a look at its folder finds it; every later change of the file shows in one of these."""

    name: str
    size: int
    modified_ns: int
    changed_ns: int
    inode: int


@frozen(eq=False)
class ProjectFolder:
    """One folder of a project at one moment.

    `rows` are its regular files, `warnings` counts names that had to be left out, `odd_context` says that its
    context file is a link, a folder or a pipe, `settled` that any later change would show in the rows. `memo`
    is for what was found out about the folder as it is.
    """

    scope: str
    rows: Sequence[FileRow]
    project: Project
    warnings: int = 0
    odd_context: bool = False
    settled: bool = False
    memo: dict[str, Any] = field(factory=dict, repr=False)

    @cached_property
    def sources(self) -> Mapping[str, int]:
        """The names of the sources directly in it, sorted, and their sizes."""
        return {row.name: row.size for row in sorted(self.rows) if is_source(row.name)}

    @cached_property
    def counted(self) -> Sequence[FileRow]:
        """The rows that a fingerprint is taken of."""
        return [row for row in self.rows if row.name != CONTEXT_FILE]

    @property
    def has_context(self) -> bool:
        """Whether one of its files is a context."""
        return len(self.counted) < len(self.rows)

    @property
    def stat_fingerprint(self) -> str:
        """The fingerprint of times and sizes."""
        return fingerprint(stat_row(row.name, row.modified_ns, row.size) for row in self.counted)

    def fingerprint(self, method: Method) -> str | None:
        """The fingerprint by that method; None when a file cannot be read for it."""
        return self.stat_fingerprint if method is Method.STAT else self.project.fingerprint_of(self)

    def freshness(self, stored: str) -> Freshness:
        """How a stored fingerprint compares with the folder."""
        return compared(stored, self.stat_fingerprint, lambda: self.fingerprint(Method.CONTENT))

    def context(self) -> bytes | Reason:
        """The bytes of its context file, or why they cannot be had."""
        return self.project.context_of(self) if self.has_context or self.odd_context else Reason.MISSING


@frozen
class Scan:
    """Every folder of a project that its rules let in, and what had to be left out."""

    folders: Sequence[ProjectFolder]
    rules: ScanRules
    warnings: int

    def kept(self) -> tuple[list[ProjectFolder], int]:
        """The folders that are worth a context, sorted by scope, and how many with sources are not."""
        bundles = [each.scope for each in self.folders if any(row.name == BUNDLE_FILE for row in each.rows)]
        free = [each for each in self.folders if each.sources and not self._is_of_a_bundle(each, bundles)]
        sizes = {each.scope: sum(each.sources.values()) for each in free}
        scopes = kept_scopes(sizes, self.rules.min_tokens)
        skipped = sum(1 for each in self.folders if each.sources and each.scope not in scopes)
        return sorted((each for each in self.folders if each.scope in scopes), key=_scope), skipped

    def _is_of_a_bundle(self, folder: ProjectFolder, bundles: Sequence[str]) -> bool:
        """Whether a folder belongs to a bundle, where a new YAML file would be taken for an entity."""
        if folder.scope == ROOT_SCOPE or folder.has_context:
            return False
        return any(is_within(folder.scope, scope) for scope in bundles)


def _scope(folder: ProjectFolder) -> str:
    return folder.scope


class Project(Protocol):
    """One root and what is below it; nothing outside can be reached."""

    @property
    def root(self) -> str:
        """The root as callers are shown it."""

    def scan(self) -> Scan | None:
        """All folders; None when the root cannot be listed."""

    def find(self, scope: str) -> ProjectFolder | Reason:
        """The folder that a caller's scope leads to, or why there is none."""

    def top(self) -> Sequence[str]:
        """The scopes of the folders right in the root that a scan would enter, sorted."""

    def context_of(self, folder: ProjectFolder) -> bytes | Reason:
        """The bytes of a folder's context file, or why they cannot be had."""

    def fingerprint_of(self, folder: ProjectFolder) -> str | None:
        """The fingerprint of a folder's contents; None when a file cannot be read."""

    def text(self, scope: str, name: str) -> str | None:
        """The text of a file in a folder; None when it is no text, too large or not to be read."""

    def write(self, scope: str, before: bytes | None, after: bytes) -> bool:
        """Put a context in place of `before` (None: nothing) in one step; False if that is gone."""


class Projects(Protocol):
    """The projects that may be asked about."""

    def open(self, path: str | None) -> Project | Reason:
        """The project at a path, taken from the source root; None is the source root itself.

        `DENIED` is a path that is not allowed, `MISSING` what is no folder that can be listed.
        """

    def shown(self, path: str) -> str:
        """A path as callers are shown it: absolute, not resolved."""
