"""An export as a Mermaid flowchart: a box per entity, an arrow per reference, targets marked.

Texts are foreign: everything in a label that is not a plain character is written as a character code, so that
no title can change the diagram. A pack holds a diagram of up to `MOST_CHARS` characters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from context_pack.bundles.model import Edge, Entity

MOST_CHARS = 50_000
_LONGEST_LABEL = 60
_SPECIAL = re.compile(r"[^\w .,:/()+'-]")


def mermaid(targets: Sequence[Entity], dependencies: Sequence[Entity], edges: Sequence[Edge]) -> str:
    """The diagram of an export."""
    entities = [*targets, *dependencies]
    names = {entity.id: f"e{number}" for number, entity in enumerate(entities)}
    lines = ["flowchart LR", *(f'  {names[entity.id]}["{_box(entity)}"]' for entity in entities)]
    for (source, target), labels in _joined(edges).items():
        lines.append(f'  {names[source]} -->|"{_label(", ".join(labels))}"| {names[target]}')
    lines.append("  classDef target stroke-width:3px")
    lines.append(f"  class {','.join(names[entity.id] for entity in targets)} target")
    return "\n".join(lines) + "\n"


def _joined(edges: Sequence[Edge]) -> dict[tuple[str, str], list[str]]:
    """One arrow for all fields that lead from one entity to the same other."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for edge in edges:
        arrows.setdefault((edge.source.id, edge.target.id), []).append(edge.field.display_name)
    return arrows


def _box(entity: Entity) -> str:
    head = _label(f"{entity.type} {entity.id}")
    return head if entity.title == entity.id else f"{head}<br/>{_label(entity.title)}"


def _label(text: str) -> str:
    line = " ".join(text.split())
    if len(line) > _LONGEST_LABEL:
        line = line[: _LONGEST_LABEL - 1] + "…"
    return _SPECIAL.sub(lambda found: f"#{ord(found[0])};", line) or " "
