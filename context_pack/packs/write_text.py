"""Makes a pack of a Markdown text: its headings become sections, the places that it names become refs.

The text is the whole pack. Writing it again keeps the key and the anchor of every place whose code is as it
was, or whose sentence is: only a sentence that was written anew says that it was read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import evolve, field, frozen

from context_pack.kernel.errors import Failure, invalid
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.syntax import name_parts
from context_pack.kernel.text import LineRange
from context_pack.kernel.times import expiry
from context_pack.packs import values
from context_pack.packs.changes import check_editable, new_pack
from context_pack.packs.claims import NamedPlace, blocks_of, claims_of
from context_pack.packs.commands import NamedPack, Write, ttl_required
from context_pack.packs.definitions import definition_count, find_definition, warning_of
from context_pack.packs.handover import (
    HandOver,
    HandOverPart,
    WrittenRef,
    diagram_key,
    key_of,
    markdown_of,
    read_hand_over,
)
from context_pack.packs.listing import located as pack_named
from context_pack.packs.model import Diagram, Pack, Ref, Section
from context_pack.packs.resolving import PackAccess, Resolver
from context_pack.packs.states import Resolution
from context_pack.toolkit.call import Check, never_cancelled

MOST_TITLE = values.TITLE_CHARS
MOST_NAMED = 3_000
"""How many places a text may name: each is looked for, and a call has an end."""


@frozen
class WrittenText:
    """The pack, and what was not found of the places that its text names, by their spelling."""

    pack: Pack
    faults: Mapping[str, str]


def write_text(access: PackAccess, command: Write, check: Check = never_cancelled) -> WrittenText:
    """Make the pack, or replace what a draft says.

    Raises:
        Failure: `ttl_required` for a new pack without `ttl_minutes`, `invalid_data` for an old one without
            `expected_revision`, and what a change raises.
    """
    old = _present(access, command)
    hand_over = read_hand_over(command.text)
    if not hand_over.chapters:
        raise invalid("'text' holds no prose and no diagram", "text")
    now = access.clock.now()
    if old is None:
        if command.ttl_minutes is None:
            raise ttl_required("say how many minutes the pack is to live")
        name = None if command.name is None else values.new_name(command.name)
        base = new_pack(now, command.ttl_minutes, name)
    else:
        if command.expected_revision is None:
            raise invalid("the pack is there already: 'expected_revision' is required", "expected_revision")
        old.check_revision(command.expected_revision)
        check_editable(old)
        base = old
    resolver = Resolver.over(access, check, (ref for _, ref in base.refs))
    author = _Author(base, resolver)
    same = old is not None and command.text.strip() == markdown_of(old).strip()
    written = base if same else author.write(hand_over)
    access.excerpts.put(resolver.anchored_texts)
    if old is None:
        stored = access.store.create(lambda pack_id: evolve(written, id=pack_id), written.name, check)
    else:
        if command.ttl_minutes is not None:
            written = evolve(written, expires_at=expiry(now, command.ttl_minutes))
        stored = access.update(old, lambda _: written, check)
    return WrittenText(stored, author.faults)


def _present(access: PackAccess, command: Write) -> Pack | None:
    """The pack that is to be replaced; None if one is to be made."""
    if command.id is None and command.name is None:
        return None
    try:
        return pack_named(access.store, NamedPack(id=command.id, name=command.name))
    except Failure:
        if command.id is not None or command.expected_revision is not None:
            raise
        return None


@frozen
class _Author:
    """Writes a text into a pack, with what was known of the places that the pack named before."""

    before: Pack
    resolver: Resolver
    faults: dict[str, str] = field(factory=dict)
    _refs: dict[str, Ref] = field(factory=dict)
    """The refs by the spellings of their places."""
    _twins: dict[tuple[RelativePath, LineRange], str] = field(factory=dict)
    """Where each ref was first named."""
    _known: dict[str, Ref] = field(factory=dict)
    """The refs of the pack before, by their spellings."""
    _taken: set[str] = field(factory=set)
    _numbers: dict[str, int] = field(factory=dict)
    """Of keys of refs: those that are taken, and `key_of`'s numbers."""

    def write(self, hand_over: HandOver) -> Pack:
        """The pack with the text in place of its sections."""
        for _, ref in self.before.refs:
            self._taken.add(ref.key)
            self._known.update({name: ref for name in ref.spellings if name not in self._known})
        blocks = [list(blocks_of(chapter.text)) for chapter in hand_over.chapters]
        places = [place for each in blocks for block in each for place in block.places]
        if len({place.spelling for place in places}) > MOST_NAMED:
            raise invalid(f"'text' names more than {MOST_NAMED} places; make several packs of it", "text")
        bare = dict.fromkeys(place.symbol for place in places if place.path is None and place.symbol)
        self.resolver.look_up(dict.fromkeys(name for each in bare for name in (each, *_owner(each))))
        sentences = {
            block.text for section in self.before.sections for block in blocks_of(section.description)
        }
        homes: list[list[Ref]] = []
        for chapter, each in zip(hand_over.chapters, blocks, strict=True):
            named = [(place, block.text in sentences) for block in each for place in block.places]
            spellings = [place.spelling for place, same in named if self._add(place, same)]
            for written in chapter.refs:
                self._write_out(written, spellings)
            homes.append([self._refs[spelling] for spelling in dict.fromkeys(spellings)])
        sections: list[Section] = []
        taken: set[str] = set()
        numbers: dict[str, int] = {}
        latest = {ref.key: ref for ref in self._refs.values()}
        earlier = {section.key: section for section in self.before.sections}
        for chapter, home in zip(hand_over.chapters, homes, strict=True):
            key = chapter.key
            if not key or key in taken:
                key = key_of(chapter.title, taken, numbers)
            taken.add(key)
            old = earlier.get(key) or Section(key, chapter.title[:MOST_TITLE])
            sections.append(self._section(chapter, [latest[ref.key] for ref in home], old))
        title = hand_over.title[:MOST_TITLE] if hand_over.title else self.before.title
        return evolve(self.before, title=title, sections=sections)

    def _section(self, chapter: HandOverPart, refs: Iterable[Ref], old: Section) -> Section:
        diagrams: list[Diagram] = []
        drawn: set[str] = set()
        numbers: dict[str, int] = {}
        earlier = {diagram.key: diagram for diagram in old.diagrams}
        for each in chapter.diagrams:
            name = each.key if each.key and each.key not in drawn else diagram_key(old.key, drawn, numbers)
            drawn.add(name)
            title = (each.title or chapter.title)[:MOST_TITLE]
            known = earlier.get(name)
            diagrams.append(Diagram(name, title, each.source, each.why, extra=known.extra if known else {}))
        # Refs stay in the order that they had.
        places = {ref.key: place for place, ref in enumerate(old.refs)}
        ordered = sorted(refs, key=lambda ref: places.get(ref.key, len(places)))
        title, text = chapter.title[:MOST_TITLE], chapter.text or None
        return evolve(old, title=title, description=text, refs=ordered, diagrams=diagrams)

    def _write_out(self, written: WrittenRef, spellings: list[str]) -> None:
        """Make a ref that the text writes out; one that prose names, too, only gets its words from there."""
        named = next((ref for ref in self._refs.values() if ref.key == written.key), None)
        if named is not None:
            self._keep(_with_words(named, written))
            return
        spelling = f"{written.path}:{written.start}-{written.end} {written.key}"
        old = next((ref for _, ref in self.before.refs if ref.key == written.key), None)
        try:
            path, lines = values.path(written.path), LineRange(written.start, written.end)
        except Failure as failure:
            self.faults[spelling] = failure.message
            return
        if old is not None and (old.path, old.lines) == (path, lines):
            ref = evolve(old, spellings=())
        else:
            ref = self.resolver.anchored(Ref(written.key, path, lines))
            if (warning := warning_of(ref, self.resolver)) is not None:
                self.faults[spelling] = warning
        self._twins.setdefault((ref.path, ref.lines), spelling)
        self._taken.add(ref.key)
        self._refs[spelling] = _with_words(ref, written)
        spellings.append(spelling)

    def _keep(self, ref: Ref) -> None:
        self._refs.update({name: ref for name, each in self._refs.items() if each.key == ref.key})

    def _add(self, place: NamedPlace, same_sentence: bool) -> bool:
        """Make the ref of a place; whether it is one that no block before has named."""
        if place.spelling in self._refs or place.spelling in self.faults:
            return False
        old = self._known.get(place.spelling)
        if old is not None and (same_sentence or self._trusted(old)):
            ref: Ref | None = evolve(old, spellings=(place.spelling,))
        else:
            ref = self._made(place, old)
        if ref is None:
            return False
        first = self._twins.setdefault((ref.path, ref.lines), place.spelling)
        twin = self._refs.get(first)
        if twin is not None:
            self._refs[place.spelling] = twin
            self._keep(evolve(twin, spellings=(*twin.spellings, place.spelling)))
            return False
        self._refs[place.spelling] = ref
        self._taken.add(ref.key)
        return True

    def _trusted(self, ref: Ref) -> bool:
        found: Resolution = self.resolver(ref)
        return found.trusted

    def _made(self, place: NamedPlace, old: Ref | None) -> Ref | None:
        """The ref of a place that is looked for; None, with a fault, where there is no such code."""
        try:
            if place.symbol is not None:
                if place.path is None and not any(
                    definition_count(name, self.resolver) for name in (place.symbol, *_owner(place.symbol))
                ):
                    return None  # words in backticks that are no definition here
                path, lines = find_definition(
                    place.symbol, None if place.path is None else values.path(place.path), self.resolver
                )
            else:
                path, lines = values.path(place.path), LineRange(place.start or 0, place.end or 0)
        except Failure as failure:
            self.faults[place.spelling] = failure.message
            return None
        key = key_of(place.name, self._taken, self._numbers) if old is None else old.key
        ref = self.resolver.anchored(Ref(key, path, lines, spellings=(place.spelling,)))
        if ref.anchor is None:
            self.faults[place.spelling] = warning_of(ref, self.resolver) or "its lines cannot be read"
            return None
        return ref


def _owner(symbol: str) -> list[str]:
    """What the definition of that name is in, if the name says so."""
    return list(name_parts(symbol)[-2:-1])


def _with_words(ref: Ref, written: WrittenRef) -> Ref:
    return evolve(ref, title=written.title, why=written.why, group=written.group)


def places_by_file(pack: Pack) -> dict[str, str]:
    """What became of the places of a written text: per file the keys of its refs and their lines."""
    files: dict[str, list[str]] = {}
    for _, ref in pack.refs:
        files.setdefault(ref.path.value, []).append(f"{ref.key} {ref.lines}")
    return {path: ", ".join(refs) for path, refs in files.items()}


def counts_of(pack: Pack) -> dict[str, int]:
    """How large a written pack is: what a writer wants to know of it."""
    claims, bare = claims_of(pack)
    return {
        "sections": len(pack.sections),
        "diagrams": sum(len(section.diagrams) for section in pack.sections),
        "claims": len(claims),
        "without_code": bare,
    }
