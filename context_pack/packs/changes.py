"""What changes of a pack have in common, as pure functions from pack to pack; and how two revisions differ.

None of them counts revisions: `advanced` does, once for however many changes were made, and only if they made
a difference. A finalized pack keeps its content, because others rely on it; only its time to live and its
status can be changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeVar

from attrs import evolve

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.text import counted
from context_pack.kernel.times import expiry
from context_pack.packs.model import FIRST, Diagram, Pack, Ref, Section, Status

SOME_ID = "pk_aaaaaaaa"


K = TypeVar("K", bound=Section | Ref | Diagram)


def new_pack(now: datetime, ttl_minutes: int, name: str | None, **words: Any) -> Pack:
    """A draft at its first revision; its id is made by the store."""
    return Pack(
        id=SOME_ID,
        name=name,
        status=Status.DRAFT,
        tags=words.pop("tags", None) or (),
        revision=FIRST,
        created_at=now,
        updated_at=now,
        expires_at=expiry(now, ttl_minutes),
        **words,
    )


def advanced(before: Pack, after: Pack, now: datetime) -> Pack:
    """The changed pack at the next revision; the old one when nothing has changed."""
    return before if after == before else evolve(after, revision=before.revision + 1, updated_at=now)


def check_editable(pack: Pack) -> None:
    """Return only if the pack's content may be changed.

    Raises:
        Failure: `invalid_state`.
    """
    if pack.status is Status.FINALIZED:
        message = f"the pack is {pack.status}, and its content is fixed; set_status to draft first"
        raise Failure(Code.INVALID_STATE, message, {"status": pack.status.value})


def check_has_content(pack: Pack) -> None:
    """Return only if there is something to hand over: a ref or a diagram.

    Raises:
        Failure: `invalid_state`.
    """
    if not any(section.refs or section.diagrams for section in pack.sections):
        message = "the pack is empty; add a ref or a diagram, then finalize it"
        raise Failure(Code.INVALID_STATE, message, {"status": pack.status.value})


def untrustworthy(refs: Sequence[Mapping[str, object]]) -> Failure:
    """The refusal to finalize or accept refs that do not find their anchored code."""
    changed = any(ref["state"] == "changed" for ref in refs)
    advice = "accept the changed ones, upsert or delete the others" if changed else "upsert or delete each"
    message = f"{counted(len(refs), 'ref')} cannot be relied on; {advice}"
    return Failure(Code.STALE_REF, message, {"refs": list(refs)})


def put_ref(pack: Pack, section_key: str, ref: Ref, kept: Iterable[str] = ()) -> Pack:
    """Add a ref, or replace the one with its key where it stands; the `kept` texts stay as they were.

    While path and lines stay and the lines cannot be read now, the old anchor stays too.
    """
    section = section_of(pack, section_key)
    old = section.ref(ref.key)
    if old is not None:
        ref = evolve(ref, **{name: getattr(old, name) for name in (*kept, "extra", "spellings")})
        if ref.anchor is None and (old.path, old.lines) == (ref.path, ref.lines):
            ref = evolve(ref, anchor=old.anchor)
    return with_section(pack, evolve(section, refs=put(section.refs, ref)))


def drop_part(pack: Pack, section_key: str, kind: Literal["ref", "diagram"], key: str) -> Pack:
    """Remove a ref or a diagram."""
    section = section_of(pack, section_key)
    if kind == "ref" and section.ref(key):
        return with_section(pack, evolve(section, refs=without(section.refs, key)))
    if kind == "diagram" and section.diagram(key):
        return with_section(pack, evolve(section, diagrams=without(section.diagrams, key)))
    raise _absent(kind, **{f"{kind}_key": key}, section_key=section_key)


def rename(pack: Pack, section_key: str, ref_key: str | None, new_key: str) -> Pack:
    """Give a section, or a ref of it, another key where it stands.

    Raises:
        Failure: `not_found`, or `invalid_data` for a key that another has.
    """
    section = section_of(pack, section_key)
    if ref_key is None:
        return evolve(pack, sections=_renamed(pack.sections, section, new_key))
    ref = section.ref(ref_key)
    if ref is None:
        raise _absent("ref", ref_key=ref_key, section_key=section_key)
    return with_section(pack, evolve(section, refs=_renamed(section.refs, ref, new_key)))


def _renamed(parts: Iterable[K], part: K, key: str) -> list[K]:
    if any(each.key == key for each in parts if each is not part):
        raise invalid(f"the key '{key}' is taken; choose another", "new_key")
    return [evolve(part, key=key) if each is part else each for each in parts]


def section_of(pack: Pack, key: str) -> Section:
    """The section with that key.

    Raises:
        Failure: `not_found`.
    """
    section = pack.section(key)
    if section is None:
        raise _absent("section", section_key=key)
    return section


def with_section(pack: Pack, section: Section) -> Pack:
    """The pack with a section in place of the one with its key, or at the end."""
    return evolve(pack, sections=put(pack.sections, section))


def put(parts: Sequence[K], part: K) -> tuple[K, ...]:
    """The parts with one replaced where it stands, or added at the end."""
    if all(other.key != part.key for other in parts):
        return (*parts, part)
    return tuple(part if other.key == part.key else other for other in parts)


def without(parts: Iterable[K], key: str) -> tuple[K, ...]:
    """The parts but for the one with that key."""
    return tuple(part for part in parts if part.key != key)


def _absent(what: str, **keys: str) -> Failure:
    named = next(iter(keys.values()))
    message = (
        f"the pack has no {what} '{named}' there; get the pack to see its keys, or upsert the {what} first"
    )
    return Failure(Code.NOT_FOUND, message, keys)


WORDS: Mapping[str, Sequence[str]] = {
    "pack": ("title", "brief", "tags", "status"),
    "section": ("title", "description"),
    "ref": ("title", "why", "group"),
    "diagram": ("title", "mermaid", "why"),
}


class Step(NamedTuple):
    """One change: what happened (`added`, `removed`, `re-anchored`, `words`), to what, and the details."""

    what: str
    part: str
    name: str
    details: str = ""

    def __str__(self) -> str:
        return f"{self.what}: {self.part} {self.name}{f' ({self.details})' if self.details else ''}".strip()


def steps_between(old: Pack, new: Pack) -> Iterator[Step]:
    """The changes from one revision to another, the pack's own words first, then section by section."""
    yield from _words("pack", "", old, new)
    yield from _steps("section", "", old.sections, new.sections)


