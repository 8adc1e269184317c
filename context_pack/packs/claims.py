"""Prose and the code that it rests on: places that a text names, claims, and which must be read again.

A text in Markdown becomes sections by its headings and blocks by its paragraphs, list items and table rows;
Mermaid fences are diagrams. A place is written as `src/vm.rs:10-20`, `src/vm.rs#L10-L20`,
`src/vm.rs#Vm::eval`, or as a name in backticks that is no ordinary word (`Vm::eval`, `safe_join`, `load()`),
which means the one definition of that name. Nothing here looks at a file: whether there is such code is for
`write_text` to say.

A claim is a block that names places, the reason of a ref, or a ref without one that no prose names. It holds
while the code of all its refs is as it was, but for what is only cosmetic. The others are ordered by doubt:
code that is gone first, then by the share of its lines that changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from attrs import frozen

from context_pack.kernel.markdown import block_parser
from context_pack.kernel.syntax import name_parts
from context_pack.kernel.text import counted
from context_pack.packs.model import Pack, Ref, Section
from context_pack.packs.states import Resolution, place_now
from context_pack.toolkit.budget import cut_text

_NAME = r"[A-Za-z_$][\w$]*(?:(?:::|\.|#)[A-Za-z_$][\w$]*)*"
_BARE = "Makefile|Dockerfile|Containerfile|Jenkinsfile|Gemfile|Rakefile|Procfile|Justfile|LICENSE|README"
_PATH = rf"(?:[\w@+~.-]+/)*(?:[\w@+~-][\w@+~.-]*\.\w+|(?:{_BARE})(?=[:#]))"
_LINES = r":(?P<start>\d{1,9})(?:[-–](?P<end>\d{1,9}))?|#L(?P<start2>\d{1,9})(?:-L?(?P<end2>\d{1,9}))?(?!\w)"
_PLACE = re.compile(
    rf"(?<![\w/.:#@-])`?(?P<path>{_PATH})(?:{_LINES}|#(?P<symbol>{_NAME}))"
    rf"|(?<!`)`(?P<bare>{_NAME})(?:\(\))?`(?!`)"
)
_TELLING = re.compile(r"\w(?:::|\.|#)\w|[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]|^`_[A-Za-z0-9]|\(\)`$")
"""What makes a name in backticks more than a word: `chain` may be anything, `split_arg` is a definition."""
_WORD = re.compile(r"\w")
_LINE_NUMBER = re.compile(r"\blines? \d+", re.IGNORECASE)


@frozen
class NamedPlace:
    """A place in code as a text names it: a path with lines or a symbol, or a symbol alone."""

    spelling: str
    path: str | None = None
    start: int | None = None
    end: int | None = None
    symbol: str | None = None

    @property
    def name(self) -> str:
        """What its ref is called, before that is made a key."""
        if self.symbol is not None:
            return self.symbol
        return f"{(self.path or '').rsplit('/', 1)[-1]} {self.start}-{self.end}"


@frozen
class Statement:
    """A paragraph, a list item or a row of a table, on one line, and the places that it names."""

    text: str
    places: tuple[NamedPlace, ...]


def blocks_of(text: str | None) -> Iterator[Statement]:
    """The blocks of prose of a Markdown text, in order; code and headings are none."""
    tokens = block_parser().parse(text or "")
    for before, token in pairwise(tokens):
        if before.type == "paragraph_open" and token.type == "inline":
            lines = [line.strip() for line in token.content.split("\n")]
            rows = lines if all(line.startswith("|") for line in lines) else [" ".join(lines)]
            for row in filter(_WORD.search, rows):
                yield Statement(row, tuple(place for place, _ in _places_in(row)))


def _places_in(text: str) -> Iterator[tuple[NamedPlace, re.Match[str]]]:
    """The places that a text names, in order, each with where it stands in the text."""
    for match in _PLACE.finditer(text):
        spelling = match[0].lstrip("`")
        if match["bare"] is not None:
            if _TELLING.search(match[0]):
                yield NamedPlace(match["bare"], symbol=match["bare"]), match
        elif match["symbol"] is not None:
            yield NamedPlace(spelling, match["path"], symbol=match["symbol"]), match
        else:
            start = int(match["start"] or match["start2"])
            yield (
                NamedPlace(spelling, match["path"], start, int(match["end"] or match["end2"] or start)),
                match,
            )


def with_places(text: str, today: Callable[[NamedPlace], str | None]) -> str:
    """The text with what `today` says behind each place; None says nothing."""
    parts, seen = [], 0
    for place, match in _places_in(text):
        words = today(place)
        if words is not None:
            end = match.end() + (text[match.end() : match.end() + 1] == "`")
            if text[: match.start()].endswith("](") and (close := text.find(")", end)) >= 0:
                end = close + 1  # the address of a link stays one
            parts += [text[seen:end], f" ({words})"]
            seen = end
    return "".join([*parts, text[seen:]])


SENTENCE_BYTES = 240
HUGE_LINES = 200
"""A place of more lines says nothing about which of them a sentence rests on."""

Resolve = Callable[[Ref], Resolution]


@frozen
class Claim:
    """A sentence, the section that says it, and the refs that it rests on."""

    section: Section
    text: str
    refs: tuple[Ref, ...]
    is_prose: bool = True
    """Whether the section's text says it; else its one ref does."""

    @property
    def sentence(self) -> str:
        """The text, short enough for a list."""
        return cut_text(self.text, SENTENCE_BYTES)


