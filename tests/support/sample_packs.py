"""Packs to store in tests, small and full."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from context_pack.kernel.paths import RelativePath
from context_pack.kernel.text import LineRange
from context_pack.packs.anchors import Anchor
from context_pack.packs.model import Diagram, Pack, Ref, Section, Status

NOON = datetime(2026, 3, 4, 12, 0, 0, tzinfo=UTC)


def sample_pack(
    pack_id: str = "pk_abcdefgh", now: datetime = NOON, minutes: float = 60, **fields: Any
) -> Pack:
    """A draft without content, made `now`."""
    facts: dict[str, Any] = {
        "id": pack_id,
        "status": Status.DRAFT,
        "tags": (),
        "sections": (),
        "revision": 1,
        "created_at": now,
        "updated_at": now,
        "expires_at": now + timedelta(minutes=minutes),
    }
    return Pack(**{**facts, **fields})


def maker(now: datetime = NOON, minutes: float = 60, **fields: Any) -> Callable[[str], Pack]:
    """What a store's `create` takes: builds the pack once the id is known."""
    return lambda pack_id: sample_pack(pack_id, now, minutes, **fields)


def full_section(key: str = "flow") -> Section:
    """A section with everything a section can have."""
    anchor = Anchor("0" * 64, 26)
    refs = (
        Ref(
            "entry",
            RelativePath("src/auth/handler.rs"),
            LineRange(42, 67),
            "Entry",
            "Main door",
            "core",
            anchor,
        ),
        Ref("plain", RelativePath("docs/no anchor.md"), LineRange(1, 1)),
    )
    diagram = Diagram("graph", "Who calls whom", "graph TD\n  A-->B\n  %% --- not a fence", "To see it")
    return Section(key, "The flow: step by step", "    code()\n\nFirst.\n\n---\nThen.", refs, (diagram,))


def full_pack(pack_id: str = "pk_abcdefgh", now: datetime = NOON, **fields: Any) -> Pack:
    """A pack with everything a pack can have."""
    content = {"title": "yes", "brief": "1.10", "tags": ("on", "auth"), "sections": (full_section(),)}
    return sample_pack(pack_id, now, **{**content, **fields})
