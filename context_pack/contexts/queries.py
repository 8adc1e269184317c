"""What is asked of contexts: which there are, what one says, and whether it is still true.

A list is always complete, and one bad folder never fails it.

What cannot be answered is a failure in the words that the format's first tool uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import frozen

from context_pack.contexts.fingerprint import Freshness, FreshnessState
from context_pack.contexts.model import (
    Context,
    ContextSummary,
    Corrupt,
    Unsupported,
    read_context,
    read_summary,
    selected,
)
from context_pack.contexts.ports import Project, ProjectFolder, Projects, Scan
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.ports import Reason
from context_pack.toolkit.arguments import arg, array, text
from context_pack.toolkit.call import check_call

PATH_CHARS = 4096
NAME_CHARS = 200
MOST_NAMES = 200

SCOPE = (text(0, PATH_CHARS), "Folder below the root: src/core, or . for the root")
PATH = (text(0, PATH_CHARS), "Another root, in the project or allowed")
OUTSIDE = Corrupt("it links out of the root")
UNUSABLE = {
    **dict.fromkeys((Reason.IO, Reason.NOT_A_FILE), Corrupt("it cannot be read")),
    Reason.TOO_LARGE: Corrupt("it is larger than 1 MiB"),
}
"""The verdict for a file that exists but cannot be read."""
TRAVERSAL = "Invalid scope: path traversal detected"


@frozen(kw_only=True)
class QueryContext:
    """Read one context."""

    scope: str = arg(*SCOPE)
    filter: tuple[str, ...] | None = arg(
        array(text(0, NAME_CHARS), 0, MOST_NAMES), "Fields to return; all when absent", default=None
    )
    path: str | None = arg(*PATH, default=None)


@frozen(kw_only=True)
class CheckFreshness:
    """Compare one context with its folder."""

    scope: str = arg(*SCOPE)
    path: str | None = arg(*PATH, default=None)


@frozen(kw_only=True)
class ListContexts:
    """Read which folders have contexts."""

    path: str | None = arg(*PATH, default=None)


@frozen
class ContextPart:
    """The asked-for part of a context, and the names that were no fields."""

    context: dict[str, Any]
    unknown: Sequence[str] = ()


@frozen
class CheckedContext:
    """A context's freshness."""

    freshness: Freshness
    last_updated: str
    warnings: int = 0


@frozen
class ListedFolder:
    """One folder of a list; a file that cannot be used counts as missing, and `reason` says why."""

    scope: str
    state: FreshnessState
    has_context: bool = False
    last_updated: str | None = None
    summary: str | None = None
    reason: str | None = None


@frozen
class FolderListing:
    """All folders worth a context, sorted by scope."""

    root: str
    entries: Sequence[ListedFolder]
    skipped: int
    tracked: int
    warnings: int


@frozen
class ContextQueries:
    """Answers questions about one scope, and lists them all."""

    projects: Projects

    def query(self, command: QueryContext) -> ContextPart:
        """The context of a scope, whole or the fields asked for.

        Raises:
            Failure: `not_found`, as all questions about one scope.
        """
        _, context = self._context(command.path, command.scope)
        return ContextPart(*selected(context, command.filter or ()))

    def check(self, command: CheckFreshness) -> CheckedContext:
        """Whether the context of a scope is current."""
        folder, context = self._context(command.path, command.scope)
        gist = context.gist
        return CheckedContext(folder.freshness(gist.fingerprint), gist.last_updated, folder.warnings)

    def _context(self, path: str | None, scope: str) -> tuple[ProjectFolder, Context]:
        folder = folder_at(opened(self.projects, path), scope)
        verdict = context_of(folder)
        if not isinstance(verdict, Context):
            raise refusal(verdict, scope)
        return folder, verdict

    def list(self, command: ListContexts) -> FolderListing:
        """The contexts of a project.

        Raises:
            Failure: `not_found` for a root that cannot be listed.
        """
        project = opened(self.projects, command.path)
        scan = scanned(project)
        folders, skipped = scan.kept()
        entries = [entry_of(folder) for folder in folders]
        tracked = sum(entry.has_context for entry in entries)
        return FolderListing(project.root, entries, skipped, tracked, scan.warnings)


def entry_of(folder: ProjectFolder) -> ListedFolder:
    """The state of one folder.

    It is found out once for as long as the folder stays as it is: by `benches/side_by_side/contexts.py` a
    repeated list would else cost three times the walk.
    """
    entry: ListedFolder | None = folder.memo.get("entry")
    if entry is None:
        check_call()
        entry = folder.memo["entry"] = _entry(folder)
    return entry


def _entry(folder: ProjectFolder) -> ListedFolder:
    gist = gist_of(folder)
    if isinstance(gist, ContextSummary):
        state = folder.freshness(gist.fingerprint).state
        return ListedFolder(folder.scope, state, True, gist.last_updated, gist.summary)
    if gist is Reason.MISSING:
        return ListedFolder(folder.scope, FreshnessState.MISSING)
    reason = (OUTSIDE if isinstance(gist, Reason) else gist).reason
    return ListedFolder(folder.scope, FreshnessState.MISSING, reason=reason)


class NoContext(Failure):
    """Why there is no answer; the details say more of a corrupt file, and which root could not be scanned."""

    def __init__(self, message: str, **details: str) -> None:
        super().__init__(Code.NOT_FOUND, message, details)


def opened(projects: Projects, path: str | None) -> Project:
    """The project at a path."""
    project = projects.open(path)
    if project is Reason.DENIED:
        raise NoContext(f'Path not allowed: "{path}"')
    if isinstance(project, Reason):
        raise _unscannable(projects.shown(path or ""))
    return project


def scanned(project: Project) -> Scan:
    """All folders of a project."""
    scan = project.scan()
    if scan is None:
        raise _unscannable(project.root)
    return scan


def folder_at(project: Project, scope: str) -> ProjectFolder:
    """The folder of a scope."""
    folder = project.find(scope)
    if isinstance(folder, Reason):
        raise refusal(folder, scope)
    return folder


def _unscannable(root: str) -> NoContext:
    return NoContext(f'Failed to scan project at "{root}"', root=root)


def refusal(verdict: Unsupported | Corrupt | Reason, scope: str) -> NoContext:
    """Why a scope has no context to show."""
    if isinstance(verdict, Unsupported):
        words = f"Unsupported schema version {verdict.version} (this tool supports version 1)."
        return NoContext(f"{words} Upgrade dotcontext to read this file.", reason=verdict.reason)
    if isinstance(verdict, Corrupt):
        return NoContext(f'Invalid or corrupt .context.yaml at scope "{scope}"', reason=verdict.reason)
    if verdict is Reason.OUTSIDE:
        return NoContext(TRAVERSAL)
    missing = f'No .context.yaml found at scope "{scope}".'
    hint = "This scope may be below the min_tokens threshold; use list_contexts to see eligible scopes."
    return NoContext(f"{missing} {hint}")


def context_of(folder: ProjectFolder) -> Context | Unsupported | Corrupt | Reason:
    """The whole context; a reason when there is no file, or when it leads out of the root."""
    data = folder.context()
    return UNUSABLE.get(data, data) if isinstance(data, Reason) else read_context(data)


def gist_of(folder: ProjectFolder) -> ContextSummary | Unsupported | Corrupt | Reason:
    """The few lines that a list needs."""
    data = folder.context()
    return UNUSABLE.get(data, data) if isinstance(data, Reason) else read_summary(data)
