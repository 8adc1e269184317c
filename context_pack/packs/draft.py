"""From a question to a pack: the best passages for it, as anchored refs, within a budget of tokens.

Passages come best first from a port. Whole ones come before those that fit in part only, by as many of their
first lines as do. What a passage weighs is measured by rendering it alone, so that many cost no more than
each of them. The pack is stored once, as a draft at its first revision.

A drafted pack repeats the question in its title and in the reason of every passage. Whoever searches packs
must not find those: they would answer the question with itself. So these words are made here, and known
again here; once somebody has put others in their place, those are the pack's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from attrs import define, evolve, field, frozen

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.text import MAX_LINES, LineRange, single_line
from context_pack.packs import commands, values
from context_pack.packs.changes import new_pack
from context_pack.packs.handover import Keys
from context_pack.packs.model import Pack, Ref, Section
from context_pack.packs.ports import Excerpt, Excerpted, Excerpts
from context_pack.packs.render import render
from context_pack.packs.resolving import PackAccess, Resolver
from context_pack.toolkit.budget import cut_text, tokens_of
from context_pack.toolkit.call import Check, never_cancelled

CODE = "code"
TITLES: Mapping[str, str] = {
    "changed": "Changed",
    "trace": "Trace",
    "callers": "Callers",
    "tests": "Tests",
    CODE: "Code",
    "documents": "Documents",
    "memory": "Memory",
    "known": "Known there",
}
"""The sections of a drafted pack, in their order."""
WHOLE = frozenset({"changed", "trace"})
"""The kinds of which whoever reads the pack must know that one is not there whole."""
GENERATED, GENERATED_TOO = 'found for "', "found: "
_FAILED = re.compile(r"(?:Error|Exception|panic(?:ked)?)\b")
"""What the line of a trace holds that says what went wrong."""


def title_of(question: str) -> str:
    """The title of a pack that answers a question."""
    return cut_text(question, values.TITLE_CHARS).strip()


def reason(question: str, what: str, again: bool) -> str:
    """The generated reason of a ref: what was found; the question stands in one of them, and in the title."""
    role = what.replace('"', "'")
    if again and role:
        return f"{GENERATED_TOO}{role}"
    return f'{GENERATED}{title_of(question)}"' + (f": {role}" if role else "")


def own_title(pack: Pack) -> str | None:
    """The pack's title, unless it is the question that it was drafted for."""
    return None if any(f'{GENERATED}{pack.title}"' in text for text in _texts(pack)) else pack.title


def own_heading(pack: Pack, section: Section) -> str | None:
    """The section's title, unless it is generated."""
    drafted = TITLES.get(section.key) == section.title and any(GENERATED in text for text in _texts(pack))
    return None if drafted else section.title


def own_description(section: Section) -> str | None:
    """The section's description without the lines that were quoted for a question."""
    lines = (section.description or "").split("\n")
    return "\n".join(line for line in lines if f"({GENERATED}" not in line).strip() or None


def own_why(ref: Ref) -> str | None:
    """The ref's reason, unless it is generated."""
    return None if ref.why is not None and ref.why.startswith((GENERATED, GENERATED_TOO)) else ref.why


def is_own(ref: Ref) -> bool:
    """Whether a person described the ref: wrote a reason, or changed its generated title."""
    if ref.why is None or own_why(ref) is not None:
        return True
    base = Keys().free(ref.title or "")
    return re.fullmatch(rf"{re.escape(base)}(-[0-9]+)?", ref.key) is None


def _texts(pack: Pack) -> Iterator[str]:
    """Where generated words may stand: descriptions, and the reasons of refs."""
    for section in pack.sections:
        yield from filter(None, (section.description, *(ref.why for ref in section.refs)))


MOST_EXCERPTS = 60
LEAST_LINES = 5
"""A passage is not cut to fewer lines than these."""
SLACK_TOKENS = 20
"""The legend counts down the time to live in words, some of which are longer than others."""
NOTHING = "nothing was found for that question; ask in other words"


