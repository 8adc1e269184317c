"""Where the code of a ref is now, and what may be said of it: decided from texts that others have read.

In this order:
1. the anchored text where it was: `exact`;
2. the anchored text elsewhere in its file: `moved`, or `ambiguous` if several places are equally good;
3. its definition, or a block that is alike, still in its file: `changed`. Equal text in another file is only
   named, as a copy: code that was edited has not moved to where somebody had copied it;
4. the anchored text in other files: `moved` or `ambiguous`;
5. the only definition of its name in other files: `changed`;
6. else `stale`, or `unknown` if not everything could be looked at.
Where the same text stands several times, the place in the definition of the anchored name is meant. Where the
name is gone, a definition of another name is a renamed one only if nearly all of the text is in it: functions
that stand beside each other are often alike. Line numbers alone never justify showing code.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, islice

from attrs import define, evolve, field, frozen

from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Reason
from context_pack.kernel.syntax import Definition, DefinitionKind, name_parts
from context_pack.kernel.text import MAX_LINES, LineRange
from context_pack.packs.anchors import BARE, Anchor, SourceText, Symbol, digest_of, innermost, symbol_of
from context_pack.packs.likeness import SimilarLines, Words, alike, longest, similar_block, words_of
from context_pack.packs.model import CodeLocation, Ref
from context_pack.packs.states import CHANGED_SINCE, WORDS, Resolution, State

# Measured by `benches/side_by_side/moved.py`.
LEAST_SHARE = 0.275
"""The share of the anchored lines that a block of the file must hold to be shown as what became of them."""
LEAST_SHARE_INSIDE = 0.2
"""The same inside the definition that the lines were part of."""
UNLIKE, MUCH_ALIKE = 0.3, 0.6
"""A definition of the name that is `UNLIKE` loses against a renamed one; one `MUCH_ALIKE` was edited."""
NEARLY_ALL = 0.95
"""How much of the text a definition of another name must hold to be the renamed one."""
RETYPED = 0.65
"""How alike a definition must be whose type alone is called otherwise, or whose file cannot be parsed."""
NEAR = 0.5
"""How alike a definition must be to be named as near."""
SHOWN_WHOLE = 200
"""Lines up to which a definition is shown where only some of its lines were anchored, and are not found."""
MOST_PLACES, MOST_COPIES = 6, 1_000
"""How many places are told, and how many in one file are looked at."""
MOST_HASHED = 64 * 1024 * 1024
"""How many characters are hashed to find a text of which only the digest is known."""
TELLING_CHARS = 30
"""Letters and digits from which on a text in another file is known by itself."""
CALLABLE = frozenset(map(DefinitionKind, ("function", "method", "macro")))
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


class KeptText:
    """The text that a ref is anchored to."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")

    @cached_property
    def words(self) -> Words:
        """Its pairs of words."""
        return words_of(self.lines)

    @property
    def telling(self) -> bool:
        """Whether it is known by itself, wherever it stands."""
        return sum(map(str.isalnum, self.text)) >= TELLING_CHARS


@frozen
class Candidate:
    """Lines of a file that changed code may have become, and how alike.

    `named` if their definition says so, `name` is that of another definition, which is only near.
    """

    text: Text
    lines: LineRange
    likeness: float
    signature: str | None = None
    named: bool = False
    near: str | None = None

    def resolution(self, more: str = "") -> Resolution:
        """The code as changed."""
        excerpt = self.text.source.cut(self.lines.start, self.lines.end) or ""
        found = CodeLocation(self.text.path, self.lines)
        return Resolution(State.CHANGED, found, CHANGED_SINCE + more, excerpt, self.signature)


