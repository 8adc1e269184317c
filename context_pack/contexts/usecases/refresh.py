"""Creates and refreshes contexts without ever changing text that a person wrote.

A missing context is made whole. In one that is there, only the fingerprint, the date and the fields named in
`derived_fields` may change, and of these only what nobody has touched since it was generated; a field that
somebody did touch leaves `derived_fields` and is theirs from then on. What is corrupt or of a later version
is left alone, and so is a file that changes while this looks at it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from attrs import define, field, frozen

from context_pack.contexts.domain.agents import AGENTS_FILE, block_of, with_block
from context_pack.contexts.domain.fingerprint import Freshness, FreshnessState, Method
from context_pack.contexts.domain.generate import (
    FROM_CHILDREN,
    FROM_PROJECT,
    GENERATED,
    Subject,
    generated,
    new_record,
    summary_of,
)
from context_pack.contexts.domain.model import CONTEXT_FILE, ROOT_SCOPE, Context, validated
from context_pack.contexts.domain.recognition import KnownFolder, looks_generated, was_counted
from context_pack.contexts.ports import (
    Check,
    ContextFormat,
    DerivedMemory,
    Project,
    ProjectFolder,
    Scan,
    unwatched,
)
from context_pack.contexts.usecases.query import RefusedQuery, refused, unscannable
from context_pack.contexts.usecases.reading import (
    OUTSIDE,
    UNUSABLE,
    fingerprint_of,
    freshness_of,
)
from context_pack.contexts.usecases.surveying import Surveyor
from context_pack.kernel.errors import Failure
from context_pack.kernel.instants import format_instant
from context_pack.kernel.ports import Clock, Reason
from context_pack.kernel.syntax import Syntax
from context_pack.kernel.text import canonical_json, sha256_hex

DIGEST_DIGITS = 16
FOLDERS_BETWEEN_SAVES = 200
_PLAIN_SCOPE = re.compile(r"[^\s#:\"']+")

Progress = Callable[[int, int, str], None]
"""Called before each folder with (done, all, scope)."""


def silent(_: int, __: int, ___: str) -> None:
    """Default progress callback: does nothing."""


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
    """What to do: which subtree, whether existing contexts count, which fingerprint (None: the usual one).

    `agents` asks for the block in `AGENTS.md`, which is about the whole project.
    """

    scope: str | None = None
    only_missing: bool = False
    method: Method | None = None
    agents: bool = False

    @property
    def written(self) -> Method:
        """The fingerprint that is written."""
        return self.method or Method.CONTENT


@frozen
class ContextRefresher:
    """Makes and refreshes contexts."""

    format: ContextFormat
    memory: DerivedMemory
    clock: Clock
    syntax: Syntax

    def refresh(
        self, project: Project, order: RefreshRequest, check: Check = unwatched, progress: Progress = silent
    ) -> Sequence[FolderOutcome] | RefusedQuery:
        """Carry out an order on a project; the outcome of every folder it was about, sorted by scope."""
        scan = project.scan(check)
        if scan is None:
            return unscannable(project.root)
        named: ProjectFolder | None = None
        if order.scope is not None:
            found = project.find(order.scope)
            if isinstance(found, Reason):
                return refused(found, order.scope)
            named = found
        return _RefreshPass(self, project, scan, order, check).run(named, progress)


@define
class _RefreshPass:
    """One pass over a project."""

    tools: ContextRefresher
    project: Project
    scan: Scan
    order: RefreshRequest
    check: Check
    surveyor: Surveyor = field(init=False)
    digests: dict[str, dict[str, str]] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.surveyor = Surveyor(self.project, self.scan, self.tools.format, self.tools.syntax)

    def run(self, named: ProjectFolder | None, progress: Progress) -> Sequence[FolderOutcome]:
        """Every kept folder in a subtree, the innermost first, so that a parent can tell of its children."""
        scope = None if named is None else named.scope
        chosen = [each for each in self.scan.kept()[0] if _within(each.scope, scope)]
        known = {each.scope for each in chosen}
        if named is not None and scope not in known and named.context() is not Reason.MISSING:
            chosen.append(named)  # not worth a context by its size, but somebody made one
        outcomes: list[FolderOutcome] = []
        try:
            for number, folder in enumerate(sorted(chosen, key=_innermost_first)):
                self.check()
                progress(number, len(chosen), folder.scope)
                if self.order.agents and folder.scope == ROOT_SCOPE:
                    # The root comes last, and its fingerprint is to know the file that this writes.
                    outcomes += self._agents(folder, chosen)
                    folder = self._again(folder)
                outcomes.append(self._safely(folder))
                if len(self.digests) >= FOLDERS_BETWEEN_SAVES:
                    self._save()
        finally:
            self._save()
        progress(len(chosen), len(chosen), "")
        return sorted(outcomes, key=lambda outcome: outcome.scope)

    def _agents(self, root: ProjectFolder, chosen: Sequence[ProjectFolder]) -> Iterator[FolderOutcome]:
        """Bring the managed block up to date; an outcome only if something happened to the file."""
        before = self.project.text(ROOT_SCOPE, AGENTS_FILE)
        if before is None and AGENTS_FILE in root.names:
            yield FolderOutcome(AGENTS_FILE, "left", "it is no text")
            return
        summaries = {each.scope: self.surveyor.summary(each) or "" for each in chosen}
        summaries[ROOT_SCOPE] = self._coming_summary(root)
        after = with_block(before or "", block_of(summaries.items()))
        if after is None:
            yield FolderOutcome(AGENTS_FILE, "left", "its marks do not match; mend or remove them")
        elif after != before:
            old = None if before is None else before.encode()
            written = self.project.write(ROOT_SCOPE, AGENTS_FILE, old, after.encode())
            yield FolderOutcome(
                AGENTS_FILE, "updated" if written else "left", None if written else "it changed meanwhile"
            )

    def _coming_summary(self, root: ProjectFolder) -> str:
        """The root's summary as this pass will leave it: the root itself comes after the block about it."""
        data = root.context()
        verdict = validated(self.tools.format.parse(data)) if isinstance(data, bytes) else None
        if not isinstance(data, bytes) or not isinstance(verdict, Context):
            return summary_of(self.surveyor.subject(root))
        if self.order.only_missing:
            return verdict.gist.summary
        return str(self._planned(root, data, verdict).changes.get("summary", verdict.gist.summary))

    def _again(self, root: ProjectFolder) -> ProjectFolder:
        found = self.project.find(ROOT_SCOPE)
        return root if isinstance(found, Reason) else found

    def _save(self) -> None:
        if self.digests:
            self.tools.memory.remember(self.project.root, self.digests)
            self.digests = {}

    def _safely(self, folder: ProjectFolder) -> FolderOutcome:
        """The outcome of one folder; one that cannot be written does not keep the others from it."""
        try:
            return self._one(folder)
        except Failure as failure:
            return FolderOutcome(folder.scope, "failed", failure.message)

    def _one(self, folder: ProjectFolder) -> FolderOutcome:
        data = folder.context()
        if data is Reason.MISSING:
            return self._make(folder)
        if isinstance(data, Reason):
            return FolderOutcome(folder.scope, "left", UNUSABLE.get(data, OUTSIDE).detail)
        verdict = validated(self.tools.format.parse(data))
        if not isinstance(verdict, Context):
            return FolderOutcome(folder.scope, "left", verdict.reason)
        if self.order.only_missing:
            return FolderOutcome(folder.scope, "unchanged")
        return self._update(folder, data, verdict)

    def _make(self, folder: ProjectFolder) -> FolderOutcome:
        """A context for a folder that has none."""
        stored = fingerprint_of(folder, self.order.written, self.check)
        if stored is None:
            return FolderOutcome(folder.scope, "left", "a file in the folder cannot be read")
        subject = self.surveyor.subject(folder)
        record = new_record(subject, stored, self._now())
        if not self.project.write(folder.scope, CONTEXT_FILE, None, self.tools.format.compose(record)):
            return FolderOutcome(folder.scope, "left", "the file came into being meanwhile")
        self.surveyor.keep_summary(folder.scope, record["summary"])
        self._remember(folder.scope, {name: value_at(record, name) for name in GENERATED})
        return FolderOutcome(folder.scope, "made")

    def _planned(self, folder: ProjectFolder, data: bytes, context: Context) -> _Plan:
        """The planned changes of an existing context."""
        freshness = freshness_of(folder, context.gist, self.check)
        whole, commented = self.tools.format.parse(data), self.tools.format.commented(data)
        plan = _Plan(self, folder, context, whole, freshness, commented)
        plan.decide()
        return plan

    def _update(self, folder: ProjectFolder, data: bytes, context: Context) -> FolderOutcome:
        """A context that is there: what has to change, and nothing else."""
        plan = self._planned(folder, data, context)
        if not plan.changes and not self._is_dated(plan.freshness):
            self._remember(folder.scope, plan.values)
            return FolderOutcome(folder.scope, "unchanged")
        stored = fingerprint_of(folder, self.order.written, self.check)
        if stored is None:
            return FolderOutcome(folder.scope, "left", "a file in the folder cannot be read")
        dated = {"fingerprint": stored, "last_updated": self._now()}
        after = self.tools.format.revise(data, {**dated, **plan.changes})
        whole = after is not None
        if after is None:  # then at least the fingerprint, if that can be done
            after = self.tools.format.revise(data, dated)
        if after is None:
            return FolderOutcome(folder.scope, "left", "its layout cannot be changed safely; edit it by hand")
        if not self.project.write(folder.scope, CONTEXT_FILE, data, after):
            return FolderOutcome(folder.scope, "left", "the file is a link, or changed meanwhile")
        if whole:
            self._remember(folder.scope, plan.values)
        return FolderOutcome(folder.scope, "updated", released=tuple(plan.released) if whole else ())

    def _is_dated(self, freshness: Freshness) -> bool:
        """Whether the fingerprint has to be written anew."""
        if freshness.state is not FreshnessState.FRESH:
            return True
        return self.order.method is not None and freshness.method is not self.order.method

    def _remember(self, scope: str, values: Mapping[str, Any]) -> None:
        self.digests[scope] = {name: digest_of(value) for name, value in values.items()}

    def _now(self) -> str:
        return format_instant(self.tools.clock.now(), whole_seconds=True)


