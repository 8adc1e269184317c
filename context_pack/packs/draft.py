"""From a question to a pack: the best passages for it, as anchored refs, within a budget of tokens.

Passages come best first from a port. Code has its share of the budget before the rest, and whole passages
come before those that fit in part only, by as many of their first lines as do. What a passage weighs is
measured by rendering it alone, so that many cost no more than each of them; the whole is rendered once at
the end as `output` will show it, and loses its last passages should it be too large after all. The pack is
stored once, as a draft at its first revision.

A drafted pack repeats the question in its title and in the reason of every passage. Whoever searches packs
must not find those: they would answer the question with itself. So these words are made here, and known
again here; once somebody has put others in their place, those are the pack's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import define, evolve, field, frozen

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.text import MAX_LINES, LineRange, single_line
from context_pack.kernel.times import expiry
from context_pack.packs import commands, values
from context_pack.packs.model import FIRST, Pack, Ref, Section, Status
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
_FOUND = r'found for "(?P<question>.*)"(?:, score [0-9]\.[0-9]{2}|: [^"]*)?'
_WHY = re.compile(_FOUND)
_QUOTE = re.compile(rf"- .*\({_FOUND}\)")
_FAILED = re.compile(r"(?:Error|Exception|panic(?:ked)?)\b")
"""What the line of a trace holds that says what went wrong."""
_KEY_CHARS = 48


def title_of(question: str) -> str:
    """The title of a pack that answers a question."""
    return cut_text(question, values.TITLE_CHARS).strip()


def reason(question: str, what: str) -> str:
    """The generated reason of a ref: the question, and what was found for it."""
    found = what.replace('"', "'")
    return f'found for "{title_of(question)}"' + (f": {found}" if found else "")


def quote(title: str, text: str, why: str) -> str:
    """A passage without a path, as a line of a description."""
    return f"- {title}: {' '.join(text.split())} ({why})"


def key_of(title: str) -> str:
    """The key of a ref with this title, before it is made unique."""
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:_KEY_CHARS] or "excerpt"
    return words if len(words) > 1 else f"{words}-1"


def own_title(pack: Pack) -> str | None:
    """The pack's title, unless it is the question that it was drafted for."""
    return None if pack.title in set(_questions(pack)) else pack.title


def own_heading(pack: Pack, section: Section) -> str | None:
    """The section's title, unless it is generated."""
    drafted = TITLES.get(section.key) == section.title and any(_questions(pack))
    return None if drafted else section.title


def own_description(section: Section) -> str | None:
    """The section's description without the lines that were quoted for a question."""
    lines = (section.description or "").split("\n")
    return "\n".join(line for line in lines if not _QUOTE.fullmatch(line)).strip() or None


def own_why(ref: Ref) -> str | None:
    """The ref's reason, unless it is generated."""
    return None if ref.why is not None and _WHY.fullmatch(ref.why) else ref.why


def is_own(ref: Ref) -> bool:
    """Whether a person described the ref: wrote a reason, or changed its generated title."""
    if ref.why is None or own_why(ref) is not None:
        return True
    base = key_of(ref.title or "")
    return re.fullmatch(rf"{re.escape(base)}(-[0-9]+)?", ref.key) is None


def _questions(pack: Pack) -> Iterator[str]:
    """The questions for which something in the pack was found."""
    for section in pack.sections:
        whys = (_WHY.fullmatch(ref.why) for ref in section.refs if ref.why is not None)
        quotes = map(_QUOTE.fullmatch, (section.description or "").split("\n"))
        yield from (found["question"] for found in (*whys, *quotes) if found is not None)