@frozen
class Doubt:
    """A claim whose code is not as it was: the refs that say so, each with what became of it."""

    claim: Claim
    refs: tuple[tuple[Ref, Resolution], ...]

    @property
    def change(self) -> str:
        """What became of its code, in one line."""
        return "; ".join(f"{place_now(ref, now)} {now.summary}" for ref, now in self.refs)


def claims_of(pack: Pack) -> tuple[list[Claim], int]:
    """The claims of a pack in reading order, and how many blocks of prose name no code."""
    named = {spelling: ref for _, ref in pack.refs for spelling in ref.spellings}
    claims: list[Claim] = []
    bare = 0
    for section in pack.sections:
        for block in blocks_of(section.description):
            refs = dict.fromkeys(named[each.spelling] for each in block.places if each.spelling in named)
            if refs:
                claims.append(Claim(section, block.text, tuple(refs)))
            else:
                bare += 1
        own = (ref for ref in section.refs if ref.why or not ref.spellings)
        claims += [Claim(section, ref.why or ref.title or ref.key, (ref,), is_prose=False) for ref in own]
    return claims, bare


def name_now(place: NamedPlace, ref: Ref) -> str | None:
    """What the definition that a ref is anchored to is called; None where a text names it so."""
    symbol = None if ref.anchor is None else ref.anchor.symbol
    if place.symbol is None or symbol is None:
        return None
    name = name_parts(place.symbol)[-1]
    # `typedef struct a {…} b` defines two names on the same lines, and the anchor has one of them.
    is_called_so = name in name_parts(symbol.name) or re.search(rf"\b{re.escape(name)}\b", symbol.signature)
    return None if is_called_so else symbol.name


def doubts_of(claims: Iterable[Claim], resolve: Resolve) -> list[Doubt]:
    """The claims that must be read again, the most doubtful first."""
    doubts = []
    for claim in claims:
        refs = tuple((ref, now) for ref in claim.refs if (now := resolve(ref)).doubt)
        if refs:
            doubts.append(Doubt(claim, refs))
    return sorted(doubts, key=lambda doubt: -max(now.doubt for _, now in doubt.refs))


def summary(doubts: Sequence[Doubt], claims: int, bare: int) -> str:
    """How many claims there are, how many must be read again, and what nobody checks."""
    doubtful = f" ({len(doubts)} to be read again)" if doubts else ""
    unchecked = f"; {counted(bare, 'statement')} without code" if bare else ""
    return f"{claims}{doubtful}{unchecked}"


def places_note(pack: Pack, section: Section) -> str | None:
    """A note on the places of a section's text that are no refs of the pack; None if there are none."""
    known = {spelling for _, ref in pack.refs for spelling in (*ref.spellings, f"{ref.path}:{ref.lines}")}
    places = (place for block in blocks_of(section.description) for place in block.places)
    loose = list(dict.fromkeys(each.spelling for each in places if each.path and each.spelling not in known))
    if not loose:
        return None
    return (
        f"the description names {counted(len(loose), 'place')} that nobody follows ({loose[0]}"
        f"{', …' if loose[1:] else ''}); upsert_ref anchors one, 'write' all that a text names"
    )


@frozen
class Remark:
    """What a writer should look at again, where, and the words.

    It is `without_code`, `renamed`, `line_number` or `huge`.
    """

    what: str
    section: str
    text: str


def remarks_on(pack: Pack) -> list[Remark]:
    """Sentences without code or with a name that it lost, line numbers that nobody follows, huge places."""
    named = {spelling: ref for _, ref in pack.refs for spelling in ref.spellings}
    remarks: list[Remark] = []
    for section in pack.sections:
        for block in blocks_of(section.description):
            sentence = cut_text(block.text, SENTENCE_BYTES)
            if not any(place.spelling in named for place in block.places):
                remarks.append(Remark("without_code", section.key, sentence))
            for place in block.places:
                ref = named.get(place.spelling)
                if ref is None or place.symbol is None:
                    continue
                name = name_now(place, ref)
                if name is not None or place.path not in (None, ref.path.value):
                    words = f"{place.spelling} is {ref.path}#{name or place.symbol} now"
                    remarks.append(Remark("renamed", section.key, f"{words}: {sentence}"))
            if _LINE_NUMBER.search(block.text) is not None:
                remarks.append(Remark("line_number", section.key, sentence))
        large = (ref for ref in section.refs if ref.lines.count > HUGE_LINES)
        remarks += [
            Remark("huge", section.key, f"{ref.key} {ref.path}:{ref.lines} has {ref.lines.count} lines")
            for ref in large
        ]
    return remarks
