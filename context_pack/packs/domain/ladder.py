"""Finds the code of a ref: five rungs of evidence, from identical text to the most similar block.

1. `exact`: the anchored text where it was.
2. `moved`: it stands once elsewhere in the file; several places are `ambiguous`, here and on the next rung.
3. `moved`: it stands once elsewhere in the tree.
4. `changed`: the definition of that name, in the file or, if only one other file has it, there.
5. `changed`: the block of the file that is most alike, if it is alike enough and no part of a definition that
   the file had besides the code.
Else `stale`, without code: line numbers alone never justify showing code.

What the tree holds besides the file (rungs 3 and 4) is looked up by the caller, once for all refs of a call.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import evolve, frozen

from context_pack.kernel.lines import MAX_LINES, LineRange
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Reason
from context_pack.kernel.syntax import Definition, DefinitionKind
from context_pack.kernel.text import sha256_hex
from context_pack.packs.domain.anchors import ALL, BARE, Anchor, Symbol
from context_pack.packs.domain.likeness import alike, best_block, longest
from context_pack.packs.domain.model import CodeLocation, Ref
from context_pack.packs.domain.places import MOST_PLACES, copies, identical
from context_pack.packs.domain.source import SourceText
from context_pack.packs.domain.states import CHANGED_SINCE, WORDS, Resolution, State
from context_pack.packs.domain.surroundings import by_context, stands_beside

LEAST_ALIKE = 0.275
"""The share of its sketch a block must hold: 0.2 adds what is hardly alike, 0.35 loses more (moved.py)."""
LEAST_ALIKE_INSIDE = 0.2
"""The share inside the definition that the code was part of; with 0.1, 1.2 % is unrelated."""
_TELLING = re.compile(r"[\W_]*(?:[^\W_][\W_]*){30}")
"""The letters and digits from which on a text elsewhere is known by itself, and not by what stands around."""
CALLABLE = frozenset(map(DefinitionKind, ("function", "method", "macro")))
STOPPED = "the search of the tree stopped early"
GONE = "neither its text nor its definition is found"


@frozen
class Text:
    """A file whose text is known, with its definitions."""

    path: RelativePath
    source: SourceText
    definitions: Sequence[Definition] = ()

    @property
    def names(self) -> set[str]:
        """What its definitions are called, with and without what they are in."""
        return {name for each in self.definitions for name in (each.qualified, each.name)}


@frozen
class Elsewhere:
    """What the rest of the tree holds of a ref: copies of its text, definitions of its name.

    Both are `complete` if everything was looked at; the text itself is there if it is known.
    """

    copies: Sequence[Resolution] = ()
    namesakes: Sequence[Resolution] = ()
    complete: bool = True
    text: str | None = None


def in_file(ref: Ref, source: SourceText) -> Resolution | None:
    """Rungs 1 and 2: what the ref's own file proves; None when the text does not stand in it."""
    there = source.cut(ref.lines.start, ref.lines.end)
    if ref.anchor is None:
        return _past_end(ref, source) if there is None else at(State.UNANCHORED, ref.path, ref.lines, there)
    if there is not None and _same(there, ref.anchor):
        return at(State.EXACT, ref.path, ref.lines, there)
    places = identical(ref.anchor, source, near=ref.lines.start)
    if not places.ranges and not places.complete:
        # Too much to hash: the lines around it may lead to one place, and its text to the others.
        guess = by_context(ref.anchor, source, ref.lines)
        excerpt = "" if guess is None else source.cut(guess.start, guess.end) or ""
        places = copies(excerpt, source) if _same(excerpt, ref.anchor) else places
    if len(places.ranges) > 1:
        return _ambiguous([str(lines) for lines in places.ranges])
    return at(State.MOVED, ref.path, places.ranges[0], places.excerpt) if places.ranges else None


def beyond(ref: Ref, anchor: Anchor, home: Text | Reason, elsewhere: Elsewhere) -> Resolution:
    """Rungs 3 to 5, and what lies below: for a ref whose text does not stand in its file."""
    if len(elsewhere.copies) > 1:
        return _ambiguous([f"{one.found.lines} of {one.found.path}" for one in elsewhere.copies if one.found])
    if elsewhere.copies and elsewhere.complete:
        return elsewhere.copies[0]
    found = None
    if isinstance(home, Text):
        found = named(anchor, home)
    if found is None and len(elsewhere.namesakes) == 1 and elsewhere.complete:
        found = elsewhere.namesakes[0]
    if found is None and isinstance(home, Text):
        found = _most_similar(ref, anchor, home)
    if found is not None:
        return found if elsewhere.complete else evolve(found, reason=f"{found.reason}; {STOPPED}")
    lost = unreadable(home) if isinstance(home, Reason) else _lost(ref, home.source)
    return lost if elsewhere.complete else evolve(lost, reason=f"{lost.reason}; {STOPPED}")


def is_copy(anchor: Anchor, excerpt: str, lines: LineRange, source: SourceText) -> bool:
    """Whether equal text in another file is the code: it tells enough, or the same stands beside it."""
    return _TELLING.match(excerpt) is not None or stands_beside(anchor, source, lines)


