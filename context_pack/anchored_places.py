"""The code that discoveries are about, by the anchors of packs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from attrs import evolve, frozen

from context_pack.kernel.errors import Failure, invalid
from context_pack.kernel.ports import Reason
from context_pack.kernel.text import MAX_LINES, LineRange
from context_pack.memory.discovery import MOST_TEXT, CodePlace, CodeState
from context_pack.packs.anchors import SourceText
from context_pack.packs.definitions import find_definition, warning_of
from context_pack.packs.model import Ref
from context_pack.packs.ports import NoExcerptStore
from context_pack.packs.read import PackReader
from context_pack.packs.record import anchor_from, to_record
from context_pack.packs.resolving import Resolver
from context_pack.packs.states import Resolution, State
from context_pack.packs.values import path as parse_path
from context_pack.toolkit.call import Check, never_cancelled

CHANGED_LINES = "its lines are no longer as they were when this was recorded"
SEARCH_SHARE = 0.125
"""How much of the time for the code of refs a search spends on that of discoveries."""


@frozen
class OwnTexts(NoExcerptStore):
    """The texts that discoveries keep themselves, by digest."""

    known: Mapping[str, str]

    def texts(self, digests: Collection[str]) -> Mapping[str, str]:
        """The texts with these digests."""
        return {digest: self.known[digest] for digest in digests if digest in self.known}


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
        ref = resolver.anchored(Ref("code", file, lines or _whole_file(resolver.files.text(file))))
        if ref.anchor is None:
            raise invalid(warning_of(ref, resolver) or f"{file} has no such lines", "path")
        text = resolver.anchored_texts.get(ref.anchor.digest, "")
        kept = text if 0 < len(text) <= MOST_TEXT else None
        return CodePlace(ref.path, ref.lines, symbol, to_record(ref.anchor), kept)

    def states(self, places: Sequence[CodePlace], check: Check = never_cancelled) -> Sequence[CodeState]:
        """The state of the code of each place."""
        refs = list(map(_ref, places))
        texts = {ref.anchor.digest: place.text for ref, place in zip(refs, places, strict=True) if ref.anchor}
        reader = evolve(self.reader, excerpts=OwnTexts({key: text for key, text in texts.items() if text}))
        resolver = Resolver.over(reader, check, refs, reader.search_seconds * SEARCH_SHARE)
        return [self._state(ref, resolver(ref)) for ref in refs]

    def _state(self, ref: Ref, found: Resolution) -> CodeState:
        """What became of one place.

        A long text is not kept, so that lines in no definition cannot be found by likeness: while their file
        is there, all that is known is that they have changed.
        """
        if found.found is not None:
            diff = None if found.difference is None else "\n".join(found.difference.diff)
            where = str(found.found.path), str(found.found.lines)
            return CodeState(found.word, *where, found.reason, diff)
        nameless = ref.anchor is not None and ref.anchor.symbol is None
        if found.state is State.STALE and nameless and self.reader.tree.is_file(ref.path):
            return CodeState(State.CHANGED.value, None, None, CHANGED_LINES)
        return CodeState(found.state.value, None, None, found.reason)


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
