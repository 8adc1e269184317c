"""Where the code of a ref is now, and what may be said of it: decided from texts that others have read.

In this order:
1. the anchored text where it was: `exact`;
2. the anchored text elsewhere in its file: `moved`, or `ambiguous` if several places are equally good;
3. its definition, or a block that is alike, still in its file: `changed`. So code that was edited has not
   moved to where somebody had copied it;
4. the anchored text in other files: `moved` or `ambiguous`;
5. the only definition of its name in other files: `changed`;
6. else `stale`, or `unknown` if not everything could be looked at.
Where the same text stands several times, the place in the definition of the anchored name is meant. Where the
name is gone, a definition of another name is a renamed one only if nearly all of the text is in it: functions
that stand beside each other are often alike. Line numbers alone never justify showing code.

Definitions are compared by their words: what is reformatted keeps most of them. Lines that are no whole
definition are found by `difflib`, line by line.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from itertools import accumulate, islice
from typing import NamedTuple

from attrs import evolve, frozen

from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Reason
from context_pack.kernel.syntax import Definition, DefinitionKind, name_parts
from context_pack.kernel.text import MAX_LINES, LineRange, counted
from context_pack.packs.anchors import ALL, BARE, Anchor, SourceText, Symbol, digest_of, innermost, symbol_of
from context_pack.packs.model import CodeLocation, Ref
from context_pack.packs.states import CHANGED_SINCE, WORDS, Resolution, State

# Measured by `benches/side_by_side/moved.py`.
LEAST_SHARE = 0.3
"""The share of the anchored lines that a block of the file must hold to be shown as what became of them."""
MUCH_ALIKE = 0.6
"""How alike the definition of the name must be to have been edited, although its text stands elsewhere."""
RETYPED = 0.8
"""How alike a definition must be whose type alone is called otherwise, or whose file cannot be parsed."""
NEARLY_ALL = 0.975
"""How much of the text a definition of another name must hold to be the renamed one."""
SHOWN_WHOLE = 200
"""Lines up to which a definition is shown where only some of its lines were anchored, and are not found."""
MOST_PLACES, MOST_COPIES = 6, 1_000
"""How many places are told, and how many in one file are looked at."""
MOST_HASHED = 2_000_000
"""Lines that are hashed to find a text that is not kept, those nearest to its old place. A pack of a stranger
may name the longest texts in the largest files."""
TELLING_CHARS = 30
"""Letters and digits from which on a text in another file is known by itself."""
TELLING_LINE = 3
"""Letters and digits from which on a line says where it is: braces and blank lines do not."""
SAME_LINE = 0.5
"""From here on, a line may be what became of another."""
LARGE_FILE = 3_000
"""Above so many lines only those are compared that are around most of the text."""
MANY_LINES = 300
"""Above so many lines `difflib` passes over very common ones, or comparing would take seconds."""
CALLABLE = frozenset(map(DefinitionKind, ("function", "method", "macro")))
DECORATORS = ("@", "#[", "[")
"""How a line begins that changes what the definition below it does."""
GONE = "neither its text nor its definition is found"
_FORMAT = re.compile(r"[\s\"',;]+")
_WORD = re.compile(r"\w+|[^\w\s]")


@frozen
class Sought:
    """A ref whose code is looked for, and the text that it is anchored to if that is kept."""

    ref: Ref
    anchor: Anchor
    text: str | None = None

    @property
    def is_telling(self) -> bool:
        """Whether its text is known by itself, wherever it stands."""
        return sum(map(str.isalnum, self.text or "")) >= TELLING_CHARS


@frozen
class Candidate:
    """Lines of a file that changed code may have become, how alike, and the definition that says so."""

    source: SourceText
    lines: LineRange
    likeness: float
    definition: Definition | None = None
    signature: str | None = None

    @property
    def resolution(self) -> Resolution:
        """The code as changed."""
        place = CodeLocation(self.source.path, self.lines)
        excerpt = self.source.cut(self.lines.start, self.lines.end)
        return Resolution(State.CHANGED, place, CHANGED_SINCE, excerpt, self.signature)


def where_it_was(ref: Ref, source: SourceText) -> Resolution | None:
    """The state of a ref whose code is on its lines, or has no anchor; None if it must be looked for."""
    text = source.cut(ref.lines.start, ref.lines.end)
    if ref.anchor is None:
        return _past_end(ref, source) if text is None else at(State.UNANCHORED, ref.path, ref.lines, text)
    if text is not None and digest_of(text) == ref.anchor.digest:
        return at(State.EXACT, ref.path, ref.lines, text)
    return None


def copies_in(sought: Sought, source: SourceText) -> list[LineRange]:
    """Where the anchored text stands in a file; without the text, runs of as many lines are hashed."""
    count, digest = sought.anchor.lines, sought.anchor.digest
    starts: Iterable[int]
    if sought.text is not None:
        starts = source.occurrences(sought.text)
    else:
        reach, home = MOST_HASHED // count, sought.ref.lines.start
        windows = range(max(1, home - reach), min(source.count - count + 1, home + reach) + 1)
        starts = (at for at in windows if digest_of(source.cut(at, at + count - 1) or "") == digest)
    return [LineRange(start, start + count - 1) for start in islice(starts, MOST_COPIES)]


def of_the_name(symbol: Symbol | None, source: SourceText, places: Sequence[LineRange]) -> list[LineRange]:
    """Those of some places of a file that are in the definition of the anchored name."""
    if symbol is None:
        return []
    names = {each.qualified for each in _of_name(symbol, source) or _retyped(symbol, source)}
    around = ((place, symbol_of(source, place)) for place in places)
    return [place for place, each in around if each is not None and each.name in names]


def in_file(sought: Sought, source: SourceText) -> Resolution | None:
    """What the own file says of a ref."""
    ref, symbol = sought.ref, sought.anchor.symbol
    places = copies_in(sought, source)
    meant = of_the_name(symbol, source, places)
    # Only a definition that has kept its name can be meant although its text stands elsewhere.
    if not meant and (symbol is not None or not places):
        changed = find_changed(sought, source)
        if changed is not None and (not places or _was_edited(sought, changed, places)):
            return changed.resolution
    places = meant or places
    if len(places) == 1 and _is_newly_decorated(symbol, source, places[0]):
        definition = namesake(sought, source)
        if definition is not None:
            return definition.resolution
    if ref.lines in places:
        return where_it_was(ref, source)
    excerpt = source.cut(places[0].start, places[0].end) if places else None
    locations = [CodeLocation(source.path, place) for place in places]
    return None if excerpt is None else moved(locations, excerpt, ref.path)


def _is_newly_decorated(symbol: Symbol | None, source: SourceText, place: LineRange) -> bool:
    """Whether a whole definition stands as it was, but decorators were put above it."""
    around = innermost(source, place.start, place.end)
    if symbol is None or symbol.part != ALL or around is None or around.line != place.start:
        return False
    above = source.lines[around.start - 1 : place.start - 1]
    return any(line.lstrip().startswith(DECORATORS) for line in above)


def _was_edited(sought: Sought, changed: Candidate, places: Sequence[LineRange]) -> bool:
    """Whether the definition of the name is still there, much alike, and apart from the text's copies."""
    lines, symbol, definition = changed.lines, sought.anchor.symbol, changed.definition
    is_named = symbol is not None and definition is not None and definition.qualified == symbol.name
    is_apart = all(place.end < lines.start or lines.end < place.start for place in places)
    return is_named and is_apart and changed.likeness >= MUCH_ALIKE