def named(anchor: Anchor, text: Text) -> Resolution | None:
    """Rung 4: the definition of that name in a file; of several, the one that is most alike."""
    symbol = anchor.symbol
    same = [] if symbol is None else [each for each in text.definitions if each.qualified == symbol.name]
    if symbol is None or not same:
        return None
    same = [each for each in same if each.kind.value == symbol.kind] or same
    places = [
        (place, each.signature)
        for each in same
        if (place := _place_in(each, symbol, anchor, text.source)) is not None
    ]
    if not places:
        return None
    best, signature = places[0]
    if len(places) > 1:  # likeness takes a while
        best, signature = max(places, key=lambda found: _likeness(anchor, text.source, found[0]))
    return evolve(_changed(text, best), signature=signature if symbol.part in (ALL, BARE) else None)


def _place_in(definition: Definition, symbol: Symbol, anchor: Anchor, source: SourceText) -> LineRange | None:
    """The lines of a definition that stand for the anchored part of it."""
    start = definition.line if symbol.part == BARE else definition.start
    whole = LineRange(start, min(definition.end, start + MAX_LINES - 1))
    if symbol.part in (ALL, BARE):
        return whole
    block = None if anchor.sketch is None else best_block(anchor.sketch, anchor.lines, source, whole)
    if block is not None and _likeness(anchor, source, block) >= LEAST_ALIKE_INSIDE:
        return block
    return whole if whole.count <= longest(anchor.lines) else None


def _most_similar(ref: Ref, anchor: Anchor, text: Text) -> Resolution | None:
    """Rung 5: where the lines around the code say that it is, or else the block that is most alike."""
    guess = by_context(anchor, text.source, ref.lines)
    if anchor.sketch is None:
        return None if guess is None else _changed(text, guess)
    others = _lines_of_others(anchor, text.definitions)
    block = best_block(anchor.sketch, anchor.lines, text.source, without=others)
    likely = [
        place
        for place in (guess, block)
        if place is not None
        and others.isdisjoint(range(place.start, place.end + 1))
        and alike(anchor.sketch, text.source, place, among_all=True) >= LEAST_ALIKE
    ]
    # The lines around the code know its borders better than a likeness does.
    return _renamed(anchor, text, likely[0]) if likely else None


def _lines_of_others(anchor: Anchor, definitions: Sequence[Definition]) -> set[int]:
    """The lines whose innermost definition stood beside the code when that was anchored."""
    lines: set[int] = set()
    others = set(map(id, anchor.stood_beside(definitions)))
    for each in sorted(definitions, key=lambda each: each.depth) if others else ():
        inside = range(each.start, each.end + 1)
        # In place: a file of very many definitions must not cost a copy for each.
        (lines.update if id(each) in others else lines.difference_update)(inside)
    return lines


def _renamed(anchor: Anchor, text: Text, place: LineRange) -> Resolution:
    """A place, or the whole definition around it if a whole one was anchored and this may be it."""
    symbol = anchor.symbol
    around = [each for each in text.definitions if each.start <= place.start and place.end <= each.end]
    if symbol is not None and symbol.part in (ALL, BARE) and around:
        inmost = min(around, key=lambda each: (each.end - each.start, -each.depth))
        whole = _place_in(inmost, symbol, anchor, text.source)
        alike = inmost.kind.value == symbol.kind or {inmost.kind, symbol.kind} <= CALLABLE
        if alike and whole is not None and place.count <= whole.count <= 2 * anchor.lines:
            return evolve(_changed(text, whole), signature=inmost.signature)
    return _changed(text, place)


def _likeness(anchor: Anchor, source: SourceText, lines: LineRange) -> float:
    return 0.0 if anchor.sketch is None else alike(anchor.sketch, source, lines)


def _same(excerpt: str, anchor: Anchor) -> bool:
    """Whether this is the anchored code."""
    return sha256_hex(excerpt) == anchor.digest


def unreadable(reason: Reason) -> Resolution:
    """The state of a ref whose file cannot be read."""
    return Resolution(State.STALE, reason=WORDS[reason])


def at(
    state: State, path: RelativePath, lines: LineRange, excerpt: str, reason: str | None = None
) -> Resolution:
    """Code that was found."""
    return Resolution(state, CodeLocation(path, lines), reason, excerpt)


def _changed(text: Text, lines: LineRange) -> Resolution:
    excerpt = text.source.cut(lines.start, lines.end) or ""
    return at(State.CHANGED, text.path, lines, excerpt, CHANGED_SINCE)


def _lost(ref: Ref, source: SourceText) -> Resolution:
    if ref.lines.end > source.count:
        return _past_end(ref, source)
    return Resolution(State.STALE, reason=GONE)


def _past_end(ref: Ref, source: SourceText) -> Resolution:
    plural = "" if source.count == 1 else "s"
    return Resolution(
        State.STALE, reason=f"lines {ref.lines} are past the end of the file ({source.count} line{plural})"
    )


def _ambiguous(places: Sequence[str]) -> Resolution:
    shown = ", ".join(places[: MOST_PLACES - 1])
    more = " and more" if len(places) >= MOST_PLACES else ""
    return Resolution(State.AMBIGUOUS, reason=f"ambiguous, lines {shown}{more}")
