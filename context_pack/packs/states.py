"""The state of a ref and where its code is, as a value and as plain data; `following` decides it.

`exact`, `unanchored` and `moved` are trusted and may be finalized; `changed` is shown with a warning;
`ambiguous`, `stale` and `unknown` (it could not be decided) show no code, because a guess would look like the
truth. What a `stale` ref was anchored to can be told, as what it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from attrs import field, frozen

from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Reason
from context_pack.packs.difference import Difference
from context_pack.packs.model import CodeLocation, Ref, Section
from context_pack.packs.record import to_record


class State(StrEnum):
    """The state of a ref's code."""

    EXACT = "exact"
    UNANCHORED = "unanchored"
    MOVED = "moved"
    CHANGED = "changed"
    AMBIGUOUS = "ambiguous"
    STALE = "stale"
    UNKNOWN = "unknown"


TRUSTED = frozenset({State.EXACT, State.UNANCHORED, State.MOVED})
DOUBTS = {State.STALE: 3.0, State.AMBIGUOUS: 2.5, State.CHANGED: 1.0, State.UNKNOWN: 0.5}
PLAIN = "text"
"""The language of files that have none: no fence names it."""
CHANGED_SINCE = "changed since anchored"
COSMETIC = "cosmetic"
"""What a change is called that is none in behaviour; `repair` accepts it."""
WORDS: Mapping[Reason, str] = {
    Reason.MISSING: "file not found",
    Reason.OUTSIDE: "the path leads out of the source root",
    Reason.DENIED: "the path is denied by policy",
    Reason.NOT_A_FILE: "not a regular file",
    Reason.TOO_LARGE: "the file is over the size cap",
    Reason.BINARY: "binary file",
    Reason.NOT_UTF8: "the file is not UTF-8 text",
    Reason.IO: "the file cannot be read",
}


def fence_language(path: RelativePath) -> str:
    """What a fence around code of a file names; nothing for plain text."""
    language = language_of(path.value)
    return "" if language == PLAIN else language


@frozen
class Resolution:
    """A ref's state, where its code is (if anywhere), why not (if not), and the code."""

    state: State
    found: CodeLocation | None = None
    reason: str | None = None
    excerpt: str | None = field(default=None, eq=False, repr=False)
    signature: str | None = field(default=None, eq=False, repr=False)
    """The head of the definition that was found, where that was how."""
    difference: Difference | None = field(default=None, eq=False, repr=False)
    """What changed, where the anchored text is still known."""
    former: str | None = field(default=None, eq=False, repr=False)
    """What a stale ref was anchored to, where that is still known."""

    @property
    def change(self) -> str:
        """The line that says the code changed, and how much where that is known."""
        reason = self.reason or ""
        if self.difference is None:
            return reason
        return f"{CHANGED_SINCE}: {self.difference}{reason.removeprefix(CHANGED_SINCE)}"

    @property
    def cosmetic(self) -> bool:
        """Whether it changed, and what it does cannot have."""
        return self.state is State.CHANGED and self.difference is not None and self.difference.cosmetic

    @property
    def word(self) -> str:
        """The state as people are told it: a change that is only cosmetic is called so."""
        return COSMETIC if self.cosmetic else self.state.value

    @property
    def summary(self) -> str:
        """What became of the code, in a few words."""
        if self.state is not State.CHANGED or self.difference is None:
            return self.reason or self.state.value
        parts = [f"{self.difference.kind}, {self.difference.changed} of {self.difference.lines} lines"]
        return ": ".join([*parts, *filter(None, [self.difference.statement])])

    @property
    def doubt(self) -> float:
        """How doubtful what is said about the code is; nothing if that need not be read again."""
        if self.trusted or self.cosmetic:
            return 0.0
        if self.state is State.CHANGED and self.difference is not None:
            return 1.0 + self.difference.changed / max(1, self.difference.lines)
        return DOUBTS[self.state]

    @property
    def trusted(self) -> bool:
        """Whether the code is the promised code."""
        return self.state in TRUSTED


@frozen
class Checked:
    """A ref, the section it is in, and what became of its code."""

    section: Section
    ref: Ref
    resolution: Resolution


def place_now(ref: Ref, resolution: Resolution) -> str:
    """Where the code of a ref is, else where it was."""
    place = resolution.found or CodeLocation(ref.path, ref.lines)
    return f"{place.path}:{place.lines}"


def state_line(checked: Checked) -> str:
    """A ref that does not hold, on one line: its key, its state, where its code is, and what became of it."""
    ref, now = checked.ref, checked.resolution
    return f"{checked.section.key}/{ref.key} {now.word} {place_now(ref, now)} {now.summary}"


def problem_record(checked: Checked) -> dict[str, Any]:
    """A ref's state with where it points, where its code is and why not; the diff is for `output`."""
    ref, resolution = checked.ref, checked.resolution
    record = {
        "section": checked.section.key,
        "ref": ref.key,
        **to_record(CodeLocation(ref.path, ref.lines)),
        "state": resolution.word,
        "found": resolution.found and to_record(resolution.found),
        "reason": resolution.reason,
    }
    difference = resolution.difference
    if difference is None:
        return record
    change = {"lines": difference.changed, "of": difference.lines, "kind": difference.kind.value}
    return {**record, "change": change}


def repair_record(checked: Checked) -> dict[str, Any]:
    """A ref that was pointed at its code again: where it points now, and where it pointed before."""
    before, now = CodeLocation(checked.ref.path, checked.ref.lines), checked.resolution.found
    record = {"section": checked.section.key, "ref": checked.ref.key, **to_record(now or before)}
    difference = checked.resolution.difference if checked.resolution.cosmetic else None
    accepted = {} if difference is None else {"accepted": difference.kind.value}
    return {**record, "from": to_record(before), **accepted}