LEAST_EXCERPTS, MOST_EXCERPTS = 60, 300
TOKENS_PER_EXCERPT = 50
"""What the smallest ref takes when it is shown."""
CODE_SHARE = 0.7
"""The share of the budget for code before documents and memory are considered."""
LINE_TOKENS = 10
"""What a line of code takes, about."""
LEAST_LINES = 5
"""A passage is not cut to fewer lines than these."""
SLACK_TOKENS = 20
"""The legend counts down the time to live in words, some of which are longer than others."""
SOME_ID = "pk_aaaaaaaa"
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

    passages: Excerpts = field(kw_only=True)

    def draft(self, command: commands.Draft, check: Check = never_cancelled) -> Drafted:
        """Search, choose, store.

        Raises:
            Failure: `not_found` when nothing answers the question, `invalid_data` for a budget too small to
                hold anything, or what the search and the store raise.
        """
        title, found = self._passages(command, check)
        now = self.clock.now()
        empty = Pack(
            id=SOME_ID,
            name=None if command.name is None else values.new_name(command.name),
            title=title_of(title),
            status=Status.DRAFT,
            tags=(),
            revision=FIRST,
            created_at=now,
            updated_at=now,
            expires_at=expiry(now, command.ttl_minutes),
        )
        resolver = Resolver.over(self, check)
        chooser = _Chooser(empty, title, resolver, command.max_tokens - SLACK_TOKENS, found.texts)
        pack = chooser.chosen(found.items)
        if not any(section.refs or section.description for section in pack.sections):
            raise invalid("'max_tokens' leaves no room for a single passage; give more", "max_tokens")
        named = pack.digests
        self.excerpts.put({key: text for key, text in resolver.anchored_texts.items() if key in named})
        stored = self.store.create(lambda pack_id: evolve(pack, id=pack_id), pack.name, check)
        lost = _lost(found.items, stored)
        notes = {**found.notes, "left_out": lost} if lost else found.notes
        return Drafted(stored, chooser.weight(stored), notes)

    def _passages(self, command: commands.Draft, check: Check) -> tuple[str, Excerpted]:
        """What the pack is to be called, and what it is made of."""
        if [command.query, command.diff, command.trace].count(None) != 2:
            raise invalid("give one of 'query', 'diff' and 'trace'", "query")
        if command.diff is not None:
            revision = "" if "\n" in command.diff.strip() else f" since {command.diff.strip()}"
            return f"Changes{revision or ' of a diff'}", self.passages.changed(command.diff, check)
        if command.trace is not None:
            lines = [single_line(line) for line in command.trace.strip().split("\n")]
            said = [line for line in lines if _FAILED.search(line)] or lines[-1:]
            return f"Trace: {said[0]}", self.passages.traced(command.trace, check)
        query = " ".join((command.query or "").split())
        if len(query) < commands.LEAST_QUESTION:  # the schema counts white space, too
            raise invalid(f"'query' must have at least {commands.LEAST_QUESTION} characters", "query")
        found = self.passages.best(query, _wanted(command.max_tokens), check)
        if not found.items:
            raise _nothing(found.notes)
        return query, found


def _lost(items: Iterable[Excerpt], pack: Pack) -> list[str]:
    """The changed definitions and frames that the pack does not show whole."""
    shown = [(ref.path.value, ref.lines) for _, ref in pack.refs]
    return [
        f"{item.title} {item.path}:{item.start}-{item.end}"
        for item in items
        if item.kind in WHOLE
        if not any(path == item.path and at.start <= item.start and item.end <= at.end for path, at in shown)
    ]


