"""The page of one pack: head, summary, refs that need attention, contents, sections.

`render_parts` yields the page piece by piece, so that a large pack can be written while it is made; the
pieces joined are `render_html`. The page is self-contained by construction and by order: its content security
policy lets a browser run nothing and load nothing. Parts stand in the order of the rendered Markdown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import cache
from pkgutil import get_data

from attrs import frozen

from context_pack.kernel.instants import format_instant
from context_pack.kernel.sentences import counted
from context_pack.kernel.ttl import human, is_expired, remaining_seconds
from context_pack.packs.domain.layout import items_of
from context_pack.packs.domain.model import Diagram, Pack, Ref, Section
from context_pack.packs.domain.scopes import NOTHING_KNOWN, Scopes, outdated
from context_pack.packs.domain.states import Checked, Resolution, State
from context_pack_adapters.page.cards import SIGNS, RefCard, badge, card
from context_pack_adapters.page.figures import Figure, figure, figures
from context_pack_adapters.page.markup import Ids, spans, text
from context_pack_adapters.page.prose import prose

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
# With more parts than this the contents name sections only; browsers and readers are both better off.
MOST_NAMED = 500


@frozen
class PackView:
    """The input of a page: a pack, the state of each ref, and the time of the check."""

    pack: Pack
    resolve: Callable[[Ref], Resolution]
    now: datetime
    scopes: Scopes = NOTHING_KNOWN

    @classmethod
    def of(
        cls, pack: Pack, refs: Iterable[Checked], now: datetime, scopes: Scopes = NOTHING_KNOWN
    ) -> PackView:
        """The view of a verified pack; refs that say the same are in the same state."""
        return cls(pack, {checked.ref: checked.resolution for checked in refs}.__getitem__, now, scopes)


@frozen
class Chapter:
    """A section with its parts in reading order and its id in the page."""

    section: Section
    id: str
    parts: tuple[RefCard | Figure, ...]


def render_html(view: PackView) -> str:
    """The whole page."""
    return "".join(render_parts(view))


def render_parts(view: PackView) -> Iterator[str]:
    """The page in pieces, in order."""
    chapters = _chapters(view)
    cards = [part for chapter in chapters for part in chapter.parts if isinstance(part, RefCard)]
    yield _head(view.pack)
    yield _top(view, cards)
    yield '<div class="body">\n'
    yield _contents(chapters)
    yield '<main id="MAIN" tabindex="-1">\n'
    for chapter in chapters:
        yield from _section(chapter)
    if not chapters:
        yield '<p class="empty">This pack has no sections yet.</p>\n'
    yield "</main>\n</div>\n"
    seen = format_instant(view.now, whole_seconds=True)
    yield f"<footer>Exported by context-pack at {seen}. States are those of that moment.</footer>\n"
    yield "</div>\n</body>\n</html>\n"


@cache
def style_sheet() -> str:
    """The style sheet of the page."""
    return (get_data(__package__, "page.css") or b"").decode()


def _chapters(view: PackView) -> list[Chapter]:
    """The pack in reading order, each ref resolved once and all diagrams drawn."""
    ids = Ids()
    names = {section.key: ids.take(section.key) for section in view.pack.sections}
    parts: dict[str, list[RefCard | tuple[Diagram, str]]] = {key: [] for key in names}
    for item in items_of(view.pack):
        key = item.section.key
        if isinstance(item.part, Ref):
            parts[key].append(RefCard.of(item.part, view.resolve(item.part), ids.take(key, item.part.key)))
        elif item.part is not None:
            parts[key].append((item.part, ids.take(key, item.part.key)))
    drawn = iter(figures([part for row in parts.values() for part in row if isinstance(part, tuple)]))
    return [
        Chapter(
            section,
            names[section.key],
            tuple(part if isinstance(part, RefCard) else next(drawn) for part in parts[section.key]),
        )
        for section in view.pack.sections
    ]


def _head(pack: Pack) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n'
        f"<title>{text(pack.heading)} \u00b7 context pack</title>\n"
        f'<link rel="icon" href="data:,">\n<style>\n{style_sheet()}</style>\n</head>\n'
    )


def _top(view: PackView, cards: list[RefCard]) -> str:
    """The top of the page: the pack's title and facts, and the states of its refs."""
    pack = view.pack
    brief = f'<p class="brief">{spans(pack.brief)}</p>' if pack.brief is not None else ""
    tags = "".join(f'<li class="chip">{text(tag)}</li>' for tag in pack.tags)
    counts = Counter(item.resolution.state for item in cards)
    states = "".join(f"<li>{badge(state, counts[state])}</li>" for state in State if counts[state])
    return (
        '<body>\n<a class="skip" href="#MAIN">Skip to the content</a>\n<div class="wrap">\n'
        '<header class="top" id="TOP">\n<p class="kind">Context pack</p>\n'
        f"<h1>{text(pack.heading)}</h1>\n{brief}"
        '<ul class="chips" aria-label="Status and state of refs">'
        f'<li><span class="badge {pack.status.value}">{pack.status.value}</span></li>{states}</ul>\n'
        + (f'<ul class="chips" aria-label="Tags">{tags}</ul>\n' if tags else "")
        + f"{_about(view, len(cards))}{_attention(cards)}</header>\n"
    )


