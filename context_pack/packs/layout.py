"""The order and the look of a rendered pack, piece by piece: legend, sections, refs, diagrams.

A pack is laid out as items in reading order; each has a head (lines whose free text may be shortened) and
perhaps a body (a description, numbered code, a diagram). How much of it a page shows is `render`'s business.
Nothing here can be forged: fields are single lines, code lines begin with their number, fences are longer
than any run of backticks inside, and descriptions go through `kernel.markdown`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from attrs import evolve, field, frozen

from context_pack.kernel.markdown import escape_structure
from context_pack.kernel.times import format_instant, human, remaining_seconds
from context_pack.packs.claims import Doubt, Resolve, with_places
from context_pack.packs.handover import ended
from context_pack.packs.model import NOTHING_KNOWN, Pack, Ref, Scopes, Section, outdated
from context_pack.packs.pages import Body, Line, Mode, Style
from context_pack.packs.states import Resolution, State
from context_pack.toolkit.budget import size

LEGEND, CONTENT = "[LEGEND]", "[CONTENT]"
CONTINUED = " (continued)"
NEWLINE = "\n"
WHAT_CHANGED = "> what changed:"
WHAT_IT_WAS = "> what it was when it was anchored, and is nowhere now:"
NOTHING_CHANGED = "> nothing has changed since it was anchored"


@frozen
class Item:
    """One thing to show: a section's text, a ref, what changed of one, or a diagram.

    `above` are the headings that it stands under and `chapter` gathers it with its neighbours: a page that
    begins with it repeats them. `again` is its head where a page goes on with it.
    """

    head: Sequence[Line]
    again: Sequence[Line] = ()
    above: Sequence[Line] = ()
    chapter: Line | None = None
    opens: bool = False
    """Whether it is the first of its chapter."""
    notes: Sequence[Line] = field(factory=list)
    """What must be known before its body."""
    body: Body | None = None
    is_ref: bool = False

    def heads(self, opening: bool, again: bool) -> list[Line]:
        """The lines before its notes, on a page that begins or goes on with it, or on none of these."""
        lines = [*self.above] if opening else []
        if self.chapter is not None and (opening or self.opens):
            lines.append(self.chapter._replace(tail=CONTINUED if again or not self.opens else ""))
        return [*lines, *(self.again if again else self.head)]


def items_of(pack: Pack, resolve: Resolve, mode: Mode) -> Iterator[Item]:
    """The whole pack in reading order: per section its text, loose refs, groups by name, diagrams."""
    for section in pack.sections:
        head, again = _section_head(section), _section_head(section, CONTINUED)
        text = section.description
        lines = None if text is None else escape_structure(text).split("\n")
        yield Item([head], [again], body=None if lines is None else Body(Style.PROSE, lines))
        above = [again, Line("")]
        groups: dict[str, list[Ref]] = {}
        for ref in section.refs:
            groups.setdefault(ref.group or "", []).append(ref)
        for name in sorted(groups):
            chapter = Line("### group: ", ended(name)) if name else None
            for index, ref in enumerate(groups[name]):
                state = resolve(ref)
                body = state.code if mode is Mode.FULL else None
                item = _ref_item(ref, section, state, body)
                yield evolve(item, above=above, chapter=chapter, opens=index == 0)
                if mode is Mode.FULL and state.difference is not None:
                    ref_line = _ref_line(ref, section, CONTINUED)
                    yield Item(
                        [Line(WHAT_CHANGED)],
                        [Line(WHAT_CHANGED)],
                        [*above, *([chapter._replace(tail=CONTINUED)] if chapter else []), ref_line],
                        body=state.difference.body,
                    )
        for index, diagram in enumerate(section.diagrams):
            why = [] if diagram.why is None else [Line("- why: ", diagram.why)]
            yield Item(
                [Line("#### ", diagram.title, f" [{diagram.key}]"), *why],
                [Line("#### ", diagram.title, f" [{diagram.key}]{CONTINUED}")],
                above,
                Line("### Diagrams"),
                index == 0,
                body=Body(Style.FENCE, diagram.mermaid.split("\n"), "mermaid"),
            )


def _section_head(section: Section, tail: str = "") -> Line:
    return Line("## ", section.title, f" [{section.key}]{tail}")


def _ref_line(ref: Ref, section: Section, tail: str = "") -> Line:
    return Line(f"#### {ref.key} [{section.key}]{tail}")


def _ref_item(ref: Ref, section: Section, state: Resolution, body: Body | None) -> Item:
    """A ref and what it says about its code; a page that goes on with it repeats where that is."""
    path, lines, found = ref.path.value, str(ref.lines), state.found
    if found is not None and found.path != ref.path:
        path = f"{found.path} (moved from {path})"
    if found is not None and found.lines != ref.lines:
        lines = f"{found.lines} (moved from {lines})"
    title = [] if ref.title is None else [Line("**", ref.title, "**")]
    why = [] if ref.why is None else [Line("- why: ", ref.why)]
    place = [Line("- path: ", path), Line("- lines: " + lines)]
    notes: list[Line] = []
    if state.state is State.CHANGED:
        notes = [Line("> ", state.change)]
    elif found is None:
        word = "unknown" if state.state is State.UNKNOWN else "stale"
        notes = [Line(f"> {word} ref: ", state.reason or "the code was not found")]
    return Item(
        [_ref_line(ref, section), *title, *place, *why],
        [_ref_line(ref, section, CONTINUED), *place],
        notes=notes,
        body=body,
        is_ref=True,
    )


def changed_items(resolve: Resolve, doubts: Iterable[Doubt]) -> Iterator[Item]:
    """The refs of doubtful claims, the most doubtful first, each with all that is said about it."""
    claims: dict[int, list[Line]] = {}
    refs: dict[int, tuple[Ref, Section]] = {}
    for doubt in doubts:
        for ref, _ in doubt.refs:
            refs.setdefault(id(ref), (ref, doubt.claim.section))
            said = claims.setdefault(id(ref), [])
            if ref.spellings:
                sentence = f"{doubt.claim.sentence} [{doubt.claim.section.key}]"
                said.append(Line("- ", escape_structure(sentence)))
    for ref, section in refs.values():
        state, said = resolve(ref), claims[id(ref)]
        item = _ref_item(
            ref, section, state, state.former if state.difference is None else state.difference.beginning
        )
        notes = [*item.notes, Line(WHAT_IT_WAS)] if item.body is not None and state.former else item.notes
        yield evolve(item, head=[*said, *([Line("")] if said else []), *item.head], notes=notes)


def review_of(doubts: Sequence[Doubt], heading: str, most: int) -> str:
    """The list of what must be read again, in about so many bytes: sentences with what became of the code."""
    lines: list[str] = []
    for doubt in doubts:
        line = f"- {doubt.claim.sentence} [{doubt.claim.section.key}]: {doubt.change}"
        most -= size(line)
        if most < 0:
            lines.append(f"- and {len(doubts) - len(lines)} more: the mode diff has them all")
            break
        lines.append(line)
    return f"> to be read again: {heading}\n\n{escape_structure(NEWLINE.join(lines))}"


def with_lines_of_today(pack: Pack, resolve: Resolve) -> Pack:
    """The pack with where the code stands now behind each place that its prose names."""
    named = {spelling: ref for _, ref in pack.refs for spelling in ref.spellings}
    if not named:
        return pack

    def today(spelling: str) -> str | None:
        ref = named.get(spelling)
        if ref is None:
            return None
        found = resolve(ref).found
        if found is None:
            return "gone"
        place = f"{found.path}:{found.lines}"
        if spelling == place or spelling.replace("#L", ":").replace("-L", "-") == place:
            return None
        return str(found.lines) if spelling.startswith(f"{found.path}#") else place

    sections = [
        evolve(section, description=section.description and with_places(section.description, today))
        for section in pack.sections
    ]
    return evolve(pack, sections=sections)


def counted(states: Iterable[Resolution]) -> str:
    """How many refs there are, and how many in each state; empty while all are exact."""
    counts = Counter(found.state for found in states)
    if counts.total() == counts[State.EXACT]:
        return ""
    each = ", ".join(f"{counts[state]} {state.value}" for state in State if counts[state])
    return f"{counts.total()} ({each})"


def legend_of(
    pack: Pack, now: datetime, scopes: Scopes = NOTHING_KNOWN, refs: str = "", claims: str = ""
) -> list[Line]:
    """The legend: the pack's title, name, status and what may be out of date; absent values are left out."""
    remaining = human(remaining_seconds(pack.expires_at, now))
    lines = [
        Line(LEGEND),
        Line("# Context pack: ", ended(pack.heading)),
        Line("- id: " + pack.id),
        Line("- name: ", pack.name or ""),
        Line("- from worktree: ", pack.worktree or ""),
        Line("- status: " + pack.status),
        Line(f"- revision: {pack.revision}"),
        Line("- expires_at: " + format_instant(pack.expires_at, whole_seconds=True)),
        Line("- ttl_remaining: " + remaining),
        Line("- tags: ", ", ".join(pack.tags)),
        Line("- brief: ", pack.brief or ""),
        Line("- refs: ", refs),
        Line("- claims: ", claims),
        Line("- stale_scopes: ", outdated(pack, scopes)),
    ]
    return [line for line in lines if line.text or not line.lead.endswith(": ")]