def find_changed(sought: Sought, source: SourceText) -> Candidate | None:
    """What of a file the anchored code has become: by its definition's name, else the most similar lines."""
    symbol = sought.anchor.symbol
    if symbol is None:
        return _block(sought, source, LEAST_SHARE)
    if (named := namesake(sought, source)) is not None:
        return named
    retyped = _best(sought, source, _retyped(symbol, source))
    if retyped is not None and retyped.likeness >= RETYPED:
        return retyped
    if not source.definitions:  # while somebody edits it, code cannot be parsed
        return _block(sought, source, RETYPED)
    return _renamed(sought, symbol, source)


def namesake(sought: Sought, source: SourceText) -> Candidate | None:
    """What is shown of a file that defines the anchored name."""
    symbol = sought.anchor.symbol
    return None if symbol is None else _best(sought, source, _of_name(symbol, source))


def _of_name(symbol: Symbol, source: SourceText) -> list[Definition]:
    """The definitions of the anchored name, those of its kind if there are any."""
    same = [each for each in source.definitions if each.qualified == symbol.name]
    return [each for each in same if each.kind.value == symbol.kind] or same


def _retyped(symbol: Symbol, source: SourceText) -> list[Definition]:
    """The only definition of the last part of the name, in case its type was renamed."""
    same = [each for each in source.definitions if each.name == name_parts(symbol.name)[-1]]
    return same if len(same) == 1 else []


