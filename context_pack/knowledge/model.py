"""What is known of a place in the code: sentences that somebody wrote down, and whether they still hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from attrs import frozen

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.text import LineRange, one_line
from context_pack.knowledge.places import ChangedFile
from context_pack.toolkit.budget import tokens_of

BINDING = ("constraint", "rule", "decision", "issue", "pattern", "claim", "ref")
"""The kinds of knowledge, the most binding first."""
COSMETIC = "cosmetic"
HOLDING = frozenset({"exact", "unanchored", "moved", COSMETIC, "fresh", "sound"})
"""States in which the code is what it was when the sentence was written, or behaves as it did."""
UNKNOWN, MOVED, UNREADABLE = "unknown", "moved", "unreadable"
UNREADABLE_CODES = frozenset({Code.MALFORMED_PACK, Code.MALFORMED_DISCOVERY, Code.MIGRATION_REQUIRED})
IN_PLACE = ("exact", "unanchored")
SENTENCE_CHARS = 240
INLINE_TOKENS = 300
"""How much of what is known an answer about something else carries along."""


class Verdict(StrEnum):
    """Whether something that was written down can still be relied on."""

    FAILS = "does not hold"
    UNKNOWN = "unknown"
    HOLDS = "holds"


SEVERITY = tuple(Verdict)


class PlaceInCode(NamedTuple):
    """A file or folder, or lines of a file, perhaps those of a definition."""

    path: str
    lines: LineRange | None = None
    symbol: str | None = None


class ExpiredPack(NamedTuple):
    """A pack whose time is over: what it says is checked by nobody until it is brought back."""

    id: str
    name: str | None
    paths: frozenset[str]
    """The files of its refs."""


@frozen
class Known:
    """One sentence: what it says, who says it, which code it rests on, and how that stands today."""

    kind: str
    text: str
    source: str
    """Where it is written: `discovery 5f1c0a52`, `pack login, ref token`, `context of src`."""
    state: str
    path: str
    """Where its code is today, or was last; of a folder's context the folder."""
    lines: LineRange | None = None
    reason: str | None = None
    written_at: PlaceInCode | None = None
    """The place as it was written down, if the code is elsewhere now or cannot be found."""
    diff: tuple[str, ...] = ()
    """What changed in the code, as the lines of a unified diff, where that is known."""
    spelling: str = ""
    """How the text names the place, if it does: where a long text is cut, this stays."""
    is_unreadable: bool = False
    """Whether it could not be read, so that it may be about any code."""

    @property
    def verdict(self) -> Verdict:
        """Whether the code is still what the sentence was written about."""
        if self.state in HOLDING:
            return Verdict.HOLDS
        return Verdict.UNKNOWN if self.state == UNKNOWN else Verdict.FAILS

    @property
    def holds(self) -> bool:
        """Whether the sentence need not be read again."""
        return self.verdict is Verdict.HOLDS

    @property
    def where(self) -> str:
        """`src/ttl.py:10-20`, or the path alone."""
        return self.path if self.lines is None else f"{self.path}:{self.lines}"

    @property
    def sentence(self) -> str:
        """What it says and how it stands, in one line."""
        state = "" if self.holds else f" [read again: its code is {self.state}]"
        if self.is_unreadable:
            return f"{self.kind}: {self.short()}"
        return f"{self.kind}: {self.short()}{state} ({self.where}; {self.source})"

    def short(self, most: int = SENTENCE_CHARS) -> str:
        """What it says in one line, cut around the place that it is about."""
        return one_line(self.text, most, self.spelling)

    def is_about(self, place: PlaceInCode) -> bool:
        """Whether it is about a place, wholly or in part; a folder's context is about all that is below."""
        if self.lines is None:
            return self.path in (".", place.path) or place.path.startswith(f"{self.path}/")
        if self.path != place.path or place.lines is None:
            return self.path == place.path or self.path.startswith(f"{place.path}/")
        return self.lines.start <= place.lines.end and place.lines.start <= self.lines.end

    def is_within(self, first: float, last: float) -> bool:
        """Whether it is about some of these lines, or about all of the file or its folder."""
        return self.lines is None or (self.lines.start <= last and first <= self.lines.end)

    def is_touched_by(self, file: ChangedFile) -> bool:
        """Whether a diff changes the code that it rests on; a context rests on the files right in its folder.

        The diff is asked about the lines where the code is today, and, where it changed or is lost, about
        those where it was written down, as far as they are lines of the diff's old side.
        """
        if self.is_unreadable:
            return True
        if self.lines is None:
            return any(_folder_of(path) == self.path and path != self.path for path in file.paths)
        if self.path == file.new and any(hunk.touches_new(self.lines) for hunk in file.hunks):
            return True
        written = self.written_at
        if written is None or written.lines is None or written.path != file.old or self.state in IN_PLACE:
            return False
        followed = self.path == file.new and file.leads(written.lines, self.lines)
        if self._is_found and followed is (self.state == MOVED):
            return False  # it only shifted, or was written about another state of the file than the old side
        return any(hunk.touches_old(written.lines) for hunk in file.hunks)

    @property
    def _is_found(self) -> bool:
        return self.state not in ("stale", "ambiguous", UNKNOWN)


def unreadable(family: str, failure: Failure) -> Known:
    """The row for what could not be read: it does not hold, but for what is away just now."""
    state = UNREADABLE if failure.code in UNREADABLE_CODES else UNKNOWN
    return Known(family, failure.message, family, state, ".", is_unreadable=True)


def _folder_of(path: str) -> str:
    return path.rpartition("/")[0] or "."


def ranked(known: Iterable[Known], places: Sequence[PlaceInCode]) -> list[Known]:
    """The most binding first, then what is about the fewest lines."""

    def key(each: Known) -> tuple[int, int, int, str]:
        kind = BINDING.index(each.kind) if each.kind in BINDING else len(BINDING)
        lines = 10**6 if each.lines is None else each.lines.end - each.lines.start
        return kind, SEVERITY.index(each.verdict), lines, each.text

    about = (each for each in known if not places or any(each.is_about(place) for place in places))
    return sorted(dict.fromkeys(about), key=key)


def sentences_within(known: Sequence[Known], tokens: int = INLINE_TOKENS) -> list[str]:
    """The sentences that fit, the most binding first; the last line says how many did not."""
    lines: list[str] = []
    used = 0
    known = list({(each.kind, each.text): each for each in reversed(known)}.values())[::-1]  # each text once
    for number, each in enumerate(known):
        used += tokens_of(each.sentence) + 4
        if used > tokens - 20:
            return [*lines, f"and {len(known) - number} more: context_for tells them"]
        lines.append(each.sentence)
    return lines
