"""Every change to a pack's content, as pure functions from pack to pack; and what two revisions differ in.

None of them counts revisions: `advanced` does, once for however many changes were made, and only if they made
a difference. In an optional text None means "as it is" and an empty text means "nothing". A finalized pack
keeps its content, because others rely on it; only its time to live and its status can be changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from attrs import evolve

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.text import counted
from context_pack.packs.model import Diagram, Pack, Ref, Section, Status


class Keyed(Protocol):
    """A part of a pack that has a key."""

    @property
    def key(self) -> str:
        """The part's key among its siblings."""


K = TypeVar("K", bound=Keyed)


def advanced(before: Pack, after: Pack, now: datetime, *, always: bool = False) -> Pack:
    """The changed pack at the next revision; the old one when nothing has changed."""
    if after == before and not always:
        return before
    return evolve(after, revision=before.revision + 1, updated_at=now)


def check_editable(pack: Pack, *, touches: bool = False) -> None:
    """Return only if the pack's content may be changed; what only touches its time to live is no edit.

    Raises:
        Failure: `invalid_state`.
    """
    if pack.status is Status.FINALIZED and not touches:
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


def put_section(
    pack: Pack,
    key: str,
    title: str,
    description: str | None = None,
    order: int | None = None,
    scope: str | None = None,
) -> Pack:
    """Add a section, or give an existing one another title, description, scope or place; its parts stay."""
    old = pack.section(key)
    new = Section(key, title) if old is None else evolve(old, title=title)
    if description is not None:
        new = evolve(new, description=description)
    if scope is not None:
        new = evolve(new, scope=scope)
    if order is None:
        return evolve(pack, sections=_put(pack.sections, new))
    rest = [section for section in pack.sections if section.key != key]
    at = max(0, min(order, len(rest)))
    return evolve(pack, sections=[*rest[:at], new, *rest[at:]])


def drop_section(pack: Pack, key: str) -> Pack:
    """Remove a section with all its parts."""
    section_of(pack, key)
    return evolve(pack, sections=_without(pack.sections, key))


def put_ref(pack: Pack, section_key: str, ref: Ref, kept: Iterable[str] = ()) -> Pack:
    """Add a ref, or replace the one with its key where it stands; the `kept` texts stay as they were.

    While path and lines stay, the old anchor stays too, if the lines still read the same or cannot be read,
    and the new one does not know more.
    """
    section = section_of(pack, section_key)
    old = section.ref(ref.key)
    if old is not None:
        ref = evolve(ref, **{name: getattr(old, name) for name in (*kept, "extra", "spellings")})
    if old is not None and old.anchor is not None and (old.path, old.lines) == (ref.path, ref.lines):
        same = ref.anchor is None or (
            ref.anchor.digest == old.anchor.digest and not ref.anchor.knows_more(old.anchor)
        )
        ref = evolve(ref, anchor=old.anchor if same else ref.anchor)
    section = evolve(section, refs=_put(section.refs, ref))
    return evolve(pack, sections=_put(pack.sections, section))


def put_diagram(pack: Pack, section_key: str, diagram: Diagram, kept: Iterable[str] = ()) -> Pack:
    """Add a diagram, or replace the one with its key where it stands; the `kept` texts stay as they were."""
    section = section_of(pack, section_key)
    old = section.diagram(diagram.key)
    if old is not None:
        diagram = evolve(diagram, **{name: getattr(old, name) for name in (*kept, "extra")})
    section = evolve(section, diagrams=_put(section.diagrams, diagram))
    return evolve(pack, sections=_put(pack.sections, section))


def drop_part(pack: Pack, section_key: str, kind: Literal["ref", "diagram"], key: str) -> Pack:
    """Remove a ref or a diagram."""
    section = section_of(pack, section_key)
    parts: Sequence[Ref | Diagram] = section.refs if kind == "ref" else section.diagrams
    rest = _without(parts, key)
    if len(rest) == len(parts):
        raise _absent(kind, **{f"{kind}_key": key}, section_key=section_key)
    changed: Mapping[str, Any] = {f"{kind}s": rest}
    return evolve(pack, sections=_put(pack.sections, evolve(section, **changed)))


