"""The order and the look of a rendered pack, piece by piece: legend, sections, refs, diagrams.

A pack is laid out as items in reading order; each has a head (lines whose free text may be shortened) and
perhaps a body (a description, numbered code, a diagram). How much of it a page shows is `render`'s business.
Nothing here can be forged: fields are single lines, code lines begin with their number, fences are longer
than any run of backticks inside, and descriptions go through `kernel.markdown`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from attrs import evolve, field, frozen

from context_pack.kernel.markdown import escape_structure
from context_pack.kernel.times import format_instant, human, remaining_seconds
from context_pack.packs.claims import Doubt, with_places
from context_pack.packs.difference import Difference
from context_pack.packs.handover import ended
from context_pack.packs.model import NOTHING_KNOWN, Diagram, Pack, Ref, Scopes, Section, outdated
from context_pack.packs.pages import GAP, Body, BodyPart, Line, Mode, Style, joined, shrunk
from context_pack.packs.states import Resolution, State
from context_pack.toolkit.budget import size

LEGEND, CONTENT = "[LEGEND]", "[CONTENT]"
CONTINUED = " (continued)"
NEWLINE = "\n"
WHAT_CHANGED = "> what changed:"
WHAT_IT_WAS = "> what it was when it was anchored, and is nowhere now:"
NOTHING_CHANGED = "> nothing has changed since it was anchored"


@frozen
class ItemBlock:
    """An item ready to be shown: its head, what must be known before its body, and the body."""

    heads: list[Line]
    notes: list[Line] = field(factory=list)
    body: Body | None = None

    def text(self, body: BodyPart | None) -> str:
        """The block with this much of its body; prose stands right under its heading."""
        if body is None:
            return GAP.join([joined(self.heads), *map(str, self.notes)])
        if self.body is not None and self.body.style is Style.PROSE:
            return f"{joined(self.heads)}\n{body.text}"
        notes = [*map(str, self.notes), *([] if body.note is None else [body.note])]
        return GAP.join([joined(self.heads), *notes, body.text])

    def shrunk(self, most: int) -> ItemBlock:
        """The block with its head and notes in at most so many bytes."""
        lines = shrunk([*self.heads, *self.notes], most)
        return evolve(self, heads=lines[: len(self.heads)], notes=lines[len(self.heads) :])


@frozen
class Item:
    """One thing to show: a section's opening, a ref or a diagram; `opens` marks the first of its group.

    A ref that changed is followed by an item with what `changed`.
    """

    section: Section
    part: Ref | Diagram | None = None
    opens: bool = False
    changed: Difference | None = None
    claims: tuple[str, ...] = ()
    """What the pack says about a ref, in the list of what must be read again."""

    @property
    def is_ref(self) -> bool:
        """Whether it is the ref itself."""
        return isinstance(self.part, Ref) and self.changed is None

    @property
    def chapter(self) -> Line | None:
        """The heading that gathers this item with its neighbours inside the section."""
        if isinstance(self.part, Ref):
            return Line("### group: ", ended(self.part.group)) if self.part.group is not None else None
        return None if self.part is None else Line("### Diagrams")


def items_of(pack: Pack) -> list[Item]:
    """The whole pack in reading order: per section its text, loose refs, groups by name, diagrams."""
    items: list[Item] = []
    for section in pack.sections:
        items.append(Item(section))
        groups: dict[str, list[Ref]] = {}
        for ref in section.refs:
            groups.setdefault(ref.group or "", []).append(ref)
        for name in sorted(groups):
            items += [Item(section, ref, index == 0) for index, ref in enumerate(groups[name])]
        items += [Item(section, diagram, index == 0) for index, diagram in enumerate(section.diagrams)]
    return items


States = Mapping[int, Resolution]
"""What became of refs, by the identity of each: refs that are equal are in equal states."""


def with_changes(items: Iterable[Item], states: States) -> Iterator[Item]:
    """The items, each ref that changed followed by what changed, where that is known."""
    for item in items:
        yield item
        found = states.get(id(item.part))
        if found is not None and found.difference is not None:
            yield evolve(item, opens=False, changed=found.difference)


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


def only_changes(items: Iterable[Item], doubts: Iterable[Doubt]) -> Iterator[Item]:
    """The refs of doubtful claims, the most doubtful first, each with all that is said about it."""
    claims: dict[str, list[str]] = {}
    order: dict[int, None] = {}
    for doubt in doubts:
        for ref, _ in doubt.refs:
            order[id(ref)] = None
            if ref.spellings:
                sentence = f"{doubt.claim.sentence} [{doubt.claim.section.key}]"
                claims.setdefault(str(id(ref)), []).append(sentence)
    by_ref = {id(item.part): item for item in items if isinstance(item.part, Ref)}
    for key in order:
        yield evolve(by_ref[key], opens=False, claims=tuple(claims.get(str(key), ())))


def with_lines_of_today(pack: Pack, resolve: Callable[[Ref], Resolution]) -> Pack:
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
        section
        if section.description is None
        else evolve(section, description=with_places(section.description, today))
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


def block_of(item: Item, line: int, opening: bool, resolution: Resolution | None, mode: Mode) -> ItemBlock:
    """An item from a line of its body on; one that opens a page repeats the headings it stands under.

    `resolution` is there for a ref.
    """
    again = line > 0
    if item.part is None:
        return ItemBlock(
            [_section_head(item.section, again)], body=_unless_past(_description(item.section), line)
        )
    listed = mode is Mode.DIFF
    above = [_section_head(item.section, True), Line("")] if opening and not listed else []
    if not again:
        above += [Line("- ", escape_structure(claim)) for claim in item.claims]
        above += [Line("")] if item.claims else []
    if item.chapter is not None and (opening or item.opens) and not listed:
        resumed = again or not item.opens
        above.append(item.chapter._replace(tail=CONTINUED if resumed else ""))
    if isinstance(item.part, Diagram):
        return ItemBlock(
            [*above, *_diagram_head(item.part, again)], body=_unless_past(_diagram(item.part), line)
        )
    state = resolution or Resolution(State.STALE)
    if item.changed is not None:
        ref = [_ref_line(item.part, item.section, True)] if opening else []
        return ItemBlock([*above, *ref, Line(WHAT_CHANGED)], body=_unless_past(item.changed.body, line))
    shown = {Mode.FULL: state.code, Mode.DIFF: _listed_diff(state) or state.former}.get(mode)
    body, notes = _unless_past(shown, line), _ref_notes(state)
    if body is not None and state.former is not None:
        notes = [*notes, Line(WHAT_IT_WAS)]
    return ItemBlock([*above, *_ref_head(item.part, item.section, state, again)], notes, body)


def _listed_diff(state: Resolution) -> Body | None:
    """The beginning of a diff."""
    return None if state.difference is None else state.difference.beginning


def _unless_past(body: Body | None, line: int) -> Body | None:
    """The body, unless it has become so short since the last page that nothing is left of it."""
    return None if body is None or line >= len(body.lines) else body


def _section_head(section: Section, again: bool) -> Line:
    return Line("## ", section.title, f" [{section.key}]{CONTINUED if again else ''}")


def _ref_head(ref: Ref, section: Section, resolution: Resolution, again: bool) -> list[Line]:
    """What a ref says about its code; a page that goes on with it repeats only what is needed to read it."""
    path, lines = ref.path.value, str(ref.lines)
    found = resolution.found
    # Where nothing has moved these are the very values of the ref.
    if found is not None and found.path is not ref.path and found.path != ref.path:
        path = f"{found.path} (moved from {path})"
    if found is not None and found.lines is not ref.lines and found.lines != ref.lines:
        lines = f"{found.lines} (moved from {lines})"
    return [
        _ref_line(ref, section, again),
        *([Line("**", ref.title, "**")] if ref.title is not None and not again else []),
        Line("- path: ", path),
        Line("- lines: " + lines),
        *([Line("- why: ", ref.why)] if ref.why is not None and not again else []),
    ]


def _ref_line(ref: Ref, section: Section, again: bool) -> Line:
    return Line(f"#### {ref.key} [{section.key}]{CONTINUED if again else ''}")


def _ref_notes(resolution: Resolution) -> list[Line]:
    """The notes above the code of a ref, or in place of it."""
    if resolution.state is State.CHANGED:
        return [Line("> ", resolution.change)]
    if resolution.found is None:
        state = "unknown" if resolution.state is State.UNKNOWN else "stale"
        return [Line(f"> {state} ref: ", resolution.reason or "the code was not found")]
    return []


def _diagram_head(diagram: Diagram, again: bool) -> list[Line]:
    """A diagram's heading and reason."""
    lines = [Line("#### ", diagram.title, f" [{diagram.key}]{CONTINUED if again else ''}")]
    return [*lines, Line("- why: ", diagram.why)] if diagram.why is not None and not again else lines


def _diagram(diagram: Diagram) -> Body:
    """The diagram's source."""
    return Body(Style.FENCE, diagram.mermaid.split("\n"), "mermaid")


def _description(section: Section) -> Body | None:
    """A section's text."""
    if section.description is None:
        return None
    return Body(Style.PROSE, escape_structure(section.description).split("\n"))