def _steps(kind: str, prefix: str, old: Sequence[Any], new: Sequence[Any]) -> Iterator[Step]:
    """What was added and removed, then what became of each part, with the parts of a section."""
    before, after = {part.key: part for part in old}, {part.key: part for part in new}
    yield from (Step("added", kind, prefix + key) for key in after if key not in before)
    yield from (Step("removed", kind, prefix + key) for key in before if key not in after)
    for key, part in after.items():
        was = before.get(key)
        if was is not None:
            if kind == "ref" and _target(was) != _target(part):
                place, there = f"{was.path}:{was.lines}", f"{part.path}:{part.lines}"
                details = f"{place} to {there}" if place != there else f"{there}, as its code is now"
                yield Step("re-anchored", kind, prefix + key, details)
            yield from _words(kind, prefix + key, was, part)
        if kind == "section":
            yield from _steps("ref", f"{key}/", was.refs if was else (), part.refs)
            yield from _steps("diagram", f"{key}/", was.diagrams if was else (), part.diagrams)


def _target(ref: Ref) -> tuple[str, str, str | None]:
    """The code that a ref points at: its path, its lines and the digest of its text."""
    return str(ref.path), str(ref.lines), None if ref.anchor is None else ref.anchor.digest


def _words(kind: str, name: str, old: Any, new: Any) -> Iterator[Step]:
    changed = [field for field in WORDS[kind] if getattr(old, field) != getattr(new, field)]
    if changed:
        yield Step("words", kind, name, ", ".join(changed))
