"""Every use case of packs."""

from __future__ import annotations

from typing import NamedTuple

from context_pack.packs.draft import PackDrafter
from context_pack.packs.listing import PackLister
from context_pack.packs.read import PackReader
from context_pack.packs.verify import PackVerifier
from context_pack.packs.write import PackWriter


class PackUseCases(NamedTuple):
    """What is done with packs."""

    lister: PackLister
    reader: PackReader
    writer: PackWriter
    verifier: PackVerifier
    drafter: PackDrafter
