"""A pattern's tree in the words of ripgrep, and which files it may be trusted with.

Classes are written out as code points and folded letters as their cases, so that no rule of another dialect
is asked. A line of a file may end in `\\r\\n`: no part takes the `\\r`, and the end of the line may stand
before it. Words and digits (`\\w`, `\\d`, `\\b`) are left to ripgrep's tables, and the pattern is trusted
with characters every table has long agreed on; what else needs a table is written for ASCII and trusted
with ASCII alone. Look-around, back-references and the like have no words here.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from functools import lru_cache

from attrs import define, frozen

from context_pack.code.domain.search_nodes import (
    LINE_FEED,
    RETURN,
    Char,
    CharSet,
    Choice,
    Group,
    Member,
    Node,
    Place,
    Repeat,
    Sequence,
    Span,
    merged,
    outside,
    without,
)
from context_pack.code.domain.search_regex import counted, member

# The cases of ASCII letters that are not ASCII, as `regex` has them.
_FAR_CASES = {"i": "\u0130", "I": "\u0131", "k": "\u212a", "K": "\u212a", "s": "\u017f", "S": "\u017f"}
_NEAR_CASES = {"\u0130": "i", "\u0131": "I", "\u212a": "kK", "\u017f": "sS"}
_PLACES = {Place.START: "^", Place.END: r"(?:\r?$)", Place.EDGE: r"\b", Place.NO_EDGE: r"\B"}
_WORDS = frozenset({r"\w", r"\W", r"\d", r"\D"})
_ENDS = "[\\x{a}\\x{d}]"
USUAL: tuple[Span, ...] = (
    *((0x0000, 0x0377), (0x037B, 0x052F), (0x05D0, 0x05EA), (0x0620, 0x06FF), (0x0900, 0x097F)),
    *((0x0E01, 0x0E3A), (0x0E3F, 0x0E5B), (0x1E00, 0x1F15), (0x2000, 0x2064), (0x2070, 0x2071)),
    *((0x2074, 0x208E), (0x20A0, 0x20BF), (0x2100, 0x218B), (0x2190, 0x23FF), (0x2460, 0x2B73)),
    *((0x3000, 0x303F), (0x3041, 0x3096), (0x3099, 0x30FF), (0x3105, 0x312F), (0x4E00, 0x9FEF)),
    *((0xAC00, 0xD7A3), (0xFE00, 0xFE0F), (0xFF01, 0xFFBE), (0x1F300, 0x1F64F), (0x1F680, 0x1F6C5)),
)
"""Characters that no Unicode table of the last years has changed its mind about."""
_LOOKED_AT = 500
_NOTHING = "[^\\x{0}-\\x{10ffff}]"


class Reach(IntEnum):
    """Which characters a file may hold for a pattern to be trusted with it."""

    ASCII = 0
    USUAL = 1
    ANY = 2


@frozen
class RipgrepSource:
    """A pattern for ripgrep, and which files it may see; `no_returns`: only those without `\\r`."""

    text: str
    reach: Reach
    no_returns: bool


class _Unspeakable(Exception):
    """A part that ripgrep has no words for."""


def ripgrep_source(node: Node) -> RipgrepSource | None:
    """The pattern for ripgrep, or None if it has no words for it."""
    writer = _Writer()
    try:
        text = writer.write(node)
    except _Unspeakable:
        return None
    return RipgrepSource(text, writer.reach, writer.no_returns)


@define
class _Writer:
    """Writes a pattern and learns on the way which files it may see."""

    reach: Reach = Reach.ANY
    no_returns: bool = False

    def write(self, node: Node) -> str:
        """One part."""
        match node:
            case Char(code, fold):
                return self._set(CharSet(((code, code),)), fold)
            case Member(found, fold):
                return self._set(found, fold)
            case Sequence(parts):
                return "".join(
                    f"(?:{self.write(part)})" if isinstance(part, Choice) else self.write(part)
                    for part in parts
                )
            case Choice(branches):
                return "|".join(map(self.write, branches))
            case Repeat(part, low, high, manner) if manner != "+":
                return f"(?:{self.write(part)}){counted(low, high)}{manner}"
            case Group(part):
                return f"(?:{self.write(part)})"
            case Place():
                if node in (Place.EDGE, Place.NO_EDGE):
                    self._only(Reach.USUAL)
                # Between `\r` and `\n` is a place that the line does not have.
                self.no_returns |= node is Place.NO_EDGE
                return _PLACES[node]
            case _:
                raise _Unspeakable

    def _only(self, reach: Reach) -> None:
        self.reach = min(self.reach, reach)

    def _set(self, found: CharSet, fold: bool) -> str:
        if fold and any(map(_has_far_letters, found.spans)):
            self._only(Reach.ASCII)
        spans = _cases(found.spans) if fold else found.spans
        if not found.tables:
            return _written(without(outside(spans) if found.negated else spans, LINE_FEED, RETURN))
        if not _WORDS.issuperset(found.tables):
            self._only(Reach.ASCII)
            return _written(without(_ascii_part(found, fold), LINE_FEED, RETURN))
        self._only(Reach.USUAL)
        members = "".join(found.tables) + _members(spans)
        return f"[[{'^' if found.negated else ''}{members}]--{_ENDS}]"


def _has_far_letters(span: Span) -> bool:
    """Whether the span may hold letters outside ASCII that have cases."""
    low, high = max(span[0], 128), span[1]
    return high - low > _LOOKED_AT or any(
        char.lower() != char or char.upper() != char for char in map(chr, range(low, high + 1))
    )


def _cases(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The spans with every case of their letters, as far as ASCII is concerned."""
    more: list[Span] = []
    for low, high in spans:
        for code in range(low, min(high, 127) + 1):
            char = chr(code)
            if char.isalpha():
                cases = char.swapcase() + _FAR_CASES.get(char, "")
                more.extend((ord(case), ord(case)) for case in cases)
        for far, near in _NEAR_CASES.items():
            if low <= ord(far) <= high:
                more.extend((ord(case), ord(case)) for case in near)
    return merged([*spans, *more])


@lru_cache(maxsize=256)
def _ascii_part(found: CharSet, fold: bool) -> tuple[Span, ...]:
    """What a set with tables holds of ASCII: `regex` itself is asked, character by character."""
    import regex

    pattern = regex.compile(member(Member(found, fold)), regex.V0 | (regex.IGNORECASE if fold else 0))
    return merged((code, code) for code in range(128) if pattern.fullmatch(chr(code)))


def _written(spans: Iterable[Span]) -> str:
    """A class of code points."""
    parts = _members(spans)
    if not parts:
        return _NOTHING
    return parts if parts.count("{") == 1 else f"[{parts}]"


def _members(spans: Iterable[Span]) -> str:
    """The members of a class; surrogates are no characters, and ripgrep refuses them."""
    return "".join(
        f"\\x{{{low:x}}}" if low == high else f"\\x{{{low:x}}}-\\x{{{high:x}}}"
        for low, high in outside([*outside(spans), (0xD800, 0xDFFF)])
    )
