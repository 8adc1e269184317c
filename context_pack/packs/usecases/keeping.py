"""Which excerpts are kept: those that a pack names, from before it is written until none does."""

from __future__ import annotations

from collections.abc import Iterable

from context_pack.kernel.errors import Failure
from context_pack.packs.domain.model import Pack
from context_pack.packs.ports import ExcerptStore, PackStore


def digests_of(*packs: Pack) -> set[str]:
    """The digests of the texts that packs name."""
    return {ref.anchor.digest for pack in packs for _, ref in pack.refs if ref.anchor is not None}


def forget(store: PackStore, excerpts: ExcerptStore, digests: Iterable[str]) -> None:
    """Remove those of these texts, and of the forgotten ones, that no pack names, expired or not.

    Nothing is removed while the packs cannot be read, and nothing is looked at unless a text was dropped.
    """
    candidates = set(digests)
    if not candidates:
        return
    try:
        named = digests_of(*store.all(), *store.expired())
        excerpts.remove({*candidates, *excerpts.idle()} - named)
    except Failure:
        return
