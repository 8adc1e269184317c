"""A ref as a card: its name, the place of its code, its reason, its state, and the code.

The state is told by a word and a sign, never by colour alone. Code is shown only where the resolution has
found it, with the line numbers of the file; every line has an id to link to. The numbers are not part of what
is copied.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve, frozen

from context_pack.kernel.languages import language_of
from context_pack.kernel.sentences import counted
from context_pack.packs.domain.model import CodeLocation, Ref
from context_pack.packs.domain.states import Resolution, State
from context_pack_adapters.page.highlight import highlighted
from context_pack_adapters.page.markup import spans, text

SIGNS: Mapping[State, str] = {
    State.EXACT: "\u2713",
    State.UNANCHORED: "\u25cb",
    State.MOVED: "\u2192",
    State.CHANGED: "\u0394",
    State.AMBIGUOUS: "?",
    State.STALE: "\u2715",
    State.UNKNOWN: "\u2026",
}
MEANINGS: Mapping[State, str] = {
    State.EXACT: "the code stands where the ref says, unchanged",
    State.UNANCHORED: "these lines exist; nothing was stored to check them against",
    State.MOVED: "the same code, now in another place",
    State.CHANGED: "the code is no longer what was anchored",
    State.AMBIGUOUS: "several places fit; none is shown",
    State.STALE: "the code was not found",
    State.UNKNOWN: "it could not be decided where the code is",
}
_MARKS: Mapping[str, str] = {"+": "ins", "-": "del"}
NEED_ATTENTION = frozenset({State.CHANGED, State.AMBIGUOUS, State.STALE, State.UNKNOWN})


@frozen
class RefCard:
    """A ref, what became of it, the code to show if there is any, and its id in the page.

    The code is held, not the file it is in: a pack may point into more files than memory should hold.
    """

    ref: Ref
    resolution: Resolution
    excerpt: str | None
    id: str

    @classmethod
    def of(cls, ref: Ref, resolution: Resolution, id_: str) -> RefCard:
        """The card of a resolved ref."""
        return cls(ref, evolve(resolution, excerpt=None), resolution.excerpt, id_)

    @property
    def title(self) -> str:
        """The title of the ref, else its key."""
        return self.ref.title or self.ref.key

    @property
    def needs_attention(self) -> bool:
        """Whether the code shown is not the code promised, or none is shown."""
        return self.resolution.state in NEED_ATTENTION


def badge(state: State, number: int | None = None) -> str:
    """A state as a word with its sign, perhaps with how many refs are in it."""
    shown = state.value if number is None else f"{number} {state.value}"
    return (
        f'<span class="badge {state.value}" title="{text(MEANINGS[state])}">'
        f'<span aria-hidden="true">{SIGNS[state]}</span> {shown}</span>'
    )


def card(item: RefCard, level: int) -> str:
    """The whole card; `level` is its heading's."""
    ref, resolution = item.ref, item.resolution
    parts = [
        f'<article class="ref {resolution.state.value}" id="{item.id}" aria-labelledby="{item.id}-T">',
        f'<header><h{level} id="{item.id}-T"><a href="#{item.id}">{text(item.title)}</a></h{level}>',
        f"{badge(resolution.state)}</header>",
        _facts(ref, resolution),
        _warning(resolution),
        _code(item),
        _diff(item),
        _former(item),
        "</article>\n",
    ]
    return "".join(parts)


def _facts(ref: Ref, resolution: Resolution) -> str:
    """Key, path, lines, both as editors take them (one click marks all of it, to be copied), and reason."""
    found = resolution.found or CodeLocation(ref.path, ref.lines)
    rows = [("Ref", f"<code>{text(ref.key)}</code>")] if ref.title is not None else []
    rows.append(("Path", _moved(str(found.path), str(ref.path))))
    rows.append(("Lines", _moved(str(found.lines), str(ref.lines))))
    rows.append(("Open", f'<code class="place">{text(f"{found.path}:{found.lines}")}</code>'))
    if ref.why is not None:
        rows.append(("Why", spans(ref.why)))
    return f'<dl class="facts">{"".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows)}</dl>'


def _moved(now: str, before: str) -> str:
    """Where something is, and where it was if that was elsewhere."""
    was = f' <span class="was">(moved from <code>{text(before)}</code>)</span>' if now != before else ""
    return f"<code>{text(now)}</code>{was}"


def _warning(resolution: Resolution) -> str:
    """The warning above the code, or in place of it."""
    if resolution.state is State.CHANGED:
        words = "This code has changed since the ref was anchored. What follows are the current lines."
        much = f" Changed: {text(str(resolution.difference))}." if resolution.difference is not None else ""
        return f'<p class="warning" role="note"><strong>Changed.</strong> {words}{much}</p>'
    if resolution.found is None:
        name = resolution.state.value.capitalize()
        reason = text((resolution.reason or "the code was not found").removeprefix("ambiguous, "))
        return f'<p class="warning" role="note"><strong>{name} ref, no code shown:</strong> {reason}</p>'
    return ""


def _code(item: RefCard) -> str:
    """The excerpt, with the file's line numbers."""
    found = item.resolution.found
    if item.excerpt is None or found is None:
        return ""
    language = language_of(str(found.path))
    lines = highlighted(item.excerpt, language)
    rows = "".join(_line(item.id, found.lines.start + index, line) for index, line in enumerate(lines))
    about = counted(len(lines), "line") + (f" of {text(language)}" if language else "")
    digits = len(str(found.lines.end))
    return (
        f'<details class="code" open><summary>{about}</summary>'
        f'<pre tabindex="0" aria-label="Code of {text(item.title)}" style="--digits:{digits}ch">'
        f"<code>{rows}</code></pre></details>"
    )


def _diff(item: RefCard) -> str:
    """The diff since the ref was anchored, collapsed until opened."""
    if item.resolution.difference is None:
        return ""
    rows = "".join(
        f"<{name}>{text(line)}</{name}>\n" if (name := _MARKS.get(line[:1])) else f"{text(line)}\n"
        for line in item.resolution.difference.diff
    )
    return (
        '<details class="code diff"><summary>What changed since it was anchored</summary>'
        f'<pre tabindex="0" aria-label="Changes of {text(item.title)}"><code>{rows}</code></pre></details>'
    )


def _former(item: RefCard) -> str:
    """What a ref was anchored to whose code is not found."""
    former = item.resolution.former
    if former is None:
        return ""
    rows = "".join(
        f"{line}\n" for line in highlighted("\n".join(former.lines), language_of(str(item.ref.path)))
    )
    return (
        '<details class="code former"><summary>What it was when it was anchored; it is nowhere now</summary>'
        f'<pre tabindex="0" aria-label="Former code of {text(item.title)}"><code>{rows}</code></pre>'
        "</details>"
    )


def _line(id_: str, number: int, markup: str) -> str:
    """One line; the link in front of it is for the mouse, so that Tab does not stop at each."""
    name = f"{id_}-L{number}"
    return f'<span class="l" id="{name}"><a href="#{name}" tabindex="-1">{number}</a>{markup}\n</span>'
