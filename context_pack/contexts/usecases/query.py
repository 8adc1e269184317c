"""One context: its fields, and whether it is still true.

What cannot be answered is a value with the words that the format's first tool uses, not an exception: a
missing context is an answer too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import frozen

from context_pack.contexts.domain.fingerprint import Freshness
from context_pack.contexts.domain.model import Context, Corrupt, Gist, Unsupported, Verdict, selected
from context_pack.contexts.ports import Check, ContextFormat, Folder, Project, Projects, Refusal, unwatched
from context_pack.contexts.usecases.commands import CheckFreshness, QueryContext
from context_pack.contexts.usecases.reading import ContextReader, freshness_of

TRAVERSAL = "Invalid scope: path traversal detected"


@frozen
class Refused:
    """Why there is no answer; `reason` says more of a corrupt file, `root` what could not be scanned."""

    error: str
    reason: str | None = None
    root: str | None = None


@frozen
class Found:
    """The asked-for part of a context, and the names that were no fields."""

    context: dict[str, Any]
    unknown: Sequence[str] = ()


@frozen
class Checked:
    """A context's freshness."""

    freshness: Freshness
    last_updated: str
    warnings: int = 0


@frozen
class ContextQueries:
    """Answers questions about one scope."""

    projects: Projects
    format: ContextFormat

    def query(self, command: QueryContext) -> Found | Refused:
        """The context of a scope, whole or the fields asked for."""
        folder = self._folder(command.path, command.scope)
        if isinstance(folder, Refused):
            return folder
        verdict = ContextReader(self.format).read(folder)
        if not isinstance(verdict, Context):
            return refused(verdict, command.scope)
        return Found(*selected(verdict, command.filter or ()))

    def check(self, command: CheckFreshness, check: Check = unwatched) -> Checked | Refused:
        """Whether the context of a scope is current."""
        folder = self._folder(command.path, command.scope)
        if isinstance(folder, Refused):
            return folder
        gist = ContextReader(self.format).gist(folder)
        if not isinstance(gist, Gist):
            return refused(gist, command.scope)
        return Checked(freshness_of(folder, gist, check), gist.last_updated, folder.warnings)

    def _folder(self, path: str | None, scope: str) -> Folder | Refused:
        project = opened(self.projects, path)
        if isinstance(project, Refused):
            return project
        folder = project.find(scope)
        if folder is None or isinstance(folder, Refusal):
            return refused(folder, scope)
        return folder


def opened(projects: Projects, path: str | None) -> Project | Refused:
    """The project at a path, or why there is none."""
    project = projects.open(path)
    if project is Refusal.NOT_ALLOWED:
        return Refused(f'Path not allowed: "{path}"')
    if isinstance(project, Refusal):
        return unscannable(projects.shown(path or ""))
    return project


def unscannable(root: str) -> Refused:
    """The refusal of a root that cannot be listed."""
    return Refused(f'Failed to scan project at "{root}"', root=root)


def refused(found: Verdict | Refusal | None, scope: str) -> Refused:
    """Why a scope has no context to show."""
    if isinstance(found, Unsupported):
        words = f"Unsupported schema version {found.version} (this tool supports version 1)."
        return Refused(f"{words} Upgrade dotcontext to read this file.", found.reason)
    if isinstance(found, Corrupt):
        return Refused(f'Invalid or corrupt .context.yaml at scope "{scope}"', found.reason)
    if found is Refusal.OUTSIDE:
        return Refused(TRAVERSAL)
    missing = f'No .context.yaml found at scope "{scope}".'
    hint = "This scope may be below the min_tokens threshold; use list_contexts to see eligible scopes."
    return Refused(f"{missing} {hint}")