@define(eq=False)
class Sought:
    """A ref whose code is not on its lines, and what was found out about it."""

    ref: Ref
    anchor: Anchor
    kept: KeptText | None = None
    others: Collection[str] = ()
    """Names of definitions that are not meant, because other refs are about them."""
    candidate: Candidate | None = None
    """What it may have become in its own file."""
    copies: Sequence[CodeLocation] = ()
    namesakes: Sequence[Candidate] = field(factory=list)
    unsearched: str | None = None
    """Why not everything was looked at, if so."""

    @property
    def changed(self) -> Candidate | None:
        """What it has become in its own file, unless that is only near."""
        return self.candidate if self.candidate is not None and self.candidate.near is None else None


def where_it_was(ref: Ref, source: SourceText) -> Resolution | None:
    """The state of a ref whose code is on its lines, or has no anchor; None if it must be looked for."""
    text = source.cut(ref.lines.start, ref.lines.end)
    if ref.anchor is None:
        return _past_end(ref, source) if text is None else at(State.UNANCHORED, ref.path, ref.lines, text)
    if text is not None and digest_of(text) == ref.anchor.digest:
        return at(State.EXACT, ref.path, ref.lines, text)
    return None


def copies_in(anchor: Anchor, kept: KeptText | None, source: SourceText) -> list[LineRange]:
    """Where the anchored text stands in a file.

    Raises:
        OverflowError: the text is not known, and too much would have to be hashed.
    """
    found = _windows(anchor, source) if kept is None else source.occurrences(kept.text)
    return [LineRange(start, start + anchor.lines - 1) for start in islice(found, MOST_COPIES)]


def _windows(anchor: Anchor, source: SourceText) -> Iterator[int]:
    """Every run of as many lines as were anchored that has their digest."""
    lines = source.lines
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    last = len(lines) - anchor.lines
    if sum(starts[at + anchor.lines] - starts[at] for at in range(last + 1)) > MOST_HASHED:
        raise OverflowError
    for at in range(last + 1):
        if digest_of(source.text[starts[at] : starts[at + anchor.lines] - 1]) == anchor.digest:
            yield at + 1


def of_the_name(symbol: Symbol | None, text: Text, places: Sequence[LineRange]) -> list[LineRange]:
    """Those of some places of a file that are in the definition of the anchored name."""
    if symbol is None:
        return []
    names = {each.qualified for each in _of_name(symbol, text.definitions)}
    lines = text.source.lines
    around = (
        (place, symbol_of(text.definitions, place, lines[place.start - 1 : place.end])) for place in places
    )
    return [place for place, each in around if each is not None and each.name in names]


def in_file(sought: Sought, text: Text) -> Resolution | Candidate | None:
    """What the own file says of a ref: its state if the text is there, else what it may have become."""
    ref, symbol = sought.ref, sought.anchor.symbol
    places = copies_in(sought.anchor, sought.kept, text.source)
    meant = of_the_name(symbol, text, places)
    # Only a definition that has kept its name can be meant although its text stands elsewhere.
    candidate = None if meant or (places and symbol is None) else find_changed(sought, text)
    if not places:
        return candidate
    found = [CodeLocation(text.path, place) for place in meant or places]
    if candidate is not None and candidate.named and candidate.likeness >= MUCH_ALIKE:
        lines = candidate.lines
        if all(place.end < lines.start or lines.end < place.start for place in places):
            return candidate.resolution(_named_copies(found))
    if not meant and CodeLocation(ref.path, ref.lines) in found:
        return where_it_was(ref, text.source)
    if len(found) > 1:
        return ambiguous(found, ref.path)
    lines = found[0].lines
    return at(State.MOVED, text.path, lines, text.source.cut(lines.start, lines.end) or "")


def find_changed(sought: Sought, text: Text) -> Candidate | None:
    """What of a file the anchored code has become: by its definition's name, else the most similar lines."""
    symbol, kept = sought.anchor.symbol, sought.kept
    if symbol is None:
        return _block(sought, text, LEAST_SHARE)
    named = _best(sought, text, _of_name(symbol, text.definitions, sought.others))
    if named is not None and kept is not None and named.likeness >= (UNLIKE if named.named else RETYPED):
        return named
    if not text.definitions:  # while somebody edits it, code cannot be parsed
        return _block(sought, text, RETYPED)
    other = _renamed(sought, text)
    if named is not None and named.named:
        return named if other is None or other.near else other
    return other


