"""Packs, sections, refs and diagrams: frozen values that cannot be wrong once built.

What types do not say is checked on construction, whoever builds: a use case, a loader, a test. Optional
texts are trimmed and None when nothing is left. Nothing here changes anything (see `changes`) or knows a wire
format (see `record`, which sees to the types of what a file holds).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from attrs import Attribute, field, frozen

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.text import LineRange, is_pack_id
from context_pack.kernel.times import format_instant
from context_pack.packs import values
from context_pack.packs.anchors import Anchor

FIRST = 1
"""The revision that a pack is made at."""
UNTITLED = "Untitled"
"""What a pack is called that has neither a title nor a name."""


class Status(StrEnum):
    """Where a pack is in its life."""

    DRAFT = "draft"
    FINALIZED = "finalized"


def _holds(parse: Callable[[Any, str], Any], *, optional: bool = False) -> Any:
    """A validator that wants what `parse` accepts; the parser names the field in what it refuses."""

    def check(_: Any, attribute: Attribute[Any], value: Any) -> None:
        if not (optional and value is None):
            parse(value, attribute.name)

    return check


def _kept(value: str | None) -> str | None:
    """A trimmed text, or None when nothing is left of it."""
    return (value.strip() or None) if isinstance(value, str) else value


def _block(value: str | None) -> str | None:
    """A text without blank lines at its ends, or None when nothing is left of it."""
    return (values.without_blank_ends(value) or None) if isinstance(value, str) else value


def _no_key_twice(_: Any, attribute: Attribute[Any], parts: Sequence[Any]) -> None:
    counts = Counter(part.key for part in parts)
    if twice := [key for key, count in counts.items() if count > 1]:
        raise invalid(f"'{attribute.name}' holds the key '{twice[0]}' twice", attribute.name)


def _in_order(parts: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(parts)


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


def parse_status(value: Any) -> Status:
    """The status with that name.

    Raises:
        Failure: `invalid_data`, field `status`.
    """
    try:
        return Status(value)
    except ValueError:
        raise invalid(f"'status' must be one of: {', '.join(Status)}", "status") from None


@frozen
class CodeLocation:
    """Where code stands."""

    path: RelativePath
    lines: LineRange


def _extra() -> Any:
    """Fields of a newer version, as they were read: carried along, and part of no comparison."""
    return field(factory=dict, eq=False, repr=False, kw_only=True)


def _spellings(texts: Iterable[Any] | None) -> tuple[str, ...]:
    return tuple(values.required_line(text, "spellings") for text in texts or ())


@frozen(cache_hash=True)
class Ref:
    """A reference to code: lines of a file with an anchor, and why they matter."""

    key: str = field(validator=_holds(values.key))
    path: RelativePath
    lines: LineRange
    title: str | None = field(default=None, converter=_kept, validator=_holds(values.one_line, optional=True))
    why: str | None = field(default=None, converter=_kept, validator=_holds(values.one_line, optional=True))
    group: str | None = field(default=None, converter=_kept, validator=_holds(values.one_line, optional=True))
    anchor: Anchor | None = None
    spellings: tuple[str, ...] = field(default=(), converter=_spellings)
    """How the prose of the pack names the place; empty for a ref that was made by itself."""
    extra: Mapping[str, Any] = _extra()


@frozen
class Diagram:
    """A Mermaid diagram with its title and the reason it is there."""

    key: str = field(validator=_holds(values.key))
    title: str = field(converter=_kept, validator=_holds(values.one_line))
    mermaid: str = field(converter=_block, validator=_holds(values.string))
    why: str | None = field(default=None, converter=_kept, validator=_holds(values.one_line, optional=True))
    extra: Mapping[str, Any] = _extra()


@frozen
class Section:
    """A chapter of a pack: text, refs and diagrams, each in stored order."""

    key: str = field(validator=_holds(values.key))
    title: str = field(converter=_kept, validator=_holds(values.one_line))
    description: str | None = field(
        default=None, converter=_block, validator=_holds(values.string, optional=True)
    )
    refs: tuple[Ref, ...] = field(default=(), converter=_in_order, validator=_no_key_twice)
    diagrams: tuple[Diagram, ...] = field(default=(), converter=_in_order, validator=_no_key_twice)
    extra: Mapping[str, Any] = _extra()

    def ref(self, key: str) -> Ref | None:
        """The ref with that key."""
        return next((ref for ref in self.refs if ref.key == key), None)

    def diagram(self, key: str) -> Diagram | None:
        """The diagram with that key."""
        return next((diagram for diagram in self.diagrams if diagram.key == key), None)


def _pack_id(value: Any, name: str) -> None:
    if not isinstance(value, str) or not is_pack_id(value):
        raise invalid(f"'{name}' must look like pk_ and eight of a-z and 2-7", name)


def _revision(value: Any, name: str) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < FIRST:
        raise invalid(f"'{name}' must be a whole number of at least {FIRST}", name)


@frozen(kw_only=True)
class Pack:
    """A whole context pack at one revision."""

    id: str = field(validator=_holds(_pack_id))
    name: str | None = field(default=None, converter=_kept, validator=_holds(values.name, optional=True))
    title: str | None = field(default=None, converter=_kept, validator=_holds(values.one_line, optional=True))
    brief: str | None = field(default=None, converter=_kept, validator=_holds(values.one_line, optional=True))
    status: Status = field(converter=parse_status)
    tags: tuple[str, ...] = field(converter=values.tags)
    sections: tuple[Section, ...] = field(default=(), converter=_in_order, validator=_no_key_twice)
    revision: int = field(validator=_holds(_revision))
    created_at: datetime = field(converter=_utc)
    updated_at: datetime = field(converter=_utc)
    expires_at: datetime = field(converter=_utc)
    extra: Mapping[str, Any] = _extra()
    author: str | None = field(default=None, eq=False)
    """Who made this revision, where a team's store knows it; not part of the pack."""
    worktree: str | None = field(default=None, eq=False)
    """The other worktree of the repository that it was read from; not part of the pack."""

    def check_revision(self, expected: int) -> None:
        """Return only if that is the latest revision: a writer loses if another was faster.

        Raises:
            Failure: `revision_conflict`, with both revisions, the time of the last change and what to do.
        """
        if expected == self.revision:
            return
        actual = self.revision
        raise Failure(
            Code.REVISION_CONFLICT,
            f"the revision is {actual}, not {expected}; read it again and repeat the change",
            {
                "expected_revision": expected,
                "actual_revision": actual,
                "updated_at": format_instant(self.updated_at),
                "hint": f"read the latest state, then repeat with expected_revision {actual}",
            },
        )

    def section(self, key: str) -> Section | None:
        """The section with that key."""
        return next((section for section in self.sections if section.key == key), None)

    @property
    def refs(self) -> Sequence[tuple[Section, Ref]]:
        """Every ref with its section, in stored order."""
        return [(section, ref) for section in self.sections for ref in section.refs]

    @property
    def digests(self) -> set[str]:
        """The digests of the texts that its refs are anchored to."""
        return {ref.anchor.digest for _, ref in self.refs if ref.anchor is not None}

    @property
    def heading(self) -> str:
        """What the pack is called."""
        return self.title or self.name or UNTITLED