def _about(view: PackView, refs: int) -> str:
    """The pack's numbers and dates."""
    pack = view.pack
    gone = is_expired(pack.expires_at, view.now)
    left = "expired" if gone else f"{human(remaining_seconds(pack.expires_at, view.now))} left"
    diagrams = sum(len(section.diagrams) for section in pack.sections)
    facts = [
        ("Id", f"<code>{text(pack.id)}</code>"),
        ("Revision", str(pack.revision)),
        ("Updated", _moment(pack.updated_at)),
        ("Expires", f"{_moment(pack.expires_at)} ({left})"),
        ("Holds", f"{counted(refs, 'ref')}, {counted(diagrams, 'diagram')}"),
    ]
    if stale := outdated(pack, view.scopes):
        facts.append(("Stale scopes", text(stale)))
    if pack.name is not None:
        facts.insert(1, ("Name", text(pack.name)))
    rows = "".join(f"<div><dt>{name}</dt><dd>{fact}</dd></div>" for name, fact in facts)
    return f'<dl class="about">{rows}</dl>\n'


def _moment(value: datetime) -> str:
    exact = format_instant(value, whole_seconds=True)
    return f'<time datetime="{exact}">{exact[:10]} {exact[11:16]} UTC</time>'


def _attention(cards: list[RefCard]) -> str:
    """Links to the refs that are changed, ambiguous, stale or unknown."""
    wanting = [item for item in cards if item.needs_attention]
    if not wanting:
        return ""
    rows = "".join(
        f'<li><a href="#{item.id}">{text(item.title)}</a>: {item.resolution.state.value}</li>'
        for item in wanting[:MOST_NAMED]
    )
    more = f"<li>and {len(wanting) - MOST_NAMED} more</li>" if len(wanting) > MOST_NAMED else ""
    verb = "needs" if len(wanting) == 1 else "need"
    return (
        '<div class="attention" role="region" aria-labelledby="ATTENTION">'
        f'<h2 id="ATTENTION">{counted(len(wanting), "ref")} {verb} attention</h2>'
        f"<ul>{rows}{more}</ul></div>\n"
    )


def _contents(chapters: list[Chapter]) -> str:
    """The table of contents."""
    named = sum(len(chapter.parts) for chapter in chapters) <= MOST_NAMED
    rows = "".join(
        f'<li><a href="#{chapter.id}">{text(chapter.section.title)}</a>'
        + (f"<ul>{''.join(map(_entry, chapter.parts))}</ul>" if named and chapter.parts else "")
        + "</li>"
        for chapter in chapters
    )
    return (
        '<nav class="toc" aria-label="Contents"><details open><summary>Contents</summary>'
        f"<ol>{rows}</ol></details></nav>\n"
    )


def _entry(part: RefCard | Figure) -> str:
    """A part in the contents; a ref that is not exact shows its state."""
    if isinstance(part, Figure):
        return f'<li><a href="#{part.id}">{text(part.diagram.title)}</a></li>'
    state = part.resolution.state
    sign = (
        ""
        if state is State.EXACT
        else f' <span class="sign {state.value}"><span aria-hidden="true">{SIGNS[state]}</span>'
        f'<span class="unseen">{state.value}</span></span>'
    )
    return f'<li><a href="#{part.id}">{text(part.title)}{sign}</a></li>'


def _section(chapter: Chapter) -> Iterator[str]:
    """A section: its text, loose refs, groups, diagrams."""
    section = chapter.section
    yield (
        f'<section id="{chapter.id}" aria-labelledby="{chapter.id}-T"><h2 id="{chapter.id}-T">'
        f'<a href="#{chapter.id}">{text(section.title)}</a> '
        f'<code class="key">{text(section.key)}</code></h2>\n'
    )
    if section.description is not None:
        yield f'<div class="prose">{prose(section.description)}</div>\n'
    gathered: str | None = None
    for part in chapter.parts:
        heading = "Diagrams" if isinstance(part, Figure) else part.ref.group and f"Group: {part.ref.group}"
        if heading is not None and heading != gathered:
            yield f"<h3>{text(heading)}</h3>\n"
        gathered = heading
        level = 3 if heading is None else 4
        yield card(part, level) if isinstance(part, RefCard) else figure(part, level)
    yield "</section>\n"
