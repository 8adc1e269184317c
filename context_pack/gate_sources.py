"""What directory contexts and bundles say, as the feature `knowledge` and its gate ask for it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from attrs import frozen

from context_pack.anchored_places import AnchoredPlaces
from context_pack.contexts.fingerprint import FreshnessState
from context_pack.contexts.queries import (
    CheckedContext,
    CheckFreshness,
    ContextPart,
    ContextQueries,
    QueryContext,
    RefusedQuery,
    opened,
)
from context_pack.kernel.errors import Code, Failure
from context_pack.knowledge.about import KnownHere
from context_pack.knowledge.gate import Gate
from context_pack.knowledge.model import Known
from context_pack.knowledge.ports import ChangesSince, KnownSource
from context_pack.knowledge_sources import DefinitionsOfTree, KnownByDiscoveries, KnownByPacks
from context_pack.memory.stores import DiscoveryStore
from context_pack.packs.read import PackReader
from context_pack.toolkit.call import Check, CheckedCall, never_cancelled

if TYPE_CHECKING:  # whoever asks what is known of a place loads no bundles
    from context_pack.bundles.loading import BundleShelf

STALE_CONTEXT = "files of this folder have changed since; `contexts refresh` brings it up to date"


@frozen
class CheckedContexts:
    """The contexts of folders, for the gate: one that is there and cannot be used does not hold."""

    queries: ContextQueries

    def known(self, _: Collection[str] | None, check: Check = never_cancelled, /) -> Iterator[Known]:
        """Each context with its freshness; a folder without one says nothing."""
        project = opened(self.queries.projects, None)
        scan = None if isinstance(project, RefusedQuery) else project.scan(check)
        if scan is None:
            raise Failure(Code.IO_ERROR, "the folders of the project cannot be listed")
        for folder in scan.folders:
            entry = self.queries.entry(folder, check)
            source = f"context of {entry.scope}"
            if entry.reason is not None:
                yield Known("context", entry.reason, source, "corrupt", entry.scope)
            elif entry.has_context:
                stale = entry.state is FreshnessState.STALE
                yield Known(
                    "context",
                    entry.summary or entry.scope,
                    source,
                    entry.state.value,
                    entry.scope,
                    reason=STALE_CONTEXT if stale else None,
                )


@frozen
class CheckedBundles:
    """Bundles, for the gate."""

    shelf: BundleShelf

    def known(self, _: Collection[str] | None, check: Check = never_cancelled, /) -> Iterator[Known]:
        """Every error of every bundle, and one row for each that has none."""
        bundles = self.shelf.bundles(CheckedCall(wanted=check))
        for flaw in self.shelf.store.discover().diagnostics:
            yield Known("bundle", flaw.message, "bundles", "unsound", flaw.file or ".")
        for place, bundle in bundles:
            errors = [each for each in bundle.findings() if each.severity == "error"]
            source = f"bundle {place.id}"
            for each in errors:
                who = " ".join(filter(None, (each.entity_type, each.entity_id)))
                file = "/".join(part for part in (place.path, each.file) if part not in (None, "", "."))
                words = f"{who}: {each.message}" if who else each.message
                yield Known("bundle", words, source, "unsound", file or ".")
            if not errors:
                yield Known("bundle", place.id, source, "sound", place.path)


@frozen
class KnownByContexts:
    """The constraints and decisions of the nearest folder above a file that has a context."""

    queries: ContextQueries

    def known(self, paths: Collection[str] | None, check: Check = never_cancelled, /) -> Iterator[Known]:
        """What the contexts of these files' folders demand; of all files nothing, as it is about no lines."""
        for path in sorted(paths or ()):
            scope = self._nearest(path)
            if scope is not None:
                yield from self._demands(scope, check)

    def _nearest(self, path: str) -> str | None:
        parts = path.split("/")
        for end in range(len(parts), -1, -1):
            scope = "/".join(parts[:end]) or "."
            if isinstance(self._part(scope), ContextPart):
                return scope
        return None

    def _part(self, scope: str) -> object:
        return self.queries.query(QueryContext(scope=scope, filter=("constraints", "decisions")))

    def _demands(self, scope: str, check: Check) -> Iterator[Known]:
        part, fresh = self._part(scope), self.queries.check(CheckFreshness(scope=scope), check)
        if not isinstance(part, ContextPart) or not isinstance(fresh, CheckedContext):
            return
        state, source = fresh.freshness.state.value, f"context of {scope}"
        for constraint in part.context.get("constraints", ()):
            yield Known("constraint", constraint, source, state, scope)
        for decision in part.context.get("decisions", ()):
            text = f"{decision['what']}: {decision['why']}"
            yield Known("decision", text, source, state, scope)


def known_here(
    reader: PackReader,
    discoveries: DiscoveryStore | None,
    places: AnchoredPlaces,
    contexts: ContextQueries | None,
    changes: ChangesSince | None,
) -> KnownHere:
    """What is known of a place, by everything that there is."""
    sources: list[KnownSource] = [KnownByPacks(reader)]
    if discoveries is not None:
        sources.insert(0, KnownByDiscoveries(discoveries, places))
    if contexts is not None:
        sources.append(KnownByContexts(contexts))
    return KnownHere(reader.tree, sources, DefinitionsOfTree(reader), changes)


def gate_over(
    here: KnownHere,
    own: PackReader,
    discoveries: DiscoveryStore | None,
    places: AnchoredPlaces,
    contexts: ContextQueries | None,
    bundles: BundleShelf | None,
) -> Gate:
    """The gate over everything that there is; of packs only those of this worktree."""
    sources: dict[str, KnownSource] = {"packs": KnownByPacks(own, drafted=True)}
    if discoveries is not None:
        sources["discoveries"] = KnownByDiscoveries(discoveries, places)
    if contexts is not None:
        sources["contexts"] = CheckedContexts(contexts)
    if bundles is not None:
        sources["bundles"] = CheckedBundles(bundles)
    return Gate(here, sources)
