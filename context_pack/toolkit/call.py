"""The running call as a tool sees it: cancellation, progress, and work for after the reply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from attrs import define, field


class Cancelled(Exception):
    """The caller has withdrawn the call: stop, leave nothing half done, send nothing."""


class Call(Protocol):
    """What a tool may ask of the call it serves."""

    @property
    def request_id(self) -> str | int | None:
        """The JSON-RPC id, or None for a library call."""

    @property
    def waited(self) -> float:
        """Seconds since the call was received; what has a time limit counts from there."""

    def check(self) -> None:
        """Return at once while the call is wanted.

        Raises:
            Cancelled: the caller has withdrawn it.
        """

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Tell the caller how far the work is; cheap, may be called often, drops what nobody asked for."""

    def after(self, work: Callable[[], None]) -> None:
        """Do `work` once the reply has gone; it never delays or fails the reply."""


@define
class QuietCall:
    """A call nobody watches: for the library, the command line and tests."""

    request_id: str | int | None = None
    later: list[Callable[[], None]] = field(factory=list)
    waited: float = 0.0

    def check(self) -> None:
        """Never cancelled."""

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Nobody listens."""

    def after(self, work: Callable[[], None]) -> None:
        """Keep the work for `settle`."""
        self.later.append(work)

    def settle(self) -> None:
        """Do what was left for after the reply."""
        while self.later:
            self.later.pop(0)()
