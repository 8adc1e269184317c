"""Where the code of a ref is now, and what may be said of it: decided from texts that others have read.

In this order:
1. the anchored text where it was: `exact`;
2. the anchored text elsewhere in its file: `moved`, or `ambiguous` if several places are equally good;
3. its definition, or a block that is alike, still in its file: `changed`. Equal text in another file is only
   named, as a copy: code that was edited has not moved to where somebody had copied it;
4. the anchored text in other files: `moved` or `ambiguous`;
5. the only definition of its name in other files: `changed`;
6. else `stale`, or `unknown` if not everything could be looked at.
Where the same text stands several times, the place in the definition of the anchored name is meant. Line
numbers alone never justify showing code.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, islice

from attrs import frozen

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
LEAST_SHARE_OUTSIDE = 0.4
"""The same where that definition is gone."""
UNLIKE, MUCH_ALIKE = 0.3, 0.6
"""A definition of the name that is `UNLIKE` loses against another that is `MUCH_ALIKE`."""
SHOWN_WHOLE = 200
"""Lines up to which a definition is shown where only some of its lines were anchored, and are not found."""
RENAMED, RETYPED = 0.65, 0.5
"""How alike a definition of another name must be, and one whose type alone is called otherwise."""
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

    def likeness(self, text: Text, lines: LineRange) -> float:
        """How alike lines of a file are."""
        return alike(self.words, words_of(text.source.lines[lines.start - 1 : lines.end]))


@frozen
class Candidate:
    """Lines of a file that changed code has become, and how alike; `named` if their definition says so."""

    text: Text
    lines: LineRange
    likeness: float
    signature: str | None = None
    named: bool = False

    def resolution(self, more: str = "") -> Resolution:
        """The code as changed."""
        excerpt = self.text.source.cut(self.lines.start, self.lines.end) or ""
        found = CodeLocation(self.text.path, self.lines)
        return Resolution(State.CHANGED, found, CHANGED_SINCE + more, excerpt, self.signature)


@frozen
class Elsewhere:
    """What the tree holds of a ref outside its file: its text, and definitions of its name.

    `unsearched` says why not everything was looked at, if so; `unread` is a file that could not be read for
    a reason that may pass.
    """

    text: str = ""
    copies: Sequence[CodeLocation] = ()
    namesakes: Sequence[Candidate] = ()
    unsearched: str | None = None
    unread: RelativePath | None = None


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


def in_file(
    ref: Ref, anchor: Anchor, kept: KeptText | None, text: Text, others: Collection[str]
) -> Resolution | Candidate | None:
    """What the own file says of a ref: its state if the text is there, else what it may have become."""
    places = copies_in(anchor, kept, text.source)
    if not places:
        return find_changed(anchor, kept, text, others)
    meant = of_the_name(anchor.symbol, text, places)
    found = [CodeLocation(text.path, place) for place in meant or places]
    # Only a definition that has kept its name can be meant although its text stands elsewhere.
    unsure = not meant and anchor.symbol is not None
    candidate = find_changed(anchor, kept, text, others) if unsure else None
    if candidate is not None and _edited(candidate, places):
        return candidate.resolution(_named_copies(found))
    if not meant and CodeLocation(ref.path, ref.lines) in found:
        return where_it_was(ref, text.source)
    if len(found) > 1:
        return ambiguous(found, ref.path)
    lines = found[0].lines
    return at(State.MOVED, text.path, lines, text.source.cut(lines.start, lines.end) or "")


def _edited(candidate: Candidate, places: Sequence[LineRange]) -> bool:
    """Whether a candidate is surely the anchored definition, though equal text is elsewhere in its file."""
    if not candidate.named or candidate.likeness < MUCH_ALIKE:
        return False
    lines = candidate.lines
    return all(place.end < lines.start or lines.end < place.start for place in places)


def find_changed(
    anchor: Anchor, kept: KeptText | None, text: Text, others: Collection[str] = ()
) -> Candidate | None:
    """What of a file the anchored code has become: by its definition's name, else the most similar lines.

    `others` are names of definitions that are not meant, because other refs are about them.
    """
    symbol = anchor.symbol
    if symbol is not None and symbol.whole:
        # Code that cannot be parsed, while somebody edits it, has no definitions.
        whole = _definition(symbol, kept, text, others)
        block = None if whole is not None else _block(anchor, kept, text, RENAMED)
        around = None if block is None else innermost(text.definitions, block.lines.start, block.lines.end)
        return whole or (None if around is not None and around.qualified in others else block)
    if symbol is not None:
        inside = [_part(each, anchor, kept, text) for each in _of_name(symbol, text.definitions)]
        best = max(filter(None, inside), key=lambda each: each.likeness, default=None)
        return (
            best
            if best is not None and best.likeness
            else _block(anchor, kept, text, LEAST_SHARE_OUTSIDE) or best
        )
    return _block(anchor, kept, text, LEAST_SHARE)


def namesake(anchor: Anchor, kept: KeptText | None, text: Text) -> Candidate | None:
    """What is shown of another file that defines the anchored name."""
    symbol = anchor.symbol
    same = [] if symbol is None else [each for each in text.definitions if each.qualified == symbol.name]
    if symbol is None or not same:
        return None
    if symbol.whole:
        places = [_whole(each, symbol, kept, text) for each in _of_name(symbol, same)]
    else:
        places = list(filter(None, (_part(each, anchor, kept, text) for each in _of_name(symbol, same))))
    return max(places, key=lambda each: each.likeness, default=None)


def _of_name(symbol: Symbol, definitions: Sequence[Definition]) -> list[Definition]:
    """The definitions of the anchored name; else the only one of its last part, if its type was renamed."""
    same = [each for each in definitions if each.qualified == symbol.name]
    if same:
        return [each for each in same if each.kind.value == symbol.kind] or same
    bare = name_parts(symbol.name)[-1]
    return only if len(only := [each for each in definitions if each.name == bare]) == 1 else []


def _definition(
    symbol: Symbol, kept: KeptText | None, text: Text, others: Collection[str]
) -> Candidate | None:
    """The whole definition that an anchored one has become."""
    of_name = _of_name(symbol, text.definitions)
    same_name = any(each.qualified == symbol.name for each in of_name)
    named = max(
        (_whole(each, symbol, kept, text) for each in of_name), key=lambda each: each.likeness, default=None
    )
    if kept is None:
        return named if same_name else None
    if named is not None and named.likeness >= (UNLIKE if same_name else RETYPED):
        return named
    rest = [each for each in text.definitions if each not in of_name and each.qualified not in others]
    rest = [each for each in rest if each.kind.value == symbol.kind or {each.kind, symbol.kind} <= CALLABLE]
    renamed = max(
        (_whole(each, symbol, kept, text) for each in rest), key=lambda each: each.likeness, default=None
    )
    if renamed is not None and renamed.likeness >= (MUCH_ALIKE if same_name else RENAMED):
        return renamed
    return named if same_name else None


def _whole(definition: Definition, symbol: Symbol, kept: KeptText | None, text: Text) -> Candidate:
    """A definition, with what documents and decorates it if that was anchored."""
    start = definition.line if symbol.part == BARE else definition.start
    lines = LineRange(start, min(definition.end, start + MAX_LINES - 1))
    likeness = 0.0 if kept is None else kept.likeness(text, lines)
    return Candidate(text, lines, likeness, definition.signature, definition.qualified == symbol.name)


def _part(definition: Definition, anchor: Anchor, kept: KeptText | None, text: Text) -> Candidate | None:
    """The lines of a definition that a part of it has become; all of it if it is not much longer."""
    whole = LineRange(definition.start, min(definition.end, definition.start + MAX_LINES - 1))
    same_name = anchor.symbol is not None and definition.qualified == anchor.symbol.name
    block = None if kept is None else similar_block(kept.lines, text.source.lines, whole)
    if block is not None and block.share >= LEAST_SHARE_INSIDE:
        return Candidate(text, _rounded(block, anchor.lines, text), block.share, named=same_name)
    shown = same_name and whole.count <= max(SHOWN_WHOLE, longest(anchor.lines))
    return Candidate(text, whole, 0.0, named=True) if shown else None


def _block(anchor: Anchor, kept: KeptText | None, text: Text, least: float) -> Candidate | None:
    """The lines of a file that are most like the anchored ones."""
    block = None if kept is None else similar_block(kept.lines, text.source.lines)
    if block is None or block.share < least:
        return None
    return Candidate(text, _rounded(block, anchor.lines, text), block.share)


def _rounded(block: SimilarLines, count: int, text: Text) -> LineRange:
    """The lines of a block; if its end is not known, those of the definition around it unless it is long."""
    around = None if block.ended else innermost(text.definitions, block.lines.start, block.lines.end)
    if around is None or around.end - around.start >= max(SHOWN_WHOLE, longest(count)):
        return block.lines
    return LineRange(around.start, around.end)


def decided(ref: Ref, home: Text | Reason, candidate: Candidate | None, elsewhere: Elsewhere) -> Resolution:
    """The state of a ref whose text is not in its file."""
    if candidate is not None:
        return candidate.resolution(_named_copies(elsewhere.copies))
    if elsewhere.unsearched is not None:
        return unknown(elsewhere.unsearched)
    if len(elsewhere.copies) == 1:
        return at(State.MOVED, elsewhere.copies[0].path, elsewhere.copies[0].lines, elsewhere.text)
    if elsewhere.copies:
        return ambiguous(elsewhere.copies, ref.path)
    if len(elsewhere.namesakes) == 1:
        return elsewhere.namesakes[0].resolution()
    if elsewhere.unread is not None:
        return unknown(f"not found, and {elsewhere.unread} could not be read")
    if isinstance(home, Reason):
        return unreadable(home)
    return (
        _past_end(ref, home.source)
        if ref.lines.end > home.source.count
        else Resolution(State.STALE, reason=GONE)
    )


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