def _wanted(tokens: int) -> int:
    """How many passages to look for, so that a larger budget is spent as well."""
    return min(MOST_EXCERPTS, max(LEAST_EXCERPTS, tokens // TOKENS_PER_EXCERPT))


def _nothing(notes: Mapping[str, object]) -> Failure:
    """The failure when nothing was found; says if the search was incomplete."""
    if "indexing" not in notes:
        return Failure(Code.NOT_FOUND, NOTHING, dict(notes))
    words = "nothing was found yet: indexing of the project is under way; try again in a moment"
    return Failure(Code.NOT_FOUND, words, dict(notes))


_Taken = tuple[int, tuple[str, str, int], tuple[str, Ref | str]]
"""A part with its place among the passages, where it stands in the order of reading, and its section."""


def _path_of(part: tuple[str, Ref | str]) -> str | None:
    return part[1].path.value if isinstance(part[1], Ref) else None


@define
class _Chooser:
    """Fills one pack: `parts` are refs and lines of descriptions, each with the key of its section."""

    empty: Pack
    query: str
    resolver: Resolver
    most: int
    texts: Mapping[str, str] = field(factory=dict)
    parts: list[tuple[str, Ref | str]] = field(factory=list, init=False)
    used: int = field(init=False)
    _bare: int = field(init=False)
    _opened: dict[str, int] = field(factory=dict, init=False)
    _spent: dict[bool, int] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self._bare = self.weight(self.empty)
        self.used = self._bare

    def chosen(self, items: Sequence[Excerpt]) -> Pack:
        """The pack with as many passages as fit, the best first: whole ones in their share, then in part."""
        for kind, text in self.texts.items():
            self._take(kind, [text])
        taken: list[_Taken] = [(-1, ("", "", 0), part) for part in self.parts]
        seen: list[tuple[str, int, int]] = []
        for rank in sorted({item.rank for item in items}):
            waiting = [(place, item) for place, item in enumerate(items) if item.rank == rank]
            for shared, whole in ((True, True), (False, True), (False, False)):
                waiting = self._taken(waiting, items, shared, whole, taken, seen)
        taken.sort(key=lambda each: each[0])
        pack = self._in_reading_order(taken)
        while taken and self.weight(pack) > self.most:
            taken.pop()
            pack = self._in_reading_order(taken)
        return pack

    def _in_reading_order(self, taken: Sequence[_Taken]) -> Pack:
        self.parts = [part for _, _, part in sorted(taken, key=lambda each: each[1])]
        return self._pack(self.parts)

    def _taken(
        self,
        waiting: Sequence[tuple[int, Excerpt]],
        items: Sequence[Excerpt],
        shared: bool,
        whole: bool,
        taken: list[_Taken],
        seen: list[tuple[str, int, int]],
    ) -> list[tuple[int, Excerpt]]:
        """Take what fits of the passages that are waiting; those that are left."""
        left = []
        for place, item in waiting:
            self.resolver.check()
            if item.path is not None and _repeats(item, seen):
                continue
            candidates = self._quoted(item) if item.path is None else self._refs(item, whole)
            later = whole and (item.partial or self._is_large(item, shared))
            if (
                later
                or not self._has_share(item.kind, shared, items)
                or not self._take(item.kind, candidates)
            ):
                left.append((place, item))
                continue
            # As one reads: group by group, the best file first, and a file from top to bottom.
            first = min([at for at, _, part in taken if _path_of(part) == item.path], default=place)
            reading = (item.group or "", f"{first:04}", item.start) if item.group else ("", f"{place:04}", 0)
            taken.append((place, reading, self.parts[-1]))
            if item.path is not None:
                seen.append((item.path, item.start, item.end))
        return left

    def weight(self, pack: Pack) -> int:
        """The tokens of the pack as `output` shows it, in one page."""
        shown = render(pack, self.resolver, self.empty.created_at, max_tokens=commands.MOST_TOKENS)
        return tokens_of(shown.text) if shown.cursor is None else commands.MOST_TOKENS + 1

    def _is_large(self, item: Excerpt, shared: bool) -> bool:
        """Whether a passage cannot fit, or would take half of all before others had their turn."""
        lines = item.end - item.start + 1
        return lines > self.most or (shared and bool(self.parts) and lines * LINE_TOKENS > self.most // 2)

    def _has_share(self, kind: str, shared: bool, items: Sequence[Excerpt]) -> bool:
        """Whether a kind has not yet used up its share, if there are others to share with."""
        if not shared or len({item.kind == CODE for item in items}) == 1:
            return True
        most = (self.most - self._bare) * (CODE_SHARE if kind == CODE else 1 - CODE_SHARE)
        return self._spent.get(kind == CODE, 0) < most

    def _take(self, kind: str, candidates: Iterable[Ref | str]) -> bool:
        """Keep the first candidate that fits; whether one does."""
        opened = self._opened.get(kind)
        if opened is None:
            opened = self._opened[kind] = self.weight(self._pack([(kind, "")]))
        # The first part of a section brings the section's heading with it.
        before = opened if any(key == kind for key, _ in self.parts) else self._bare
        for part in candidates:
            if self.used + _least(part) > self.most:
                continue
            more = self.weight(self._pack([(kind, part)])) - before
            if self.used + more <= self.most:
                self.parts.append((kind, part))
                self.used += more
                self._spent[kind == CODE] = self._spent.get(kind == CODE, 0) + more
                return True
        return False

    def _refs(self, item: Excerpt, whole: bool) -> Iterator[Ref]:
        """The passage whole, or with half of its lines, and so on; nothing if it has changed meanwhile."""
        assert item.path is not None
        title = values.one_line(cut_text(item.title, values.TITLE_CHARS // 2), "title")
        keys = {part.key for kind, part in self.parts if kind == item.kind and isinstance(part, Ref)}
        key, why = _unique(key_of(title or ""), keys), reason(self.query, item.what)
        lines = min(item.end - item.start + 1, MAX_LINES)
        while True:
            place = LineRange(item.start, item.start + lines - 1)
            ref = self.resolver.anchored(Ref(key, RelativePath(item.path), place, title, why, item.group))
            if ref.anchor is not None:  # it has not changed since it was indexed
                yield ref
            if whole or lines <= 2 * LEAST_LINES:
                return
            lines //= 2

    def _quoted(self, item: Excerpt) -> Iterator[str]:
        """The passage as a line of the description of its section, while that has room."""
        line = quote(item.title, item.text, reason(self.query, item.what))
        texts = [part for kind, part in self.parts if kind == item.kind and isinstance(part, str)]
        if len("\n".join([*texts, line])) <= values.DESCRIPTION_CHARS:
            yield line

    def _pack(self, parts: Sequence[tuple[str, Ref | str]]) -> Pack:
        """The pack with these parts in their sections."""
        kinds = {kind for kind, _ in parts}
        return evolve(self.empty, sections=[_section(kind, parts) for kind in TITLES if kind in kinds])


def _section(kind: str, parts: Sequence[tuple[str, Ref | str]]) -> Section:
    mine = [part for key, part in parts if key == kind]
    description = "\n".join(part for part in mine if isinstance(part, str))
    refs = tuple(part for part in mine if isinstance(part, Ref))
    return Section(kind, TITLES[kind], description or None, refs)


def _least(part: Ref | str) -> int:
    """The tokens that a part has at least, known without rendering it."""
    return tokens_of(part if isinstance(part, str) else f"{part.title}{part.why}{part.path.value}")


def _unique(base: str, keys: set[str]) -> str:
    """A key that none of these is."""
    key, number = base, 1
    while key in keys:
        number += 1
        key = f"{base}-{number}"
    return key


def _repeats(item: Excerpt, seen: Iterable[tuple[str, int, int]]) -> bool:
    """Whether the pack already shows some of these lines."""
    return any(path == item.path and item.start <= end and start <= item.end for path, start, end in seen)
