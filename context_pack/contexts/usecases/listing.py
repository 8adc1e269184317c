"""Every folder worth a context, with its state; always complete, and one bad folder never fails it."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from context_pack.contexts.domain.fingerprint import State
from context_pack.contexts.domain.model import Gist
from context_pack.contexts.ports import (
    Check,
    ContextFormat,
    Folder,
    Project,
    Projects,
    Refusal,
    unwatched,
)
from context_pack.contexts.usecases.commands import ListContexts
from context_pack.contexts.usecases.query import Refused, opened, unscannable
from context_pack.contexts.usecases.reading import OUTSIDE, ContextReader, freshness_of

FOLDERS_BETWEEN_CHECKS = 64


@frozen
class Entry:
    """One folder of a list; a file that cannot be used counts as missing, and `reason` says why."""

    scope: str
    state: State
    has_context: bool = False
    last_updated: str | None = None
    summary: str | None = None
    reason: str | None = None


@frozen
class Listing:
    """All folders worth a context, sorted by scope."""

    root: str
    entries: Sequence[Entry]
    skipped: int
    tracked: int
    warnings: int


@frozen
class ContextLister:
    """Lists contexts."""

    projects: Projects
    format: ContextFormat

    def list(self, command: ListContexts, check: Check = unwatched) -> Listing | Refused:
        """The contexts of a project."""
        project = opened(self.projects, command.path)
        return project if isinstance(project, Refused) else self.survey(project, check)

    def survey(self, project: Project, check: Check = unwatched) -> Listing | Refused:
        """The contexts of a project that is already open."""
        scan = project.scan(check)
        if scan is None:
            return unscannable(project.root)
        chosen, skipped = scan.kept()
        entries: list[Entry] = []
        for number, folder in enumerate(chosen):
            if number % FOLDERS_BETWEEN_CHECKS == 0:
                check()
            entries.append(self.entry(folder, check))
        tracked = sum(entry.has_context for entry in entries)
        return Listing(project.root, entries, skipped, tracked, scan.warnings)

    def entry(self, folder: Folder, check: Check = unwatched) -> Entry:
        """The state of one folder.

        It is found out once for as long as the folder stays as it is: by `benches/side_by_side/contexts.py` a
        repeated list would else cost three times the walk.
        """
        known: Entry | None = folder.memo.get("entry")
        if known is None:
            known = folder.memo["entry"] = self._entry(folder, check)
        return known

    def _entry(self, folder: Folder, check: Check) -> Entry:
        gist = ContextReader(self.format).gist(folder)
        if isinstance(gist, Gist):
            state = freshness_of(folder, gist, check).state
            return Entry(folder.scope, state, True, gist.last_updated, gist.summary)
        if gist is None:
            return Entry(folder.scope, State.MISSING)
        reason = (OUTSIDE if isinstance(gist, Refusal) else gist).reason
        return Entry(folder.scope, State.MISSING, reason=reason)
