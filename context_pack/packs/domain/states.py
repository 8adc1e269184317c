"""The state of a ref: what became of the code it promises, as a value and as plain data.

`exact`, `unanchored` and `moved` are trusted and may be finalized; `changed` is shown with a warning;
`ambiguous` and `stale` show no code at all, because a guess would look like the truth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Any

from attrs import field, frozen

from context_pack.kernel.digest import sha256_hex
from context_pack.kernel.languages import language_of
from context_pack.kernel.lines import LineRange
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Reason
from context_pack.packs.domain.anchors import Anchor
from context_pack.packs.domain.bodies import Body, Style
from context_pack.packs.domain.model import Ref, Section
from context_pack.packs.domain.places import MOST_PLACES, copies, identical
from context_pack.packs.domain.record import lines_record
from context_pack.packs.domain.source import SourceText
from context_pack.packs.domain.surroundings import by_context


class State(StrEnum):
    """What became of a ref's code."""

    EXACT = "exact"
    UNANCHORED = "unanchored"
    MOVED = "moved"
    CHANGED = "changed"
    AMBIGUOUS = "ambiguous"
    STALE = "stale"


TRUSTED = frozenset({State.EXACT, State.UNANCHORED, State.MOVED})
PLAIN = "text"
"""The language of files that have none: no fence names it."""
CHANGED_SINCE = "changed since anchored"
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


@frozen
class Found:
    """Where the code of a ref stands now."""

    path: RelativePath
    lines: LineRange


@frozen(slots=False)
class Resolution:
    """A ref's state, where its code is (if anywhere), why not (if not), and the code."""

    state: State
    found: Found | None = None
    reason: str | None = None
    excerpt: str | None = field(default=None, eq=False, repr=False)

    @cached_property
    def code(self) -> Body | None:
        """The code with its line numbers, as it is shown; laid out once, however often that is."""
        if self.excerpt is None or self.found is None:
            return None
        language = language_of(self.found.path.value)
        shown = "" if language == PLAIN else language
        return Body(Style.FENCE, self.excerpt.split("\n"), shown, self.found.lines.start)

    @property
    def trusted(self) -> bool:
        """Whether the code is the promised code."""
        return self.state in TRUSTED


def resolve(ref: Ref, source: SourceText) -> Resolution:
    """The state of a ref whose file is there."""
    there = source.cut(ref.lines.start, ref.lines.end)
    if ref.anchor is None:
        return _past_end(ref, source) if there is None else _at(State.UNANCHORED, ref.path, ref.lines, there)
    if there is not None and _same(there, ref.anchor):
        return _at(State.EXACT, ref.path, ref.lines, there)
    places = identical(ref.anchor, source, near=ref.lines.start)
    guess = by_context(ref.anchor, source, ref.lines) if not places.ranges else None
    if guess is not None and not places.complete:
        excerpt = source.cut(guess.start, guess.end) or ""
        places = copies(excerpt, source) if _same(excerpt, ref.anchor) else places
    if len(places.ranges) > 1:
        return _ambiguous([str(lines) for lines in places.ranges])
    if places.ranges:
        return _at(State.MOVED, ref.path, places.ranges[0], places.excerpt)
    lines = guess or (None if there is None else ref.lines)
    if lines is None:
        return _past_end(ref, source)
    return _at(State.CHANGED, ref.path, lines, source.cut(lines.start, lines.end) or "", CHANGED_SINCE)


def _same(excerpt: str, anchor: Anchor) -> bool:
    """Whether this is the anchored code."""
    return sha256_hex(excerpt) == anchor.digest


def elsewhere(hits: Sequence[tuple[Found, str]], complete: bool) -> Resolution:
    """The state of a ref whose file is gone, from where other files hold its code; all, if `complete`."""
    if len(hits) > 1:
        return _ambiguous([f"{found.lines} of {found.path}" for found, _ in hits])
    if not hits or not complete:
        return unreadable(Reason.MISSING)
    (found, excerpt), *_ = hits
    return Resolution(State.MOVED, found, None, excerpt)


def unreadable(reason: Reason) -> Resolution:
    """The state of a ref whose file cannot be read."""
    return Resolution(State.STALE, reason=WORDS[reason])


def _at(
    state: State, path: RelativePath, lines: LineRange, excerpt: str, reason: str | None = None
) -> Resolution:
    return Resolution(state, Found(path, lines), reason, excerpt)


def _past_end(ref: Ref, source: SourceText) -> Resolution:
    plural = "" if source.count == 1 else "s"
    return Resolution(
        State.STALE, reason=f"lines {ref.lines} are past the end of the file ({source.count} line{plural})"
    )


def _ambiguous(places: Sequence[str]) -> Resolution:
    shown = ", ".join(places[: MOST_PLACES - 1])
    more = " and more" if len(places) >= MOST_PLACES else ""
    return Resolution(State.AMBIGUOUS, reason=f"ambiguous, lines {shown}{more}")


@frozen
class Checked:
    """A ref, the section it is in, and what became of its code."""

    section: Section
    ref: Ref
    resolution: Resolution


def state_record(checked: Checked) -> dict[str, Any]:
    """A ref's state with where it points, where its code is and why not."""
    found = checked.resolution.found
    return {
        **_place(checked),
        "state": checked.resolution.state.value,
        "found": None if found is None else {"path": str(found.path), "lines": lines_record(found.lines)},
        "reason": checked.resolution.reason,
    }


def problem_record(checked: Checked) -> dict[str, Any]:
    """A ref that cannot be relied on, and why."""
    state = checked.resolution.state.value
    return {**_place(checked), "state": state, "reason": checked.resolution.reason}


def repair_record(checked: Checked) -> dict[str, Any]:
    """A ref that was pointed at its code again: where it points now, and where it pointed before."""
    found = checked.resolution.found
    before = {"path": str(checked.ref.path), "lines": lines_record(checked.ref.lines)}
    after = before if found is None else {"path": str(found.path), "lines": lines_record(found.lines)}
    return {"section": checked.section.key, "ref": checked.ref.key, **after, "from": before}


def _place(checked: Checked) -> dict[str, Any]:
    return {
        "section": checked.section.key,
        "ref": checked.ref.key,
        "path": str(checked.ref.path),
        "lines": lines_record(checked.ref.lines),
    }