def _best(sought: Sought, source: SourceText, definitions: Iterable[Definition]) -> Candidate | None:
    """The most similar of some definitions, or of their parts if only a part was anchored."""
    symbol = sought.anchor.symbol
    become = _whole if symbol is None or symbol.whole else _part
    places = [become(sought, source, each) for each in definitions]
    return max(filter(None, places), key=lambda each: each.likeness, default=None)


def _renamed(sought: Sought, symbol: Symbol, source: SourceText) -> Candidate | None:
    """The one definition of another name that holds nearly all of the text."""
    if sought.text is None:
        return None
    if not symbol.whole:
        block = _block(sought, source, NEARLY_ALL)
        return block if block and innermost(source, block.lines.start, block.lines.end) else None
    kinds = CALLABLE if symbol.kind in CALLABLE else {symbol.kind}
    old = name_parts(symbol.name)[-1]
    same = [_whole(sought, source, each, old) for each in source.definitions if each.kind in kinds]
    alone = [each for each in same if each.likeness >= NEARLY_ALL]
    return alone[0] if len(alone) == 1 else None


def _whole(
    sought: Sought, source: SourceText, definition: Definition, renamed: str | None = None
) -> Candidate:
    """A definition, with what documents and decorates it if that was anchored; compared as if renamed."""
    symbol = sought.anchor.symbol
    start = definition.line if symbol is not None and symbol.part == BARE else definition.start
    place = LineRange(start, min(definition.end, start + MAX_LINES - 1))
    code = source.cut(place.start, place.end) or ""
    if renamed is not None:
        code = re.sub(rf"\b{re.escape(definition.name)}\b", lambda _: renamed, code)
    likeness = 0.0 if sought.text is None else alike(sought.text, code)
    return Candidate(source, place, likeness, definition, definition.signature)


def _part(sought: Sought, source: SourceText, definition: Definition) -> Candidate | None:
    """The lines of a definition that a part of it has become; all of it if it is not much longer."""
    whole = LineRange(definition.start, min(definition.end, definition.start + MAX_LINES - 1))
    block = _block(sought, source, LEAST_SHARE, whole)
    if block is not None:
        return evolve(block, definition=definition)
    shown = whole.count <= max(SHOWN_WHOLE, longest(sought.anchor.lines))
    return Candidate(source, whole, 0.0, definition) if shown else None


def _block(
    sought: Sought, source: SourceText, least: float, within: LineRange | None = None
) -> Candidate | None:
    """The lines of a file, or within some of it, that are most like the anchored ones.

    If their end is not known, those of the definition around them, unless it is long.
    """
    low, high = (0, source.count) if within is None else (within.start - 1, within.end)
    block = None if sought.text is None else similar_block(sought.text.split("\n"), source.lines[low:high])
    if block is None or block.share < least:
        return None
    place = LineRange(low + block.start + 1, low + min(block.end, block.start + MAX_LINES - 1) + 1)
    around = None if block.ended else innermost(source, place.start, place.end)
    if around is not None and around.end - around.start < max(SHOWN_WHOLE, longest(sought.anchor.lines)):
        place = LineRange(around.start, around.end)
    return Candidate(source, place, block.share)


def elsewhere(
    sought: Sought, copies: Sequence[CodeLocation], namesakes: Sequence[Candidate]
) -> Resolution | None:
    """What other files say of a ref: copies of its text, else the only definition of its name."""
    if copies:
        return moved(copies, sought.text or "", sought.ref.path)
    return namesakes[0].resolution if len(namesakes) == 1 else None


def gone(ref: Ref, home: SourceText | Reason) -> Resolution:
    """The state of a ref that is nowhere."""
    if isinstance(home, Reason):
        return unreadable(home)
    return _past_end(ref, home) if ref.lines.end > home.count else Resolution(State.STALE, reason=GONE)


