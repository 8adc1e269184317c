"""What changed between two revisions of a pack: refs added, removed, re-anchored, and words changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from context_pack.packs.domain.model import Pack, Ref, Section

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
