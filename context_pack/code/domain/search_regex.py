"""A pattern's tree in the words of Python's `regex`, for whole texts.

The text has every line ended by one line feed. Nothing here matches a line feed, so that a match in the
whole text is a match in one of its lines, and a search need not look at lines one by one.
"""

from __future__ import annotations

from attrs import frozen

from context_pack.code.domain.search_nodes import (
    LINE_FEED,
    Atomic,
    Back,
    Char,
    Choice,
    Group,
    Keep,
    Look,
    Member,
    Node,
    Place,
    Repeat,
    Sequence,
    Span,
    without,
)
from context_pack.code.domain.search_walk import nodes_of

NEVER = "(?:(?!))"
_PLACES = {Place.START: "^", Place.END: "$", Place.EDGE: r"\b", Place.NO_EDGE: r"\B"}
_PLAIN_TABLES = frozenset({r"\w", r"\d"})
"""Tables that are known not to hold a line feed."""


@frozen
class RegexSource:
    """A pattern for `regex` with its MULTILINE flag, and with IGNORECASE if `fold`."""

    text: str
    fold: bool


def regex_source(node: Node) -> RegexSource:
    """The pattern for `regex`."""
    folds = {part.fold for part in nodes_of(node) if isinstance(part, (Char, Member, Back)) and _cased(part)}
    # Where all agree the flag stands for the whole pattern, which `regex` searches faster.
    writer = _Writer(scoped=len(folds) > 1, numbered=any(isinstance(part, Back) for part in nodes_of(node)))
    text = writer.write(node)
    if not writer.numbered:
        text = _run_start(node, writer) + text
    return RegexSource(text, folds == {True})


def _cased(part: Char | Member | Back) -> bool:
    """Whether it matters if the part folds."""
    if isinstance(part, Char):
        return chr(part.code).isalpha() or part.code > 127
    return isinstance(part, Back) or bool(part.set.spans or part.set.tables)


def _run_start(node: Node, writer: _Writer) -> str:
    """Where a pattern that begins with a run of one set may begin: not within such a run.

    What matches from the middle of a run also matches from its start, and only the first match counts.
    """
    while isinstance(node, (Sequence, Group)):
        if isinstance(node, Sequence) and not node.parts:
            return ""
        node = node.parts[0] if isinstance(node, Sequence) else node.part
    if not isinstance(node, Repeat) or node.high is not None or not isinstance(node.part, (Char, Member)):
        return ""
    text = writer.write(node.part)
    return r"\b" if text == r"\w" and node.low else f"(?<!{text})"


@frozen
class _Writer:
    """`scoped`: parts say for themselves whether they fold; `numbered`: groups are referred to."""

    scoped: bool
    numbered: bool

    def write(self, node: Node) -> str:
        """One part."""
        match node:
            case Char(code, fold):
                return self._folded(NEVER if code == LINE_FEED else character(code), fold)
            case Member(fold=fold):
                return self._folded(member(node), fold)
            case Sequence(parts):
                return "".join(
                    f"(?:{self.write(part)})" if isinstance(part, Choice) else self.write(part)
                    for part in parts
                )
            case Choice(branches):
                return "|".join(map(self.write, branches))
            case Repeat(part, low, high, manner):
                alone = isinstance(part, (Char, Member))
                text = self.write(part) if alone else f"(?:{self.write(part)})"
                return f"{text}{counted(low, high)}{manner}"
            case Group(part):
                return f"({self.write(part)})" if self.numbered else f"(?:{self.write(part)})"
            case Atomic(part):
                return f"(?>{self.write(part)})"
            case Look(part, behind, negative):
                return f"(?{'<' if behind else ''}{'!' if negative else '='}{self.write(part)})"
            case Back(number, fold):
                return self._folded(f"(?:\\{number})", fold)
            case Keep():
                return r"\K"
            case Place():
                return _PLACES[node]

    def _folded(self, text: str, fold: bool) -> str:
        return f"(?i:{text})" if fold and self.scoped else text


def counted(low: int, high: int | None) -> str:
    """A repeat as both engines write it."""
    known = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    return known.get((low, high)) or f"{{{low},{'' if high is None else high}}}"


def character(code: int) -> str:
    """One character, safe inside and outside of brackets."""
    char = chr(code)
    if char.isascii():
        return char if char.isalnum() else f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def member(node: Member) -> str:
    """One character of a set, but never a line feed."""
    spans, tables, negated = node.set.spans, node.set.tables, node.set.negated
    if not spans and len(tables) == 1 and tables[0] in (r"\W", r"\D"):
        tables, negated = (tables[0].lower(),), not negated
    if negated:
        inside = "".join(tables) + _spans(spans)
        return f"[^{inside}\\n]" if inside else "."
    if not spans and tables in ((r"\w",), (r"\d",)):
        return tables[0]
    inside = "".join(tables) + _spans(without(spans, LINE_FEED))
    if not inside:
        return NEVER
    return f"[{inside}]" if _PLAIN_TABLES.issuperset(tables) else f"(?:(?!\\n)[{inside}])"


def _spans(spans: tuple[Span, ...]) -> str:
    return "".join(
        character(low) if low == high else f"{character(low)}-{character(high)}" for low, high in spans
    )