def rename(pack: Pack, section_key: str, ref_key: str | None, new_key: str) -> Pack:
    """Give a section, or a ref of it, another key where it stands.

    Raises:
        Failure: `not_found`, or `invalid_data` for a key that another has.
    """
    section = section_of(pack, section_key)
    if ref_key is None:
        _check_new(new_key, pack.sections, section_key)
        renamed = evolve(section, key=new_key)
        return evolve(pack, sections=[renamed if each is section else each for each in pack.sections])
    ref = section.ref(ref_key)
    if ref is None:
        raise _absent("ref", ref_key=ref_key, section_key=section_key)
    _check_new(new_key, section.refs, ref_key)
    refs = [evolve(ref, key=new_key) if each is ref else each for each in section.refs]
    return evolve(pack, sections=_put(pack.sections, evolve(section, refs=refs)))


def _check_new(key: str, parts: Iterable[Keyed], old: str) -> None:
    if key != old and any(part.key == key for part in parts):
        raise invalid(f"the key '{key}' is taken; choose another", "new_key")


def set_meta(pack: Pack, title: str | None, brief: str | None, tags: Iterable[str] | None) -> Pack:
    """Change title, brief and tags, each only if given."""
    return evolve(
        pack,
        title=pack.title if title is None else title,
        brief=pack.brief if brief is None else brief,
        tags=pack.tags if tags is None else tags,
    )


def section_of(pack: Pack, key: str) -> Section:
    """The section with that key.

    Raises:
        Failure: `not_found`.
    """
    section = pack.section(key)
    if section is None:
        raise _absent("section", section_key=key)
    return section


def _put(parts: Sequence[K], part: K) -> tuple[K, ...]:
    """The parts with one replaced where it stands, or added at the end."""
    if all(other.key != part.key for other in parts):
        return (*parts, part)
    return tuple(part if other.key == part.key else other for other in parts)


def _without(parts: Iterable[K], key: str) -> tuple[K, ...]:
    return tuple(part for part in parts if part.key != key)


def _absent(what: str, **keys: str) -> Failure:
    named = next(iter(keys.values()))
    message = (
        f"the pack has no {what} '{named}' there; get the pack to see its keys, or upsert the {what} first"
    )
    return Failure(Code.NOT_FOUND, message, keys)


WORDS = {"pack": ("title", "brief", "tags", "status"), "section": ("title", "description", "scope")}
REF_WORDS, DIAGRAM_WORDS = ("title", "why", "group"), ("title", "mermaid", "why")


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
    yield from _words("pack", "", old, new, WORDS["pack"])
    before = {section.key: section for section in old.sections}
    after = {section.key: section for section in new.sections}
    yield from _keys("section", "", before, after)
    for key, section in after.items():
        was = before.get(key, Section(key, section.title))
        if key in before:
            yield from _words("section", key, was, section, WORDS["section"])
        yield from _refs(key, was, section)
        yield from _diagrams(key, was, section)


def _refs(key: str, was: Section, section: Section) -> Iterator[Step]:
    before, after = {ref.key: ref for ref in was.refs}, {ref.key: ref for ref in section.refs}
    yield from _keys("ref", f"{key}/", before, after)
    for name, ref in after.items():
        old = before.get(name)
        if old is None:
            continue
        if _target(old) != _target(ref):
            place, there = f"{old.path}:{old.lines}", f"{ref.path}:{ref.lines}"
            details = f"{place} to {there}" if place != there else f"{there}, as its code is now"
            yield Step("re-anchored", "ref", f"{key}/{name}", details)
        yield from _words("ref", f"{key}/{name}", old, ref, REF_WORDS)


def _diagrams(key: str, was: Section, section: Section) -> Iterator[Step]:
    before, after = {each.key: each for each in was.diagrams}, {each.key: each for each in section.diagrams}
    yield from _keys("diagram", f"{key}/", before, after)
    for name, diagram in after.items():
        if name in before:
            yield from _words("diagram", f"{key}/{name}", before[name], diagram, DIAGRAM_WORDS)


def _target(ref: Ref) -> tuple[str, str, str | None]:
    """The code that a ref points at: its path, its lines and the digest of its text."""
    return str(ref.path), str(ref.lines), None if ref.anchor is None else ref.anchor.digest


def _keys(part: str, prefix: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Step]:
    yield from (Step("added", part, prefix + key) for key in after if key not in before)
    yield from (Step("removed", part, prefix + key) for key in before if key not in after)


def _words(part: str, name: str, old: Any, new: Any, fields: tuple[str, ...]) -> Iterator[Step]:
    changed = [field for field in fields if getattr(old, field) != getattr(new, field)]
    if changed:
        yield Step("words", part, name, ", ".join(changed))
