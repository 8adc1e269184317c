"""Every use case of packs."""

from __future__ import annotations

from typing import NamedTuple

from context_pack.kernel.ports import Clock, SourceTree
from context_pack.kernel.syntax import Syntax
from context_pack.packs.draft import PackDrafter
from context_pack.packs.listing import PackLister
from context_pack.packs.ports import DiagramCheck, Excerpts, ExcerptStore, PackHistory, PackStore
from context_pack.packs.read import PackReader
from context_pack.packs.verify import PackVerifier
from context_pack.packs.write import PackWriter

Access = tuple[PackStore, SourceTree, Clock, int, Syntax, ExcerptStore, float]
"""The first fields of all of them but the lister: packs, and the code that they are about."""


class PackUseCases(NamedTuple):
    """What is done with packs."""

    lister: PackLister
    reader: PackReader
    writer: PackWriter
    verifier: PackVerifier
    drafter: PackDrafter

    @classmethod
    def over(
        cls,
        lister: PackLister,
        own: Access,
        readable: Access,
        *,
        history: PackHistory | None,
        diagrams: DiagramCheck | None,
        passages: Excerpts,
    ) -> PackUseCases:
        """All of them: what can be read may be more than the packs of one's own."""
        return cls(
            lister,
            PackReader(*readable, history),
            PackWriter(*own, diagrams),
            PackVerifier(*own),
            PackDrafter(*own, passages=passages),
        )
