"""What one feature asks of others: the code of discoveries, what is known of code, packs as notes.

Discoveries are anchored, and found again, as the refs of packs are. Discoveries, packs, contexts of folders
and bundles are the sources of what is known of a place, and of the gate. Memory searches packs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from context_pack.contexts.fingerprint import FreshnessState
from context_pack.contexts.queries import (
    CheckedContext,
    CheckFreshness,
    ContextPart,
    ContextQueries,
    NoContext,
    QueryContext,
    entry_of,
    opened,
    scanned,
)
from context_pack.kernel.errors import Failure, invalid
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Reason
from context_pack.kernel.text import MAX_LINES, LineRange
from context_pack.knowledge.model import ExpiredPack, Known, PlaceInCode, unreadable
from context_pack.memory.discovery import MOST_TEXT, CodePlace, CodeState, parse_lines
from context_pack.memory.ports import DiscoveryStore, PackNote
from context_pack.packs.anchors import SourceText
from context_pack.packs.claims import claims_of
from context_pack.packs.definitions import find_definition, warning_of
from context_pack.packs.draft import is_own, own_description, own_heading, own_title, own_why
from context_pack.packs.listing import PackLister
from context_pack.packs.model import Pack, Ref
from context_pack.packs.ports import NoExcerptStore, PackStore
from context_pack.packs.read import PackReader
from context_pack.packs.record import anchor_from, to_record
from context_pack.packs.resolving import Resolver
from context_pack.packs.states import Resolution, State
from context_pack.packs.values import path as parse_path
from context_pack.toolkit.call import Check, never_cancelled

if TYPE_CHECKING:  # whoever asks what is known of a place loads no bundles
    from context_pack.bundles.loading import BundleShelf

CHANGED_LINES = "its lines are no longer as they were when this was recorded"
STALE_CONTEXT = "files of this folder have changed since; `contexts refresh` brings it up to date"
SEARCH_SHARE = 0.125
"""How much of the time for the code of refs a search spends on that of discoveries."""
ID_CHARS = 8
"""So much of an id is enough to name a discovery."""


@frozen
class OwnTexts(NoExcerptStore):
    """The texts that discoveries keep themselves, by digest."""

    by_digest: Mapping[str, str]

    def texts(self, digests: Collection[str]) -> Mapping[str, str]:
        """The texts with these digests."""
        return {digest: self.by_digest[digest] for digest in digests if digest in self.by_digest}


@frozen
class AnchoredPlaces:
    """The code that discoveries are about, anchored and found again as the refs of packs are."""

    reader: PackReader

    def anchored(self, path: str | None, lines: LineRange | None, symbol: str | None) -> CodePlace:
        """The place of a file, of lines of it or of a definition, with an anchor of its text as it is now."""
        resolver = Resolver.over(self.reader, never_cancelled)
        file = None if path is None else parse_path(path)
        if symbol is not None:
            file, lines = find_definition(symbol, file, resolver)
        if file is None:
            raise invalid("'path' is required with 'lines'; say which file", "path")
        ref = resolver.anchored(Ref("code", file, lines or _whole_file(resolver.file(file))))
        if ref.anchor is None:
            raise invalid(warning_of(ref, resolver) or f"{file} has no such lines", "path")
        text = resolver.anchored_texts.get(ref.anchor.digest, "")
        short = text if 0 < len(text) <= MOST_TEXT else None
        return CodePlace(ref.path, ref.lines, symbol, to_record(ref.anchor), short)

    def states(self, places: Sequence[CodePlace], check: Check = never_cancelled) -> Sequence[CodeState]:
        """The state of the code of each place."""
        refs = list(map(_ref, places))
        texts = {ref.anchor.digest: place.text for ref, place in zip(refs, places, strict=True) if ref.anchor}
        reader = evolve(self.reader, excerpts=OwnTexts({key: text for key, text in texts.items() if text}))
        resolver = Resolver.over(reader, check, refs, reader.search_seconds * SEARCH_SHARE)
        return [self._state(ref, resolver(ref)) for ref in refs]

    def _state(self, ref: Ref, resolution: Resolution) -> CodeState:
        """What became of one place.

        A long text is not kept, so that lines in no definition cannot be found by likeness: while their file
        is there, all that is known is that they have changed.
        """
        now = resolution.found
        if now is not None:
            diff = None if resolution.difference is None else "\n".join(resolution.difference.diff)
            return CodeState(resolution.word, str(now.path), str(now.lines), resolution.reason, diff)
        nameless = ref.anchor is not None and ref.anchor.symbol is None
        if resolution.state is State.STALE and nameless and self.reader.tree.is_file(ref.path):
            return CodeState(State.CHANGED.value, None, None, CHANGED_LINES)
        return CodeState(resolution.state.value, None, None, resolution.reason)


def _whole_file(text: SourceText | Reason) -> LineRange:
    """Every line of a file; the first one of a file that cannot be read, which says why later."""
    count = 1 if isinstance(text, Reason) else max(1, text.count)
    if count > MAX_LINES:
        raise invalid(f"the file has more than {MAX_LINES} lines; give 'lines'", "lines")
    return LineRange(1, count)


def _ref(place: CodePlace) -> Ref:
    """A place as the ref of a pack; without an anchor if the stored one is malformed."""
    try:
        anchor = anchor_from(place.anchor, "code.anchor")
    except Failure:
        anchor = None
    return Ref("code", place.path, place.lines, anchor=anchor)


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
            known = Known(
                each.type.value,
                each.content,
                f"discovery {each.id[:ID_CHARS]}{_of(each.worktree)}",
                state.state,
                state.path or str(place.path),
                place.lines if state.lines is None else parse_lines(state.lines),
                state.reason,
                PlaceInCode(str(place.path), place.lines),
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
                "claim" if claim.is_prose else "ref",
                claim.text,
                f"pack {pack.name or pack.id}, ref {ref.key}{_of(pack.worktree)}",
                resolution.word,
                str(ref.path if now is None else now.path),
                ref.lines if now is None else now.lines,
                None if resolution.reason is None else resolution.summary,
                PlaceInCode(str(ref.path), ref.lines),
                () if resolution.difference is None else resolution.difference.diff,
                next((spelling for spelling in ref.spellings if spelling in claim.text), ""),
            )
            if pack.worktree is None or known.holds:
                yield known


def _of(worktree: str | None) -> str:
    """What a source adds that is in another worktree: only what holds here too is told of those."""
    return "" if worktree is None else f", from worktree {worktree}"


def expired_packs(lister: PackLister) -> Sequence[ExpiredPack]:
    """The packs that nobody checks any more, for the gate."""
    return [
        ExpiredPack(pack.id, pack.name, frozenset(str(ref.path) for _, ref in pack.refs))
        for pack in lister.unchecked()
    ]


@frozen
class DefinitionsOfTree:
    """Definitions of the source tree, by name and by line."""

    reader: PackReader

    def located(self, symbol: str, path: RelativePath | None, /) -> tuple[RelativePath, LineRange]:
        """Where the one definition of that name is."""
        return find_definition(symbol, path, Resolver.over(self.reader, never_cancelled))

    def around(self, path: RelativePath, line: int, /) -> tuple[str, LineRange] | None:
        """The innermost definition around a line."""
        source = Resolver.over(self.reader, never_cancelled).file(path)
        around = () if isinstance(source, Reason) else source.definitions
        around = [each for each in around if each.start <= line <= each.end < each.start + MAX_LINES]
        inner = min(around, key=lambda each: each.end - each.start, default=None)
        return None if inner is None else (inner.qualified, LineRange(inner.start, inner.end))

    def line_count(self, path: RelativePath, /) -> int | None:
        """How many lines a file has; None for one that cannot be read."""
        source = Resolver.over(self.reader, never_cancelled).file(path)
        return None if isinstance(source, Reason) else source.count


@frozen
class CheckedContexts:
    """The contexts of folders, for the gate: one that is there and cannot be used does not hold."""

    queries: ContextQueries

    def known(self, _: Collection[str] | None, __: Check = never_cancelled, /) -> Iterator[Known]:
        """Each context with its freshness; a folder without one says nothing."""
        scan = scanned(opened(self.queries.projects, None))
        for entry in map(entry_of, scan.folders):
            source = f"context of {entry.scope}"
            if entry.reason is not None:
                yield Known("context", entry.reason, source, "corrupt", entry.scope)
            elif entry.has_context:
                reason = STALE_CONTEXT if entry.state is FreshnessState.STALE else None
                text = entry.summary or entry.scope
                yield Known("context", text, source, entry.state.value, entry.scope, reason=reason)


@frozen
class CheckedBundles:
    """Bundles, for the gate."""

    shelf: BundleShelf

    def known(self, _: Collection[str] | None, __: Check = never_cancelled, /) -> Iterator[Known]:
        """Every error of every bundle, and one row for each that has none."""
        for flaw in self.shelf.store.discover().diagnostics:
            yield Known("bundle", flaw.message, "bundles", "unsound", flaw.file or ".")
        for place, bundle in self.shelf.bundles():
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

    def known(self, paths: Collection[str] | None, _: Check = never_cancelled, /) -> Iterator[Known]:
        """What the contexts of these files' folders demand; of all files nothing, as it is about no lines."""
        for path in sorted(paths or ()):
            parts = path.split("/")
            for scope in ("/".join(parts[:end]) or "." for end in range(len(parts), -1, -1)):
                wanted = QueryContext(scope=scope, filter=("constraints", "decisions"))
                with suppress(NoContext):
                    part = self.queries.query(wanted)
                    fresh = self.queries.check(CheckFreshness(scope=scope))
                    yield from self._demands(scope, part, fresh)
                    break

    def _demands(self, scope: str, part: ContextPart, fresh: CheckedContext) -> Iterator[Known]:
        state, source = fresh.freshness.state.value, f"context of {scope}"
        for constraint in part.context.get("constraints", ()):
            yield Known("constraint", constraint, source, state, scope)
        for decision in part.context.get("decisions", ()):
            yield Known("decision", f"{decision['what']}: {decision['why']}", source, state, scope)


