"""What the pack use cases ask of the world, and what they are told by whoever runs them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from attrs import frozen

from context_pack.packs.domain.model import Pack

Waiting = Callable[[], None]
"""Asked again and again while the store waits for a lock; what it raises ends the wait, with nothing done."""


def patiently() -> None:
    """For callers that wait as long as it takes."""


class PackStore(Protocol):
    """Where packs live. Every method sees only live packs: an expired one is not there.

    Reads take no lock. Raises `Failure` only: `not_found`, `name_conflict`, `lock_timeout`, `io_error`,
    `malformed_pack`, `migration_required`; what `change` raises passes through and leaves the pack as it was.
    """

    def create(self, make: Callable[[str], Pack], name: str | None, waiting: Waiting = patiently) -> Pack:
        """Store the pack that `make` builds for a fresh id, if `name` is free among live packs."""

    def get(self, pack_id: str) -> Pack:
        """The pack with that id."""

    def find(self, name: str) -> Pack:
        """The live pack with exactly that name."""

    def all(self) -> Sequence[Pack]:
        """Every live pack, in no particular order; fails closed when one file is malformed."""

    def update(self, pack_id: str, change: Callable[[Pack], Pack], waiting: Waiting = patiently) -> Pack:
        """One read-modify-write under the pack's lock; returns what is now stored.

        A `change` that returns an equal pack writes nothing.
        """

    def delete(self, pack_id: str, check: Callable[[Pack], None], waiting: Waiting = patiently) -> None:
        """Remove the pack under its lock, after `check` has accepted it."""


@frozen
class PackSettings:
    """What whoever runs the feature decides: how large a source file may be."""

    max_source_bytes: int = 2 * 1024 * 1024
