"""Creates and refreshes contexts without ever changing text that a person wrote.

A missing context is made whole. In one that is there, only the fingerprint, the date and generated fields may
change. `derived_fields` names each generated field with a digest of what was generated: while the field still
has that digest, nobody has touched it, and it may be generated again; else it is a person's, and leaves the
list. What is corrupt or of a later version is left alone, and so is a file that changes meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from attrs import frozen

from context_pack.contexts.edits import commented_fields, revise
from context_pack.contexts.fingerprint import FreshnessState, Method
from context_pack.contexts.generate import (
    GENERATED,
    Surveyor,
    derived_entries,
    digest_of,
    generated,
    new_record,
)
from context_pack.contexts.model import ROOT_SCOPE, Context, parse, read_context
from context_pack.contexts.ports import Project, ProjectFolder
from context_pack.contexts.queries import OUTSIDE, UNUSABLE, folder_at, scanned
from context_pack.contexts.scan import is_within
from context_pack.kernel.errors import Failure
from context_pack.kernel.ports import Clock, Reason
from context_pack.kernel.syntax import Syntax
from context_pack.kernel.times import format_instant
from context_pack.kernel.yaml_documents import dump

OURS = ("scope", *GENERATED)
"""The fields that are written with a digest."""
Progress = Callable[[int, int, str], None]
"""Called before each folder with (done, all, scope)."""


@frozen
class FolderOutcome:
    """What became of one folder: `made`, `updated`, `unchanged`, `left` or `failed`, and why.

    `released` are fields that are a person's from now on.
    """

    scope: str
    result: str
    reason: str | None = None
    released: tuple[str, ...] = ()


@frozen
class RefreshRequest:
    """What to do: which subtree, whether existing contexts stay, which fingerprint (None: the usual one).

    `root_too` refreshes the context of the root even where existing ones stay, because a file was just put
    there; `adopt` takes over fields that `derived_fields` names without a digest, as dotcontext and earlier
    versions wrote it.
    """

    scope: str | None = None
    only_missing: bool = False
    method: Method | None = None
    root_too: bool = False
    adopt: bool = False


@frozen
class ContextRefresher:
    """Makes and refreshes contexts."""

    clock: Clock
    syntax: Syntax

    def refresh(
        self, project: Project, order: RefreshRequest, progress: Progress = lambda *_: None
    ) -> Sequence[FolderOutcome]:
        """Carry out an order on a project; the outcome of every folder it was about, sorted by scope.

        Raises:
            Failure: `not_found` for a project or a scope that is not there.
        """
        scan = scanned(project)
        named = None if order.scope is None else folder_at(project, order.scope)
        folders = [each for each in scan.kept()[0] if named is None or is_within(each.scope, named.scope)]
        is_small = named is not None and named.scope not in {each.scope for each in folders}
        if named is not None and is_small and named.context() is not Reason.MISSING:
            folders.append(named)  # somebody made it
        # A folder comes behind those in it, so that it can tell of them.
        folders.sort(key=lambda folder: (folder.scope != ROOT_SCOPE, folder.scope), reverse=True)
        one_pass = _RefreshPass(self.clock, project, order, Surveyor(project, scan, self.syntax))
        outcomes = []
        for number, folder in enumerate(folders):
            progress(number, len(folders), folder.scope)
            outcomes.append(one_pass.refresh(folder))
        progress(len(folders), len(folders), "")
        return sorted(outcomes, key=lambda outcome: outcome.scope)


@frozen
class _RefreshPass:
    """One pass over the folders of a project."""

    clock: Clock
    project: Project
    order: RefreshRequest
    surveyor: Surveyor

    def refresh(self, folder: ProjectFolder) -> FolderOutcome:
        """Carry out the order on a folder; one that cannot be written does not keep the others from it."""
        data = folder.context()
        try:
            if data is Reason.MISSING:
                return self._make(folder)
            if isinstance(data, Reason):
                return FolderOutcome(folder.scope, "left", UNUSABLE.get(data, OUTSIDE).detail)
            verdict = read_context(data)
            if not isinstance(verdict, Context):
                return FolderOutcome(folder.scope, "left", verdict.reason)
            if self.order.only_missing and not (self.order.root_too and folder.scope == ROOT_SCOPE):
                return FolderOutcome(folder.scope, "unchanged")
            return self._update(folder, data, verdict)
        except Failure as failure:
            return FolderOutcome(folder.scope, "failed", failure.message)

    def _make(self, folder: ProjectFolder) -> FolderOutcome:
        """A context for a folder that has none."""
        stored = folder.fingerprint(self.order.method or Method.CONTENT)
        if stored is None:
            return FolderOutcome(folder.scope, "left", "a file in the folder cannot be read")
        record = new_record(self.surveyor.subject(folder), stored, self._now())
        if not self.project.write(folder.scope, None, dump(record).encode()):
            return FolderOutcome(folder.scope, "left", "the file came into being meanwhile")
        self.surveyor.keep_summary(folder.scope, record["summary"])
        return FolderOutcome(folder.scope, "made")

    def _update(self, folder: ProjectFolder, data: bytes, context: Context) -> FolderOutcome:
        """A context that is there: what has to change, and nothing else."""
        freshness = folder.freshness(context.gist.fingerprint)
        is_fresh = freshness.state is FreshnessState.FRESH
        changes, released = self._changes(folder, data, context, is_fresh)
        other_method = self.order.method is not None and freshness.method is not self.order.method
        if is_fresh and not changes and not other_method:
            return FolderOutcome(folder.scope, "unchanged")
        stored = folder.fingerprint(self.order.method or Method.CONTENT)
        if stored is None:
            return FolderOutcome(folder.scope, "left", "a file in the folder cannot be read")
        dated = {"fingerprint": stored, "last_updated": self._now()}
        whole = revise(data, {**dated, **changes})
        # If not all of it can be done safely, then at least the fingerprint.
        after = whole or revise(data, dated)
        if after is None:
            return FolderOutcome(folder.scope, "left", "its layout cannot be changed safely; edit it by hand")
        if not self.project.write(folder.scope, data, after):
            return FolderOutcome(folder.scope, "left", "the file is a link, or changed meanwhile")
        return FolderOutcome(folder.scope, "updated", released=released if whole else ())

    def _changes(
        self, folder: ProjectFolder, data: bytes, context: Context, is_fresh: bool
    ) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Which fields of a context change, and which are a person's now."""
        written, commented = parse(data), commented_fields(data)
        if "derived_fields" in commented:
            return {}, ()
        listed: list[str] = written.get("derived_fields", [])
        digests = {name: digest for name, _, digest in (each.partition(" ") for each in listed) if digest}
        digests = {name: digest for name, digest in digests.items() if name in OURS}
        if self.order.adopt:
            # A field with keys that the format does not know is a person's.
            adopted = [
                name
                for name in _named_without_digest(listed, written)
                if context.record.get(name) == written.get(name)
            ]
            digests |= {name: digest_of(written.get(name)) for name in adopted}
        ours = [
            name
            for name, digest in digests.items()
            if digest == digest_of(written.get(name)) and name not in commented
        ]
        changes = self._made_again(folder, [name for name in ours if name in GENERATED], is_fresh)
        if "scope" in ours:
            changes["scope"] = folder.scope
        released = tuple(name for name in digests if name not in ours)
        kept = [each for each in listed if _field_of(each) not in digests]
        after = derived_entries({**written, **changes}, ours)
        changes["derived_fields"] = [*kept, *after] or None
        return {name: value for name, value in changes.items() if value != written.get(name)}, released

    def _made_again(self, folder: ProjectFolder, ours: Sequence[str], is_fresh: bool) -> dict[str, Any]:
        """Generated fields as they should be.

        Where nothing in the folder has changed, only those are made again that tell of the folders in it.
        """
        told_by_folders = ("subdirectories", "structure", *(() if folder.sources else ("summary",)))
        names = [name for name in ours if name in told_by_folders] if is_fresh else ours
        return generated(self.surveyor.subject(folder, read_sources=not is_fresh), names)

    def _now(self) -> str:
        return format_instant(self.clock.now(), whole_seconds=True)


def _field_of(entry: str) -> str:
    """The field of an entry of `derived_fields`: `summary 3f2a9c10`, or `dependencies.external`."""
    return entry.partition(" ")[0].partition(".")[0]


def _named_without_digest(listed: Sequence[str], written: dict[str, Any]) -> Iterator[str]:
    """The fields that are listed as generated, whole or by every part (`dependencies.external`)."""
    for name in OURS:
        value = written.get(name)
        parts = [f"{name}.{key}" for key in value] if isinstance(value, dict) else []
        if name in listed or (parts and all(part in listed for part in parts)):
            yield name