@define
class _Plan:
    """Which generated fields of one context change, and which are a person's now."""

    refresh: _RefreshPass
    folder: ProjectFolder
    context: Context
    whole: Any
    """The file as it is written, with what its schema does not know."""
    freshness: Freshness
    commented: frozenset[str]
    changes: dict[str, Any] = field(factory=dict)
    released: list[str] = field(factory=list)
    values: dict[str, Any] = field(factory=dict)
    """What is generated and belongs to us after the change."""
    _subject: Subject | None = None
    _known: KnownFolder | None = None
    _made: dict[str, Any] | None = None

    @property
    def fresh(self) -> bool:
        """Whether the folder is as it was when the context was made."""
        return self.freshness.state is FreshnessState.FRESH

    def decide(self) -> None:
        """Decide each field in turn."""
        record, derived = self.context.record, list(self.context.derived)
        known = self.refresh.tools.memory.recall(self.refresh.project.root, self.folder.scope)
        after = list(derived)
        for name in GENERATED:
            current = value_at(record, name)
            if not self._is_ours(name, current, name in derived, known):
                if name in derived and (name in known or not self.fresh):
                    self.released.append(name)
                    after.remove(name)
                continue
            made = self._remade(name, current, known)
            self.values[name] = made
            if made != current:
                self.changes[name] = made
                after = [each for each in after if each != name] if made is None else after
            if made is not None and name not in after:
                after.append(name)
        if "scope" in derived and record["scope"] != self.folder.scope and "scope" not in self.commented:
            self._rescope(record["scope"], known, after)
        if after != derived:
            self._list(after)

    def _rescope(self, stated: str, known: Mapping[str, str], after: list[str]) -> None:
        """Correct the scope of a context that was moved; one that a person wrote is theirs."""
        elsewhere = self.refresh.tools.memory.recall(self.refresh.project.root, stated)
        if elsewhere or (not known and _PLAIN_SCOPE.fullmatch(stated)):
            self.changes["scope"] = self.folder.scope
        elif known or not self.fresh:
            self.released.append("scope")
            after.remove("scope")

    def _list(self, after: list[str]) -> None:
        """The new `derived_fields`; a list with comments is left as it is."""
        if "derived_fields" in self.commented:
            self.released.clear()
            return
        self.changes["derived_fields"] = after or None

    def _is_ours(self, name: str, current: Any, listed: bool, known: Mapping[str, str]) -> bool:
        """Whether a field was generated and not edited since."""
        outer = name.partition(".")[0]
        if name in self.commented or outer in self.commented:
            return False
        if value_at(self.whole, outer) != value_at(self.context.record, outer):
            return False  # somebody added a key that nobody reads
        if name in known:
            return known[name] == digest_of(current) and (listed or current is None)
        if not listed:
            return was_counted(name, current)
        if self._known is None:
            self._known = KnownFolder(self._about())
        return looks_generated(name, current, self._known) or self._generated()[name] == current

    def _remade(self, name: str, current: Any, known: Mapping[str, str]) -> Any:
        """The field as it should be; a folder that has not changed need not be read again.

        What another tool has generated for the folder as it is stays as that tool worded it.
        """
        of_root = name in FROM_PROJECT and name in known and self.folder.scope == ROOT_SCOPE
        if not self.fresh or of_root or (name not in known and was_counted(name, current)):
            return self._generated()[name]
        of_children = name in FROM_CHILDREN or (name == "summary" and not self.folder.sources)
        if of_children and name in known:
            return generated(self.refresh.surveyor.children(self.folder), [name])[name]
        return current

    def _generated(self) -> Mapping[str, Any]:
        if self._made is None:
            self._made = generated(self._about())
        return self._made

    def _about(self) -> Subject:
        if self._subject is None:
            self._subject = self.refresh.surveyor.subject(self.folder)
        return self._subject


def value_at(record: Mapping[str, Any], name: str) -> Any:
    """A field's value, a nested one's as `a.b`; None when it is absent."""
    value: Any = record
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def digest_of(value: Any) -> str:
    """A short digest of a field's value, however it is laid out."""
    return sha256_hex(canonical_json(value))[:DIGEST_DIGITS]


def _within(scope: str, top: str | None) -> bool:
    return top is None or top == "." or scope == top or scope.startswith(f"{top}/")


def _innermost_first(folder: ProjectFolder) -> tuple[int, str]:
    depth = 0 if folder.scope == "." else folder.scope.count("/") + 1
    return (-depth, folder.scope)
