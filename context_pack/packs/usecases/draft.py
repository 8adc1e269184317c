"""From a question to a pack: the best passages for it, as anchored refs, within a budget of tokens.

Passages come best first from a port; each is kept if the pack, rendered whole, still fits the budget, else as
many of its first lines as do. What is measured is what `output` will show, so the budget holds for readers
and not for an estimate. The pack is stored once, as a draft at its first revision.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from attrs import evolve, field, frozen

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.lines import MAX_LINES, LineRange
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Clock, SourceTree
from context_pack.kernel.revision import FIRST
from context_pack.kernel.ttl import expiry
from context_pack.packs.domain import values
from context_pack.packs.domain.budget import cut, size
from context_pack.packs.domain.model import Pack, Ref, Section, Status
from context_pack.packs.domain.render import render
from context_pack.packs.ports import Excerpt, Excerpts, PackSettings, PackStore
from context_pack.packs.usecases import commands
from context_pack.packs.usecases.plans import ttl_required
from context_pack.packs.usecases.resolving import Check, Resolver, unwatched
from context_pack.toolkit.arguments import arg, integer, text
from context_pack.toolkit.limits import BYTES_PER_TOKEN

LEAST_QUERY, MOST_QUERY = 3, 500
DEFAULT_TOKENS = 8_000
MOST_EXCERPTS = 60
LEAST_LINES = 5
"""A passage is not cut to fewer lines than these."""
SLACK_BYTES = 64
"""The legend counts down the time to live in words, some of which are longer than others."""
SOME_ID = "pk_aaaaaaaa"

TITLES: Mapping[str, str] = {"code": "Code", "documents": "Documents", "memory": "Memory"}


@frozen(kw_only=True)
class Draft:
    """Make a draft pack that answers a question."""

    action: str = arg(commands.ACTION, "draft", default="draft")
    query: str = arg(text(LEAST_QUERY, MOST_QUERY, blank=False), "The question")
    ttl_minutes: int = arg(*commands.TTL)
    name: str | None = arg(
        text(values.NAME_LOW, values.NAME_HIGH + 80),
        "Unique name, 3-120 characters once trimmed; never changes",
        default=None,
    )
    max_tokens: int = arg(
        integer(commands.LEAST_TOKENS, commands.MOST_TOKENS),
        "draft: most tokens of the rendered pack",
        default=DEFAULT_TOKENS,
    )


@frozen
class Drafted:
    """The stored pack, how many tokens it renders to, and what whoever searched had to say."""

    pack: Pack
    tokens: int
    notes: Mapping[str, object] = field(factory=dict)


@frozen
class PackDrafter:
    """Makes packs from questions."""

    store: PackStore
    tree: SourceTree
    clock: Clock
    excerpts: Excerpts
    settings: PackSettings = field(factory=PackSettings)

    def draft(self, command: Draft, check: Check = unwatched) -> Drafted:
        """Search, choose, store.

        Raises:
            Failure: `not_found` when nothing answers the question, `invalid_data` for a budget too small to
                hold anything, or what the search and the store raise.
        """
        query = " ".join(command.query.split())
        if not LEAST_QUERY <= len(query) <= MOST_QUERY:
            raise invalid(f"'query' must have {LEAST_QUERY} to {MOST_QUERY} characters", "query")
        if command.ttl_minutes is None:
            raise ttl_required("say how many minutes the pack is to live")
        if not commands.LEAST_TOKENS <= command.max_tokens <= commands.MOST_TOKENS:
            raise invalid("'max_tokens' is out of bounds", "max_tokens")
        now = self.clock.now()
        empty = Pack(
            id=SOME_ID,
            name=None if command.name is None else values.name(command.name),
            title=cut(query, values.TITLE_CHARS),
            status=Status.DRAFT,
            tags=(),
            revision=FIRST,
            created_at=now,
            updated_at=now,
            expires_at=expiry(now, command.ttl_minutes),
        )
        found = self.excerpts.best(query, MOST_EXCERPTS, check)
        if not found.items:
            raise Failure(Code.NOT_FOUND, "nothing was found for that question; ask in other words", {})
        chooser = _Chooser(self, query, command.max_tokens * BYTES_PER_TOKEN - SLACK_BYTES, check)
        pack = chooser.chosen(empty, found.items)
        if not pack.sections:
            raise invalid("'max_tokens' leaves no room for a single passage; give more", "max_tokens")
        stored = self.store.create(lambda pack_id: evolve(pack, id=pack_id), pack.name, check)
        return Drafted(stored, -(-chooser.weight(stored) // BYTES_PER_TOKEN), found.notes)


@frozen
class _Chooser:
    """Fills one pack."""

    drafter: PackDrafter
    query: str
    most: int
    check: Check

    def chosen(self, pack: Pack, items: Iterable[Excerpt]) -> Pack:
        """The pack with as many passages as fit, the best first."""
        seen: list[tuple[str, int, int]] = []
        for item in items:
            self.check()
            if item.path is None:
                pack = self._fitting(pack, [self._with_note(pack, item)])
            elif not _repeats(item, seen):
                before = pack
                pack = self._fitting(pack, self._with_ref(pack, item))
                if pack is not before:
                    seen.append((item.path, item.start, item.end))
        return pack

    def weight(self, pack: Pack) -> int:
        """The bytes of the pack as `output` shows it, in one page."""
        source = self.drafter
        resolver = Resolver(source.tree, source.settings.max_source_bytes, self.check)
        shown = render(pack, resolver, source.clock.now(), max_tokens=commands.MOST_TOKENS)
        return size(shown.text) if shown.cursor is None else commands.MOST_TOKENS * BYTES_PER_TOKEN + 1

    def _fitting(self, pack: Pack, candidates: Sequence[Pack | None]) -> Pack:
        """The first candidate that fits, else the pack as it is."""
        for candidate in candidates:
            if candidate is not None and self.weight(candidate) <= self.most:
                return candidate
        return pack

    def _with_ref(self, pack: Pack, item: Excerpt) -> list[Pack | None]:
        """The pack with the passage whole, then with half of its lines, and so on."""
        lines = min(item.end - item.start + 1, MAX_LINES)
        lengths = [lines]
        while lines > 2 * LEAST_LINES:
            lines //= 2
            lengths.append(lines)
        return [self._added(pack, item, length) for length in lengths]

    def _added(self, pack: Pack, item: Excerpt, lines: int) -> Pack | None:
        assert item.path is not None
        section = _section(pack, item.kind)
        resolver = Resolver(self.drafter.tree, self.drafter.settings.max_source_bytes, self.check)
        ref = resolver.anchored(
            Ref(
                _key(item, section),
                RelativePath(item.path),
                LineRange(item.start, item.start + lines - 1),
                values.one_line(cut(item.title, values.TITLE_CHARS // 2), "title"),
                self._why(item),
            )
        )
        if ref.anchor is None:  # it has changed since it was indexed
            return None
        return _with_section(pack, evolve(section, refs=(*section.refs, ref)))

    def _with_note(self, pack: Pack, item: Excerpt) -> Pack | None:
        """The pack with a text of its own in the description of its section."""
        section = _section(pack, item.kind)
        line = f"- {item.title}: {' '.join(item.text.split())} ({self._why(item)})"
        description = f"{section.description}\n{line}" if section.description else line
        if len(description) > values.DESCRIPTION_CHARS:
            return None
        return _with_section(pack, evolve(section, description=description))

    def _why(self, item: Excerpt) -> str:
        """Why a passage is there: the question and how well it answers it."""
        return f'found for "{cut(self.query, 200)}", score {item.score:.2f}'


def _section(pack: Pack, kind: str) -> Section:
    return pack.section(kind) or Section(kind, TITLES.get(kind, kind.title()))


def _with_section(pack: Pack, section: Section) -> Pack:
    others = [each for each in pack.sections if each.key != section.key]
    order = list(TITLES)
    return evolve(pack, sections=sorted([*others, section], key=lambda each: order.index(each.key)))


def _key(item: Excerpt, section: Section) -> str:
    """A key from what the passage is called, unique in its section."""
    words = re.sub(r"[^a-z0-9]+", "-", item.title.lower()).strip("-")[:48] or "excerpt"
    base = words if len(words) > 1 else f"{words}-1"
    key, number = base, 1
    while section.ref(key) is not None:
        number += 1
        key = f"{base}-{number}"
    return key


def _repeats(item: Excerpt, seen: Iterable[tuple[str, int, int]]) -> bool:
    """Whether the pack already shows some of these lines."""
    return any(path == item.path and item.start <= end and start <= item.end for path, start, end in seen)
