"""Makes a pack of a Markdown text: its headings become sections, the places that it names become refs.

The text is the whole pack. Writing it again keeps the key and the anchor of every place whose code is as it
was, or whose sentence is: only a sentence that was written anew says that it was read again. Of a place that
several sentences name, all must have been written anew: one anchor speaks for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import define, evolve, field, frozen

from context_pack.kernel.errors import Failure, invalid
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.syntax import name_parts
from context_pack.kernel.text import LineRange
from context_pack.kernel.times import expiry
from context_pack.packs import values
from context_pack.packs.changes import check_editable, new_pack
from context_pack.packs.claims import NamedPlace, blocks_of, claims_of
from context_pack.packs.commands import NamedPack, Write, ttl_required
from context_pack.packs.definitions import Place, definition_count, find_definition, warning_of
from context_pack.packs.handover import (
    Chapter,
    Keys,
    WrittenRef,
    diagram_name,
    markdown_of,
    read_hand_over,
)
from context_pack.packs.listing import located as pack_named
from context_pack.packs.model import CodeLocation, Diagram, Pack, Ref, Section
from context_pack.packs.resolving import PackAccess, Resolver
from context_pack.packs.states import Checked, State
from context_pack.toolkit.call import Check, never_cancelled

MOST_TITLE = values.TITLE_CHARS
MOST_NAMED = 3_000
"""How many places a text may name: each is looked for, and a call has an end."""


@frozen
class WrittenText:
    """The pack, and what was not found of the places that its text names, by their spelling."""

    pack: Pack
    faults: Mapping[str, str]
    reanchored: tuple[Checked, ...] = ()
    """The refs, as they were, that were anchored anew although their code had changed."""


def write_text(access: PackAccess, command: Write, check: Check = never_cancelled) -> WrittenText:
    """Make the pack, or replace what a draft says.

    Raises:
        Failure: `ttl_required` for a new pack without `ttl_minutes`, `invalid_data` for an old one without
            `expected_revision`, and what a change raises.
    """
    old = _present(access, command)
    title, chapters = read_hand_over(command.text)
    if not chapters:
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
    written = author.write(title, chapters)
    if old is not None and command.text.strip() == markdown_of(old).strip():
        written = _with_new_refs(old, written)
    reanchored = tuple(_reanchored(base, written, resolver))
    access.excerpts.put(resolver.anchored_texts)
    if old is None:
        stored = access.store.create(lambda pack_id: evolve(written, id=pack_id), written.name, check)
    else:
        if command.ttl_minutes is not None:
            written = evolve(written, expires_at=expiry(now, command.ttl_minutes))
        stored = access.update(old, lambda _: written, check)
    return WrittenText(stored, author.faults, reanchored)


def _reanchored(before: Pack, written: Pack, resolver: Resolver) -> Iterator[Checked]:
    """The refs of the pack before that must have been read again, and have another anchor now."""
    earlier = {ref.key: ref for _, ref in before.refs}
    anchors = {(ref.key, ref.anchor) for _, ref in before.refs}
    for section, ref in written.refs:
        old = earlier.get(ref.key)
        if old is not None and (ref.key, ref.anchor) not in anchors and resolver(old).doubt:
            yield Checked(section, old, resolver(old))


def _with_new_refs(before: Pack, written: Pack) -> Pack:
    """The pack as it was, with the refs of places that had none, and with what prose calls the others.

    Its text cannot say everything: of a place that prose names and that was also pointed at by itself, which
    of both refs is which, and which section either stands in. A text that has not changed must not ask.
    """
    known = {name for _, ref in before.refs for name in ref.spellings}
    keys = {ref.key for _, ref in before.refs}
    after = {(ref.key, ref.path, ref.lines): ref for _, ref in written.refs}

    def named(ref: Ref) -> Ref:
        names = after.get((ref.key, ref.path, ref.lines), ref).spellings
        return evolve(ref, spellings=(*ref.spellings, *(name for name in names if name not in known)))

    new = {each.key: [ref for ref in each.refs if ref.key not in keys] for each in written.sections}
    sections = [
        evolve(each, refs=[*map(named, each.refs), *new.get(each.key, ())]) for each in before.sections
    ]
    return evolve(before, sections=sections)


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


@define
class _NamedRef:
    """A ref of the pack that is written."""

    ref: Ref


@frozen
class _Author:
    """Writes a text into a pack, with what was known of the places that the pack named before."""

    before: Pack
    resolver: Resolver
    faults: dict[str, str] = field(factory=dict)
    _spelled: set[str] = field(factory=set)
    """The places that have a ref already, by their spelling."""
    _by_place: dict[Place, _NamedRef] = field(factory=dict)
    _kept: dict[Place, Ref] = field(factory=dict)
    """The refs that stay as they are for the sentences that name them, by the places of their code."""
    _same: dict[tuple[str, RelativePath, LineRange], _NamedRef] = field(factory=dict)
    _keys: Keys = field(factory=Keys)
    _old: dict[tuple[str, RelativePath, LineRange], Ref] = field(factory=dict)
    """The refs of the pack before, by key and place."""

    def write(self, title: str | None, chapters: Sequence[Chapter]) -> Pack:
        """The pack with the text in place of its sections."""
        self._keys.update(ref.key for _, ref in self.before.refs)
        self._old.update({(ref.key, ref.path, ref.lines): ref for _, ref in self.before.refs})
        earlier = {section.key: section for section in self.before.sections}
        known = {name: ref for _, ref in reversed(self.before.refs) for name in ref.spellings}
        blocks = [list(blocks_of(chapter.text)) for chapter in chapters]
        places = [place for each in blocks for block in each for place in block.places]
        if len({place.spelling for place in places}) > MOST_NAMED:
            raise invalid(f"'text' names more than {MOST_NAMED} places; make several packs of it", "text")
        bare = dict.fromkeys(place.symbol for place in places if place.path is None and place.symbol)
        self.resolver.look_up(dict.fromkeys(name for each in bare for name in (each, *_owner(each))))
        sentences = {
            block.text for section in self.before.sections for block in blocks_of(section.description)
        }
        unread = {
            known[place.spelling]
            for each in blocks
            for block in each
            if block.text in sentences
            for place in block.places
            if place.spelling in known
        }
        # A ref stays as it is while a sentence stands as it was that names it, or its code does.
        again = [known[each.spelling] for each in places if each.spelling in known]
        kept = dict.fromkeys(ref for ref in again if ref in unread or self.resolver(ref).trusted)
        self._kept.update({place: ref for ref in kept for place in self._places_of(ref)})
        homes = [list(map(self._written_out, chapter.refs)) for chapter in chapters]
        for home, each in zip(homes, blocks, strict=True):
            for block in each:
                for place in block.places:
                    ref = known.get(place.spelling)
                    home.append(self._named(place, ref, ref in kept))
        keys, sections = Keys(), list[Section]()
        for chapter, home in zip(chapters, homes, strict=True):
            self.resolver.check()
            key = chapter.key if chapter.key and chapter.key not in keys else keys.free(chapter.title)
            keys.add(key)
            old = earlier.get(key) or Section(key, chapter.title[:MOST_TITLE])
            sections.append(_section(chapter, [each.ref for each in home if each], old))
        return evolve(
            self.before, title=(title and title[:MOST_TITLE]) or self.before.title, sections=sections
        )

    def _written_out(self, written: WrittenRef) -> _NamedRef | None:
        """The ref that a text writes out; None, with a fault, for a place that cannot be."""
        spelling = f"{written.path}:{written.start}-{written.end} {written.key}"
        try:
            path, lines = values.path(written.path), LineRange(written.start, written.end)
        except Failure as failure:
            self.faults[spelling] = failure.message
            return None
        ref = self._old.get((written.key, path, lines))
        places = [(path, lines)] if ref is None else self._places_of(ref)
        if ref is None:
            ref = self.resolver.anchored(Ref(written.key, path, lines))
            if (warning := warning_of(ref, self.resolver)) is not None:
                self.faults[spelling] = warning
        ref = evolve(ref, title=written.title, why=written.why, group=written.group, spellings=())
        return self._add(ref, places)

    def _add(self, ref: Ref, places: Iterable[Place]) -> _NamedRef:
        self._keys.add(ref.key)
        named = _NamedRef(ref)
        self._same.setdefault((ref.key, ref.path, ref.lines), named)
        for place in places:
            self._by_place.setdefault(place, named)
        return named

    def _places_of(self, old: Ref) -> list[Place]:
        """Where a ref of the pack before is: its lines, unless its code has moved, and where that is now."""
        lines, now = (old.path, old.lines), self.resolver(old)
        if now.found is None:
            return [lines]
        place = (now.found.path, now.found.lines)
        return [place] if now.state is State.MOVED else [lines, place]

    def _named(self, place: NamedPlace, old: Ref | None, kept: bool) -> _NamedRef | None:
        """The ref of a place that prose names; None if it has one already, or there is no such code."""
        if place.spelling in self._spelled or place.spelling in self.faults:
            return None
        ref = old if kept else self._looked_up(place, old)
        if ref is None:
            return None
        places = [] if old is None else self._places_of(old)
        if not kept:
            places.insert(0, (ref.path, ref.lines))
            kept, ref = places[0] in self._kept, self._kept.get(places[0], ref)
        if kept:  # another ref to the same lines, that somebody made by itself, stays another one
            named = self._same.get((ref.key, ref.path, ref.lines))
        else:
            named = next((self._by_place[each] for each in places if each in self._by_place), None)
        made = None
        if named is None:
            named = made = self._add(evolve(ref, spellings=()), places)
        elif not (kept or named.ref.spellings or named.ref.why):
            # What is written out was read again here, but for a reason that stands there.
            named.ref = evolve(named.ref, path=ref.path, lines=ref.lines, anchor=ref.anchor)
        for each in places:
            self._by_place.setdefault(each, named)
        named.ref = evolve(named.ref, spellings=(*named.ref.spellings, place.spelling))
        self._spelled.add(place.spelling)
        return made

    def _looked_up(self, place: NamedPlace, old: Ref | None) -> Ref | None:
        """The ref of a place that is looked for; None, with a fault, where there is no such code."""
        try:
            path = None if place.path is None else values.path(place.path)
            if place.symbol is None and path is not None:
                lines = LineRange(place.start or 0, place.end or 0)
            else:
                symbol = place.symbol or ""
                names = (symbol, *_owner(symbol))
                if path is None and not any(definition_count(name, self.resolver) for name in names):
                    return None  # words in backticks that are no definition here
                path, lines = find_definition(symbol, path, self.resolver)
        except Failure as failure:
            self.faults[place.spelling] = failure.message
            return None
        key = self._keys.free(place.name) if old is None else old.key
        ref = self.resolver.anchored(Ref(key, path, lines))
        if ref.anchor is None:
            self.faults[place.spelling] = warning_of(ref, self.resolver) or "its lines cannot be read"
            return None
        return ref


def _section(chapter: Chapter, refs: Iterable[Ref], old: Section) -> Section:
    """A section with what a chapter says; refs stay in the order that they had."""
    diagrams: list[Diagram] = []
    keys = Keys()
    earlier = {diagram.key: diagram for diagram in old.diagrams}
    for each in chapter.diagrams:
        key = each.key if each.key and each.key not in keys else keys.free(diagram_name(old.key))
        keys.add(key)
        title = (each.title or chapter.title)[:MOST_TITLE]
        extra = earlier[key].extra if key in earlier else {}
        diagrams.append(Diagram(key, title, each.source, each.why, extra=extra))
    places = {ref.key: place for place, ref in enumerate(old.refs)}
    ordered = sorted(refs, key=lambda ref: places.get(ref.key, len(places)))
    title, text = chapter.title[:MOST_TITLE], chapter.text or None
    return evolve(old, title=title, description=text, refs=ordered, diagrams=diagrams)


def _owner(symbol: str) -> list[str]:
    """What the definition of that name is in, if the name says so."""
    return list(name_parts(symbol)[-2:-1])


def places_by_file(pack: Pack, resolver: Resolver) -> dict[str, str]:
    """What became of the places of a written text: per file the keys of its refs and where they are now."""
    files: dict[str, list[str]] = {}
    for _, ref in pack.refs:
        place = resolver(ref).found or CodeLocation(ref.path, ref.lines)
        files.setdefault(place.path.value, []).append(f"{ref.key} {place.lines}")
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
