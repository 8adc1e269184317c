"""Every use case of packs, each loaded when it is first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from context_pack.packs.usecases.draft import PackDrafter
    from context_pack.packs.usecases.listing import PackLister
    from context_pack.packs.usecases.read import PackReader
    from context_pack.packs.usecases.verify import PackVerifier
    from context_pack.packs.usecases.write import PackWriter


class PackUseCases(Protocol):
    """What is done with packs."""

    @property
    def lister(self) -> PackLister:
        """Lists packs."""

    @property
    def reader(self) -> PackReader:
        """Reads packs with their code."""

    @property
    def writer(self) -> PackWriter:
        """Makes and changes packs."""

    @property
    def verifier(self) -> PackVerifier:
        """Checks and repairs refs."""

    @property
    def drafter(self) -> PackDrafter:
        """Makes packs that answer a question."""