@frozen
class PacksAsNotes:
    """The texts of live packs, for memory to search."""

    packs: PackStore

    def notes(self) -> Iterator[PackNote]:
        """Every section and every ref of every live pack."""
        for pack in self.packs.all():
            yield from _notes(pack)


def _notes(pack: Pack) -> Iterator[PackNote]:
    """The hand-written texts of a pack; generated ones repeat the question and are left out."""
    title = own_title(pack)
    for section in pack.sections:
        texts = (title, pack.brief, own_heading(pack, section), own_description(section))
        words = list(dict.fromkeys(filter(None, texts)))  # the first section may be called like the pack
        if words:
            # A pack without a title of its own is known by its name.
            said = "\n".join(words if title else filter(None, (pack.name, *words)))
            yield PackNote(
                pack.id, section.key, None, section.title, said, pack.updated_at, worktree=pack.worktree
            )
        for ref in filter(is_own, section.refs):
            if ref.spellings and not (ref.title or ref.why):
                continue  # the sentence that names it stands in the section
            name = ref.title or ref.key
            text = "\n".join(filter(None, (name, own_why(ref), ref.path.value)))
            lines = (ref.path.value, ref.lines.start, ref.lines.end)
            yield PackNote(pack.id, section.key, ref.key, name, text, pack.updated_at, *lines, pack.worktree)
