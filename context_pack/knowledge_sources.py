"""What discoveries, packs and directory contexts know of code, as the feature `knowledge` asks for it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from attrs import frozen

from context_pack.bridges import AnchoredPlaces
from context_pack.bundles.opening import BundleShelf
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
from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import SourceFile
from context_pack.kernel.syntax import readable_part
from context_pack.kernel.text import MAX_LINES, LineRange
from context_pack.knowledge.about import KnownHere
from context_pack.knowledge.gate import Gate
from context_pack.knowledge.model import Known, PlaceInCode
from context_pack.knowledge.ports import ChangesSince, KnownSource
from context_pack.memory.ports import DiscoveryStore
from context_pack.packs.claims import claims_of
from context_pack.packs.draft import is_own
from context_pack.packs.plans import located
from context_pack.packs.read import PackReader
from context_pack.packs.resolving import Resolver
from context_pack.toolkit.call import Check, CheckedCall, never_cancelled

STALE_CONTEXT = "files of this folder have changed since; `contexts refresh` brings it up to date"
ID_CHARS = 8
"""So much of an id is enough to name a discovery."""


@frozen
class KnownByDiscoveries:
    """The discoveries that are about code and still count."""

    discoveries: DiscoveryStore
    places: AnchoredPlaces

    def known(self, paths: Collection[str] | None, check: Check = never_cancelled, /) -> Iterator[Known]:
        """Each discovery with the state of its code; a superseded one says nothing any more."""
        about = [
            (each, each.code)
            for each in self.discoveries.all()
            if each.code is not None and each.superseded_by is None
            if paths is None or str(each.code.path) in paths
        ]
        states = self.places.states([place for _, place in about], check)
        for (each, place), state in zip(about, states, strict=True):
            written = PlaceInCode(str(place.path), place.lines)
            lines = place.lines if state.lines is None else _lines(state.lines)
            known = Known(
                each.type.value,
                each.content,
                f"discovery {each.id[:ID_CHARS]}{_of(each.worktree)}",
                "cosmetic" if state.cosmetic else state.state,
                state.path or written.path,
                lines,
                state.reason,
                written,
                () if state.diff is None else tuple(state.diff.split("\n")),
            )
            if each.worktree is None or known.holds:
                yield known


@frozen
class KnownByPacks:
    """The claims of live packs, and the refs that no prose names.

    What a draft found by itself is no knowledge; only who checks packs asks for it too (`drafted`).
    """

    reader: PackReader
    drafted: bool = False

    def known(self, paths: Collection[str] | None, check: Check = never_cancelled, /) -> Iterator[Known]:
        """What packs say of code: a row for each place that a claim rests on."""
        chosen = [
            (pack, claim, ref)
            for pack in self.reader.store.all()
            if paths is None or any(str(ref.path) in paths for _, ref in pack.refs)
            for claim in claims_of(pack)[0]
            for ref in claim.refs
            if (paths is None or str(ref.path) in paths) and (self.drafted or is_own(ref))
        ]
        resolver = Resolver.over(self.reader, check, [ref for *_, ref in chosen])
        for pack, claim, ref in chosen:
            resolution = resolver(ref)
            now = resolution.found
            known = Known(
                "claim" if ref.spellings else "ref",
                claim.text,
                f"pack {pack.name or pack.id}, ref {ref.key}{_of(pack.worktree)}",
                "cosmetic" if resolution.cosmetic else resolution.state.value,
                str(ref.path if now is None else now.path),
                ref.lines if now is None else now.lines,
                None if resolution.reason is None else resolution.summary,
                PlaceInCode(str(ref.path), ref.lines),
                () if resolution.difference is None else resolution.difference.diff,
            )
            if pack.worktree is None or known.holds:
                yield known


def _of(worktree: str | None) -> str:
    """What a source adds that is in another worktree: only what holds here too is told of those."""
    return "" if worktree is None else f", from worktree {worktree}"


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
                yield Known("bundle", place.description or place.id, source, "sound", place.path)


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


@frozen
class DefinitionsOfTree:
    """Definitions of the source tree, by name and by line."""

    reader: PackReader

    def located(self, symbol: str, path: RelativePath | None, /) -> tuple[RelativePath, LineRange]:
        """Where the one definition of that name is."""
        return located(symbol, path, Resolver.over(self.reader, never_cancelled))

    def around(self, path: RelativePath, line: int, /) -> tuple[str, LineRange] | None:
        """The innermost definition around a line."""
        source = self.reader.tree.read(path, self.reader.max_source_bytes)
        if not isinstance(source, SourceFile):
            return None
        parsed = readable_part(self.reader.syntax.parse(language_of(path.value), source.text))
        around = [
            each
            for each in parsed.definitions
            if each.start <= line <= each.end and each.end - each.start < MAX_LINES
        ]
        if not around:
            return None
        inner = min(around, key=lambda each: each.end - each.start)
        return inner.qualified, LineRange(inner.start, inner.end)


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


def _lines(text: str) -> LineRange | None:
    first, _, last = text.partition("-")
    try:
        return LineRange(int(first), int(last or first))
    except (ValueError, Failure):
        return None