def unreadable(reason: Reason) -> Resolution:
    """The state of a ref whose file cannot be read: what may pass says nothing about the code."""
    return Resolution(State.UNKNOWN if reason is Reason.IO else State.STALE, reason=WORDS[reason])


def at(state: State, path: RelativePath, lines: LineRange, excerpt: str) -> Resolution:
    """Code that was found."""
    return Resolution(state, CodeLocation(path, lines), None, excerpt)


def _past_end(ref: Ref, source: SourceText) -> Resolution:
    words = f"lines {ref.lines} are past the end of the file ({counted(source.count, 'line')})"
    return Resolution(State.STALE, reason=words)


def moved(places: Sequence[CodeLocation], excerpt: str, home: RelativePath) -> Resolution:
    """Code that stands in one place; or in several, none of which is meant more than another."""
    if len(places) == 1:
        return at(State.MOVED, places[0].path, places[0].lines, excerpt)
    told = [f"{place.lines}{'' if place.path == home else f' of {place.path}'}" for place in places]
    more = " and more" if len(told) >= MOST_PLACES else ""
    return Resolution(State.AMBIGUOUS, reason=f"ambiguous, lines {', '.join(told[: MOST_PLACES - 1])}{more}")


def alike(old: str, new: str) -> float:
    """The share of the words and signs of two texts that they have in common, from 0 to 1."""
    return SequenceMatcher(None, _WORD.findall(old), _WORD.findall(new)).quick_ratio()


def longest(count: int) -> int:
    """How many lines so many may have become and still be believed to be the same code."""
    return min(MAX_LINES, max(2 * count, count + 40))


class SimilarLines(NamedTuple):
    """The first and last index of lines that a text has become, and the share of the text that is there.

    It is `ended` if the last line of the text is there.
    """

    start: int
    end: int
    share: float
    ended: bool


def similar_block(kept: Sequence[str], lines: Sequence[str]) -> SimilarLines | None:
    """The lines that a kept text has most likely become: the run that has most of its lines.

    What formatters change (white space, quotes, commas) does not count.
    """
    old, new = ([_FORMAT.sub("", line) for line in some] for some in (kept, lines))
    while old and not old[-1]:
        old.pop()
    low, new = _around_most(old, new)
    matcher = SequenceMatcher(None, old, new, autojunk=max(len(old), len(new)) > MANY_LINES)
    hits = [
        (block.a + at, block.b + at)
        for block in matcher.get_matching_blocks()
        for at in range(block.size)
        if _is_telling(old[block.a + at])
    ]
    most = longest(len(old))
    places = [place for _, place in hits]
    runs = [hits[at : bisect_left(places, place + most)] for at, place in enumerate(places)]
    best = max(runs, key=len, default=[])
    if not best:
        return None
    (top, start), (bottom, end) = best[0], best[-1]
    while top and start and old[top - 1] == new[start - 1]:
        top, start = top - 1, start - 1
    rest = list(zip(old[bottom + 1 :], new[end + 1 :], strict=False))  # braces, or lines that changed
    ended = len(rest) == len(old) - bottom - 1 and all(
        line == there or alike(line, there) >= SAME_LINE for line, there in rest
    )
    share = len(best) / sum(map(_is_telling, old))
    return SimilarLines(low + start, low + end + (len(rest) if ended else 0), share, ended)


def _around_most(old: Sequence[str], new: list[str]) -> tuple[int, list[str]]:
    """The lines around those that hold most of a text, rare ones counting more, and where they begin.

    Of a file that is not large all lines. This takes linear time; `difflib` would compare for minutes.
    """
    most = max(longest(len(old)), LARGE_FILE // 3)
    if len(new) <= 3 * most:
        return 0, new
    telling = set(filter(_is_telling, old))
    times = Counter(line for line in new if line in telling)
    sums = list(accumulate((1 / times[line] if line in times else 0.0 for line in new), initial=0.0))
    start = max(range(len(new) - most + 1), key=lambda at: sums[at + most] - sums[at])
    low = max(0, start - most)
    return low, new[low : start + 2 * most]


def _is_telling(line: str) -> bool:
    return sum(map(str.isalnum, line)) >= TELLING_LINE