def namesake(sought: Sought, text: Text) -> Candidate | None:
    """What is shown of another file that defines the anchored name."""
    symbol = sought.anchor.symbol
    same = [] if symbol is None else [each for each in text.definitions if each.qualified == symbol.name]
    return _best(sought, text, _of_name(symbol, same)) if symbol is not None and same else None


def _of_name(
    symbol: Symbol, definitions: Sequence[Definition], others: Collection[str] = ()
) -> list[Definition]:
    """The definitions of the anchored name; else the only one of its last part, if its type was renamed."""
    same = [each for each in definitions if each.qualified == symbol.name]
    if same:
        return [each for each in same if each.kind.value == symbol.kind] or same
    bare = name_parts(symbol.name)[-1]
    only = [each for each in definitions if each.name == bare and each.qualified not in others]
    return only if len(only) == 1 else []


def _best(sought: Sought, text: Text, definitions: Iterable[Definition]) -> Candidate | None:
    """The most similar of some definitions, or of their parts if only a part was anchored."""
    symbol = sought.anchor.symbol
    become = _whole if symbol is None or symbol.whole else _part
    places = [become(each, sought, text) for each in definitions]
    return max(filter(None, places), key=lambda each: each.likeness, default=None)


def _renamed(sought: Sought, text: Text) -> Candidate | None:
    """The definition of another name that holds nearly all of the text; else the nearest one, as near."""
    symbol, kept = sought.anchor.symbol, sought.kept
    if symbol is None or kept is None:
        return None
    if not symbol.whole:
        found = _block(sought, text, NEAR)
        around = None if found is None else innermost(text.definitions, found.lines.start, found.lines.end)
        if found is None or around is None or around.qualified in sought.others:
            return None
        return found if found.likeness >= NEARLY_ALL else evolve(found, near=around.qualified)
    best: Candidate | None = None
    for each in text.definitions:
        same_kind = each.kind.value == symbol.kind or {each.kind, symbol.kind} <= CALLABLE
        if same_kind and each.qualified != symbol.name and each.qualified not in sought.others:
            found = _whole(each, sought, text)
            lines = text.source.lines[found.lines.start - 1 : found.lines.end]
            likeness = alike(kept.words, _words_named(lines, each.name, name_parts(symbol.name)[-1]))
            if likeness >= NEAR and (best is None or likeness > best.likeness):
                near = None if likeness >= NEARLY_ALL else each.qualified
                best = evolve(found, likeness=likeness, near=near)
    return best


def _words_named(lines: Sequence[str], name: str, other: str) -> Words:
    """The words of a definition as if its name were another one."""
    pattern = re.compile(rf"\b{re.escape(name)}\b")
    return words_of(pattern.sub(lambda _: other, line) for line in lines)


def _whole(definition: Definition, sought: Sought, text: Text) -> Candidate:
    """A definition, with what documents and decorates it if that was anchored."""
    symbol = sought.anchor.symbol
    assert symbol is not None
    start = definition.line if symbol.part == BARE else definition.start
    lines = LineRange(start, min(definition.end, start + MAX_LINES - 1))
    words = words_of(text.source.lines[lines.start - 1 : lines.end])
    likeness = 0.0 if sought.kept is None else alike(sought.kept.words, words)
    return Candidate(text, lines, likeness, definition.signature, definition.qualified == symbol.name)


