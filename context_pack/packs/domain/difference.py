"""What changed from the anchored code to the code that is there now: how much, of which kind, as a diff."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from attrs import frozen

from context_pack.packs.domain.bodies import Body, Style
from context_pack.packs.domain.kinds import COSMETIC, ChangeKind, SpansOf, cosmetic_kind

CONTEXT = 3
MANY_LINES = 300
"""Above so many lines difflib leaves out those that stand everywhere, or comparing would take seconds."""

Opcode = tuple[str, int, int, int, int]
Bare = Callable[[str], str]
"""A text without its comments."""
STATEMENT_CHARS = 80


@frozen
class Difference:
    """How many lines changed, of how many, what of the code, and the lines of a unified diff."""

    changed: int
    lines: int
    kind: ChangeKind
    diff: tuple[str, ...]
    cosmetic: bool = False
    """Whether behaviour cannot have changed."""

    def __str__(self) -> str:
        return f"{self.changed} of {self.lines} line{'' if self.lines == 1 else 's'}, {self.kind}"

    @property
    def statement(self) -> str:
        """The first line of code that is new, else the first that is gone."""
        lines = [line for line in self.diff[2:] if len(line[1:].strip(" \t(){}[];,")) > 1]
        changed = [line for line in lines if line[0] == "+"] + [line for line in lines if line[0] == "-"]
        return f"{changed[0][0]} {changed[0][1:].strip()[:STATEMENT_CHARS]}" if changed else ""

    @property
    def body(self) -> Body:
        """The diff as it is shown."""
        return Body(Style.FENCE, self.diff, "diff")


@frozen
class ComparedText:
    """One side of a comparison: the text, where it begins, and the head of its definition, if it has one."""

    text: str
    path: str
    start: int
    signature: str | None = None


def difference(old: ComparedText, new: ComparedText, language: str, spans_of: SpansOf) -> Difference:
    """What changed from one side to the other."""
    before, after = old.text.split("\n"), new.text.split("\n")
    matcher = SequenceMatcher(None, before, after, autojunk=len(before) > MANY_LINES)
    steps = matcher.get_opcodes()
    changed = sum(max(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in steps if tag != "equal")
    head = [f"--- {old.path}", f"+++ {new.path}"]
    hunks = _hunks(matcher.get_grouped_opcodes(CONTEXT), before, after, old.start, new.start)
    kind = cosmetic_kind(old.text, new.text, language, spans_of)
    cosmetic = kind in COSMETIC
    if kind is None:

        def bare(text: str) -> str:
            spans = spans_of(text)
            for start, end in reversed(spans.comments) if spans is not None else ():
                text = text[:start] + text[end:]
            return text

        kind = _kind(old, new, bare)
    return Difference(changed, max(len(before), len(after)), kind, (*head, *hunks), cosmetic)


def _kind(old: ComparedText, new: ComparedText, bare: Bare) -> ChangeKind:
    if _squeezed(old.text) == _squeezed(new.text):
        return ChangeKind.WHITE_SPACE
    if _squeezed(bare(old.text)) == _squeezed(bare(new.text)):
        return ChangeKind.COMMENTS
    if old.signature is None or new.signature is None or _squeezed(old.signature) == _squeezed(new.signature):
        return ChangeKind.BODY
    return ChangeKind.SIGNATURE if _headless(old, bare) == _headless(new, bare) else ChangeKind.BOTH


def _headless(side: ComparedText, bare: Bare) -> str:
    return _squeezed(bare(side.text)).replace(_squeezed(side.signature or ""), "", 1)


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _hunks(
    groups: Iterable[Sequence[Opcode]], before: Sequence[str], after: Sequence[str], old: int, new: int
) -> Iterator[str]:
    """The lines of a unified diff, numbered as in the files."""
    for group in groups:
        (_, i1, _, j1, _), (_, _, i2, _, j2) = group[0], group[-1]
        yield f"@@ -{old + i1},{i2 - i1} +{new + j1},{j2 - j1} @@"
        for tag, low, high, left, right in group:
            if tag == "equal":
                yield from (f" {line}" for line in before[low:high])
                continue
            yield from (f"-{line}" for line in before[low:high])
            yield from (f"+{line}" for line in after[left:right])
