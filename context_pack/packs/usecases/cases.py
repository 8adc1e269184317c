"""Every use case of packs."""

from __future__ import annotations

from typing import NamedTuple

from context_pack.packs.usecases.draft import PackDrafter
from context_pack.packs.usecases.listing import PackLister
from context_pack.packs.usecases.read import PackReader
from context_pack.packs.usecases.verify import PackVerifier
from context_pack.packs.usecases.write import PackWriter


class PackUseCases(NamedTuple):
    """What is done with packs."""

    lister: PackLister
    reader: PackReader
    writer: PackWriter
    verifier: PackVerifier
    drafter: PackDrafter