@frozen
class Drafted:
    """The stored pack, how many tokens it renders to, and the warnings of the search."""

    pack: Pack
    tokens: int
    notes: Mapping[str, object] = field(factory=dict)


@frozen
class PackDrafter(PackAccess):
    """Makes packs from questions."""

    passages: Callable[[], Excerpts] = field(kw_only=True)
    """Opens what answers questions; it needs all searches, and is loaded by the first draft."""

    def draft(self, command: commands.Draft, check: Check = never_cancelled) -> Drafted:
        """Search, choose, store.

        Raises:
            Failure: `not_found` when nothing answers the question, `invalid_data` for a budget too small to
                hold anything, or what the search and the store raise.
        """
        title, passages = self._passages(command, check)
        empty = new_pack(self.clock.now(), command.ttl_minutes, command.name, title=title_of(title))
        resolver = Resolver.over(self, check)
        chooser = _Chooser(empty, title, resolver, command.max_tokens - SLACK_TOKENS)
        pack = chooser.chosen(passages)
        if not any(section.refs or section.description for section in pack.sections):
            raise invalid("'max_tokens' leaves no room for a single passage; give more", "max_tokens")
        named = pack.digests
        self.excerpts.put({key: text for key, text in resolver.anchored_texts.items() if key in named})
        stored = self.store.create(lambda pack_id: evolve(pack, id=pack_id), pack.name, check)
        lost = _lost(passages.items, stored)
        notes = {**passages.notes, "left_out": lost} if lost else passages.notes
        return Drafted(stored, chooser.weight(stored), notes)

    def _passages(self, command: commands.Draft, check: Check) -> tuple[str, Excerpted]:
        """What the pack is to be called, and what it is made of."""
        if command.diff is not None:
            revision = "" if "\n" in command.diff.strip() else f" since {command.diff.strip()}"
            return f"Changes{revision or ' of a diff'}", self.passages().changed(command.diff, check)
        if command.trace is not None:
            lines = [single_line(line) for line in command.trace.strip().split("\n")]
            said = [line for line in lines if _FAILED.search(line)] or lines[-1:]
            return f"Trace: {said[0]}", self.passages().traced(command.trace, check)
        query = " ".join((command.query or "").split())
        passages = self.passages().best(query, MOST_EXCERPTS, check)
        if not passages.items:
            raise _nothing(passages.notes)
        return query, passages


def _lost(items: Iterable[Excerpt], pack: Pack) -> list[str]:
    """The changed definitions and frames that the pack does not show whole."""
    shown = [(ref.path.value, ref.lines) for _, ref in pack.refs]
    return [
        f"{item.title} {item.path}:{item.start}-{item.end}"
        for item in items
        if item.kind in WHOLE
        if not any(path == item.path and at.start <= item.start and item.end <= at.end for path, at in shown)
    ]


def _nothing(notes: Mapping[str, object]) -> Failure:
    """The failure when nothing was found; says if the search was incomplete."""
    if "indexing" not in notes:
        return Failure(Code.NOT_FOUND, NOTHING, dict(notes))
    words = "nothing was found yet: indexing of the project is under way; try again in a moment"
    return Failure(Code.NOT_FOUND, words, dict(notes))


@frozen
class _Part:
    """A ref or a line of a description, the section that it is in, and its turn among the passages."""

    kind: str
    place: int
    shown: Ref | str

    @property
    def path(self) -> RelativePath | None:
        """The file that it shows lines of."""
        return self.shown.path if isinstance(self.shown, Ref) else None


