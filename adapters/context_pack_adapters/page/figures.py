"""Diagrams as figures: a picture for light paper, perhaps one for a dark page, and always the source.

Pictures are images in data addresses: browsers run nothing in them and load nothing for them. Where there is
no picture, the source stands in its place and a note says how to get one.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence

from attrs import frozen

from context_pack.packs.domain.model import Diagram
from context_pack_adapters.page import mermaid
from context_pack_adapters.page.drawing import Undrawn, draw
from context_pack_adapters.page.markup import spans, text
from context_pack_adapters.page.svg import Picture, Unsafe, harmless

# A picture is not made smaller than this share of its natural size; the frame scrolls instead.
LEAST_SHARE = 0.55
# Paper stays white, whatever the screen.
DARK_SCREEN = "screen and (prefers-color-scheme: dark)"


@frozen
class Figure:
    """A diagram with its pictures, or the reason why it has none, and its id in the page."""

    diagram: Diagram
    id: str
    light: Picture | Undrawn
    dark: Picture | None = None


def figures(diagrams: Sequence[tuple[Diagram, str]]) -> list[Figure]:
    """Every diagram drawn, if it can be."""
    lights = [
        _picture(answer) for answer in draw([mermaid.light(diagram.mermaid) for diagram, _ in diagrams])
    ]
    wanted = {
        index: source
        for index, (diagram, _) in enumerate(diagrams)
        if isinstance(lights[index], Picture) and (source := mermaid.dark(diagram.mermaid)) is not None
    }
    answers = map(_picture, draw(list(wanted.values())))
    darks = {
        index: answer for index, answer in zip(wanted, answers, strict=True) if isinstance(answer, Picture)
    }
    return [
        Figure(diagram, id_, lights[index], darks.get(index)) for index, (diagram, id_) in enumerate(diagrams)
    ]


def _picture(answer: str | Undrawn) -> Picture | Undrawn:
    """A drawing made harmless."""
    if isinstance(answer, Undrawn):
        return answer
    try:
        return harmless(answer)
    except Unsafe as error:
        return Undrawn(str(error))


def figure(item: Figure, level: int) -> str:
    """The whole figure; `level` is its heading's."""
    diagram = item.diagram
    why = f'<p class="why">{spans(diagram.why)}</p>' if diagram.why is not None else ""
    return (
        f'<figure class="diagram" id="{item.id}">'
        f'<figcaption><h{level}><a href="#{item.id}">{text(diagram.title)}</a></h{level}>{why}</figcaption>'
        f"{_shown(item)}</figure>\n"
    )


def _shown(item: Figure) -> str:
    """The picture and its source, or a note and its source."""
    drawn = isinstance(item.light, Picture)
    source = (
        f'<details class="code"{"" if drawn else " open"}><summary>Mermaid source</summary>'
        f'<pre tabindex="0"><code>{text(item.diagram.mermaid)}</code></pre></details>'
    )
    if isinstance(item.light, Undrawn):
        reason = text(item.light.reason)
        return f'<p class="warning" role="note"><strong>Not drawn:</strong> {reason}</p>{source}'
    size = f'width="{item.light.width}" height="{item.light.height}"'
    least = f"min-width:{round(item.light.width * LEAST_SHARE)}px"
    dark = "" if item.dark is None else f'<source media="{DARK_SCREEN}" srcset="{_address(item.dark)}">'
    paper = "drawing" if item.dark is not None else "drawing paper"
    name = text(item.diagram.title)
    return (
        f'<div class="{paper}" tabindex="0" role="group" aria-label="Diagram: {name}"><picture>{dark}'
        f'<img src="{_address(item.light)}" {size} style="{least}" alt="{name}; its Mermaid source follows">'
        f"</picture></div>{source}"
    )


def _address(picture: Picture) -> str:
    return f"data:image/svg+xml;base64,{b64encode(picture.svg.encode()).decode('ascii')}"