def _part(definition: Definition, sought: Sought, text: Text) -> Candidate | None:
    """The lines of a definition that a part of it has become; all of it if it is not much longer."""
    whole = LineRange(definition.start, min(definition.end, definition.start + MAX_LINES - 1))
    anchor, kept = sought.anchor, sought.kept
    same_name = anchor.symbol is not None and definition.qualified == anchor.symbol.name
    block = None if kept is None else similar_block(kept.lines, text.source.lines, whole)
    if block is not None and block.share >= LEAST_SHARE_INSIDE:
        return Candidate(text, _rounded(block, anchor.lines, text), block.share, named=same_name)
    shown = same_name and whole.count <= max(SHOWN_WHOLE, longest(anchor.lines))
    return Candidate(text, whole, 0.0, named=True) if shown else None


def _block(sought: Sought, text: Text, least: float) -> Candidate | None:
    """The lines of a file that are most like the anchored ones."""
    block = None if sought.kept is None else similar_block(sought.kept.lines, text.source.lines)
    if block is None or block.share < least:
        return None
    return Candidate(text, _rounded(block, sought.anchor.lines, text), block.share)


def _rounded(block: SimilarLines, count: int, text: Text) -> LineRange:
    """The lines of a block; if its end is not known, those of the definition around it unless it is long."""
    around = None if block.ended else innermost(text.definitions, block.lines.start, block.lines.end)
    if around is None or around.end - around.start >= max(SHOWN_WHOLE, longest(count)):
        return block.lines
    return LineRange(around.start, around.end)


def decided(sought: Sought, home: Text | Reason, unread: RelativePath | None) -> Resolution:
    """The state of a ref whose text is not in its file; `unread` is one that could not be read."""
    ref, copies = sought.ref, sought.copies
    if sought.changed is not None:
        return sought.changed.resolution(_named_copies(copies))
    if sought.unsearched is not None:
        return unknown(sought.unsearched)
    if len(copies) == 1:
        return at(State.MOVED, copies[0].path, copies[0].lines, sought.kept.text if sought.kept else "")
    if copies:
        return ambiguous(copies, ref.path)
    if len(sought.namesakes) == 1:
        return sought.namesakes[0].resolution()
    if unread is not None:
        return unknown(f"not found, and {unread} could not be read")
    if isinstance(home, Reason):
        return unreadable(home)
    near = sought.candidate
    if near is not None:
        return Resolution(State.STALE, reason=f"{GONE}; near: {near.near} in lines {near.lines}")
    past = ref.lines.end > home.source.count
    return _past_end(ref, home.source) if past else Resolution(State.STALE, reason=GONE)


def _named_copies(copies: Sequence[CodeLocation]) -> str:
    if not copies:
        return ""
    shown = ", ".join(f"{place.path}:{place.lines}" for place in copies[: MOST_PLACES // 2])
    return f"; the former text also stands in {shown}{' and more' if len(copies) > MOST_PLACES // 2 else ''}"


def unreadable(reason: Reason) -> Resolution:
    """The state of a ref whose file cannot be read: what may pass says nothing about the code."""
    return Resolution(State.UNKNOWN if reason is Reason.IO else State.STALE, reason=WORDS[reason])


def unknown(reason: str) -> Resolution:
    """A ref of which nothing can be said."""
    return Resolution(State.UNKNOWN, reason=reason)


def at(state: State, path: RelativePath, lines: LineRange, excerpt: str) -> Resolution:
    """Code that was found."""
    return Resolution(state, CodeLocation(path, lines), None, excerpt)


def _past_end(ref: Ref, source: SourceText) -> Resolution:
    plural = "" if source.count == 1 else "s"
    words = f"lines {ref.lines} are past the end of the file ({source.count} line{plural})"
    return Resolution(State.STALE, reason=words)


def ambiguous(places: Sequence[CodeLocation], home: RelativePath) -> Resolution:
    """Code that stands in several places, none of which is meant more than another."""
    told = [f"{place.lines}{'' if place.path == home else f' of {place.path}'}" for place in places]
    more = " and more" if len(told) >= MOST_PLACES else ""
    return Resolution(State.AMBIGUOUS, reason=f"ambiguous, lines {', '.join(told[: MOST_PLACES - 1])}{more}")
