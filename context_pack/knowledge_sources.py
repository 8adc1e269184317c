"""What discoveries, packs and directory contexts know of code, as the feature `knowledge` asks for it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from attrs import frozen

from context_pack.bridges import AnchoredPlaces
from context_pack.contexts.queries import (
    CheckedContext,
    CheckFreshness,
    ContextPart,
    ContextQueries,
    QueryContext,
)
from context_pack.kernel.errors import Failure
from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import SourceFile
from context_pack.kernel.syntax import readable_part
from context_pack.kernel.text import MAX_LINES, LineRange
from context_pack.knowledge.about import KnownHere
from context_pack.knowledge.model import Known, PlaceInCode
from context_pack.knowledge.ports import ChangesSince, KnownSource
from context_pack.memory.ports import DiscoveryStore
from context_pack.packs.domain.findings import is_own
from context_pack.packs.domain.model import Pack, Ref, Section
from context_pack.packs.usecases.pointing import located
from context_pack.packs.usecases.read import PackReader
from context_pack.packs.usecases.resolving import Resolver
from context_pack.toolkit.call import Check, never_cancelled

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
            (each.type.value, each.content, each.id[:ID_CHARS], each.code)
            for each in self.discoveries.all()
            if each.code is not None and each.superseded_by is None
            if paths is None or str(each.code.path) in paths
        ]
        states = self.places.states([place for *_, place in about], check)
        for (kind, content, short, place), state in zip(about, states, strict=True):
            written = PlaceInCode(str(place.path), place.lines)
            lines = place.lines if state.lines is None else _lines(state.lines)
            path = state.path or written.path
            yield Known(kind, content, f"discovery {short}", state.state, path, lines, state.reason, written)


@frozen
class KnownByPacks:
    """The refs of live packs, each with why it is there; what a draft found by itself is no knowledge."""

    reader: PackReader

    def known(self, paths: Collection[str] | None, check: Check = never_cancelled, /) -> Iterator[Known]:
        """What packs say of code, with the state of each ref."""
        chosen: list[tuple[Pack, Section, Ref]] = [
            (pack, section, ref)
            for pack in self.reader.store.all()
            for section, ref in pack.refs
            if is_own(ref) and (paths is None or str(ref.path) in paths)
        ]
        resolver = Resolver.over(self.reader, check, [ref for *_, ref in chosen])
        for pack, section, ref in chosen:
            resolution = resolver(ref)
            now = resolution.found
            yield Known(
                "ref",
                ref.why or ref.title or section.title,
                f"pack {pack.name or pack.id}, ref {ref.key}",
                resolution.state.value,
                str(ref.path if now is None else now.path),
                ref.lines if now is None else now.lines,
                resolution.reason,
                PlaceInCode(str(ref.path), ref.lines),
            )


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


def _lines(text: str) -> LineRange | None:
    first, _, last = text.partition("-")
    try:
        return LineRange(int(first), int(last or first))
    except (ValueError, Failure):
        return None
