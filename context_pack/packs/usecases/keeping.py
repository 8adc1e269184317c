"""Which anchored texts are kept: those that a pack names, from before it is written until none does."""

from __future__ import annotations

from collections.abc import Iterable

from context_pack.kernel.errors import Failure
from context_pack.packs.domain.model import Pack
from context_pack.packs.ports import ExcerptStore, PackStore


def digests_of(*packs: Pack) -> set[str]:
    """The digests of the texts that packs name."""
    return {ref.anchor.digest for pack in packs for _, ref in pack.refs if ref.anchor is not None}


def forget(store: PackStore, excerpts: ExcerptStore, digests: Iterable[str]) -> None:
    """Remove those of these texts that no pack names; none while the packs cannot be read."""
    candidates = set(digests)
    if not candidates:
        return
    try:
        excerpts.remove(candidates - digests_of(*store.all()))
    except Failure:
        return
