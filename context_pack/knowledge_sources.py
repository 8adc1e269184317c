"""What discoveries and packs know of code, as the feature `knowledge` asks for it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from attrs import frozen

from context_pack.anchored_places import AnchoredPlaces
from context_pack.kernel.errors import Failure
from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import SourceFile
from context_pack.kernel.syntax import readable_part
from context_pack.kernel.text import MAX_LINES, LineRange
from context_pack.knowledge.model import Known, PlaceInCode, unreadable
from context_pack.memory.stores import DiscoveryStore
from context_pack.packs.claims import claims_of
from context_pack.packs.definitions import find_definition
from context_pack.packs.draft import is_own
from context_pack.packs.read import PackReader
from context_pack.packs.resolving import Resolver
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
        discoveries, failure = self.discoveries.readable()
        if failure is not None and paths is None:  # it may be about any file, so it is said once
            yield unreadable("discoveries", failure)
        about = [
            (each, each.code)
            for each in discoveries
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
                state.state,
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
        packs, failure = self.reader.store.readable()
        if failure is not None and paths is None:  # it may be about any file, so it is said once
            yield unreadable("packs", failure)
        chosen = [
            (pack, claim, ref)
            for pack in packs
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
                resolution.word,
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
class DefinitionsOfTree:
    """Definitions of the source tree, by name and by line."""

    reader: PackReader

    def located(self, symbol: str, path: RelativePath | None, /) -> tuple[RelativePath, LineRange]:
        """Where the one definition of that name is."""
        return find_definition(symbol, path, Resolver.over(self.reader, never_cancelled))

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


def _lines(text: str) -> LineRange | None:
    first, _, last = text.partition("-")
    try:
        return LineRange(int(first), int(last or first))
    except (ValueError, Failure):
        return None