@define
class _Chooser:
    """Fills one pack, the best passages first."""

    empty: Pack
    query: str
    resolver: Resolver
    most: int
    parts: list[_Part] = field(factory=list, init=False)
    left: int = field(init=False)
    _bare: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._bare = self.weight(self.empty)
        self.left = self.most - self._bare

    def chosen(self, passages: Excerpted) -> Pack:
        """The pack with as many passages as fit: whole ones first, then the first lines of others."""
        for kind, text in passages.texts.items():
            self._take(_Part(kind, 0, text))
        for rank in sorted({item.rank for item in passages.items}):
            waiting = [(place, item) for place, item in enumerate(passages.items) if item.rank == rank]
            for whole in (True, False):
                waiting = [(place, item) for place, item in waiting if not self._taken(item, place, whole)]
        return self._pack(self.parts)

    def weight(self, pack: Pack) -> int:
        """The tokens of the pack as `output` shows it, in one page."""
        shown = render(pack, self.resolver, self.empty.created_at, max_tokens=commands.MOST_TOKENS)
        return tokens_of(shown.text) if shown.cursor is None else commands.MOST_TOKENS + 1

    def _taken(self, item: Excerpt, place: int, whole: bool) -> bool:
        """Take a passage if it fits; whether there is nothing more to do about it."""
        self.resolver.check()
        refs = [part.shown for part in self.parts if isinstance(part.shown, Ref)]
        if any(
            ref.path.value == item.path and ref.lines.start <= item.end and item.start <= ref.lines.end
            for ref in refs
        ):
            return True
        if item.path is None:
            title = f"{item.title}: {' '.join(item.text.split())}"
            quoted = f"- {title} ({reason(self.query, item.what, again=False)})"
            texts = [part.shown for part in self.parts if part.kind == item.kind and part.path is None]
            room = len("\n".join([*map(str, texts), quoted])) <= values.DESCRIPTION_CHARS
            return room and self._take(_Part(item.kind, place, quoted))
        if whole and item.partial:
            return False
        return any(self._take(_Part(item.kind, place, ref)) for ref in self._refs(item, whole))

    def _take(self, part: _Part) -> bool:
        """Keep a part if it fits: what it weighs is measured by rendering it alone."""
        weight = self.weight(self._pack([part])) - self._bare
        if weight > self.left:
            return False
        self.parts.append(part)
        self.left -= weight
        return True

    def _refs(self, item: Excerpt, whole: bool) -> Iterator[Ref]:
        """The passage whole, or with half of its lines, and so on; nothing if it has changed meanwhile."""
        assert item.path is not None
        title = values.one_line(cut_text(item.title, values.TITLE_CHARS // 2), "title")
        here = [part.shown for part in self.parts if part.kind == item.kind]
        keys = Keys(part.key for part in here if isinstance(part, Ref))
        key, why = keys.free(title or ""), reason(self.query, item.what, again=bool(self.parts))
        lines = min(item.end - item.start + 1, MAX_LINES)
        while True:
            place = LineRange(item.start, item.start + lines - 1)
            ref = self.resolver.anchored(Ref(key, RelativePath(item.path), place, title, why, item.group))
            if ref.anchor is not None:  # it has not changed since it was indexed
                yield ref
            if whole or lines <= 2 * LEAST_LINES:
                return
            lines //= 2

    def _pack(self, parts: Sequence[_Part]) -> Pack:
        """The pack with these parts in their sections, in the order in which one reads them."""
        first: dict[RelativePath | None, int] = {}
        for part in parts:
            first[part.path] = min(part.place, first.get(part.path, part.place))

        def reading(part: _Part) -> tuple[str, int, int]:
            """Group by group, the best file first, and a file from top to bottom."""
            if isinstance(part.shown, Ref) and part.shown.group is not None:
                return part.shown.group, first[part.path], part.shown.lines.start
            return "", part.place, 0

        sections = []
        for kind, title in TITLES.items():
            mine = [part.shown for part in sorted(parts, key=reading) if part.kind == kind]
            text = "\n".join(part for part in mine if isinstance(part, str))
            refs = tuple(part for part in mine if isinstance(part, Ref))
            if mine:
                sections.append(Section(kind, title, text or None, refs))
        return evolve(self.empty, sections=sections)
