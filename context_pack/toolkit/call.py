"""The running call as a tool sees it: cancellation and progress.

Whatever waits or works long on behalf of a call (locks, databases, children) honours its cancellation and its
deadline by `check_call`, without being handed it. A thread that serves none is never told to stop.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Protocol

from attrs import frozen

from context_pack.kernel.errors import Code, Failure
from context_pack.toolkit.limits import DEFAULT_MAX_TOKENS

SMALLER = "ask for less (a smaller folder, fewer names), or raise CONTEXT_PACK_CALL_SECONDS"


Check = Callable[[], None]
"""Returns while the caller still wants the answer, raises when not."""


def never_cancelled() -> None:
    """The check of a caller who never cancels."""


CHECK: ContextVar[Check] = ContextVar("check", default=never_cancelled)
"""Set while a thread serves a call: raises once that is not wanted any more."""


def check_call() -> None:
    """Return while the call that this thread serves is wanted; else raise what its `check` raises."""
    CHECK.get()()


class Cancelled(Exception):
    """The call was cancelled: stop, leave nothing half done, send nothing."""


class Overdue(Cancelled):
    """The call is past its deadline: stop as if cancelled; the caller gets a timeout error."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds

    def failure(self) -> Failure:
        """The failure that is sent to the caller."""
        words = f"the call took longer than {self.seconds:g} s and was given up: {SMALLER}"
        return Failure(Code.TIMED_OUT, words, {"seconds": self.seconds, "hint": SMALLER})


class Call(Protocol):
    """What a tool may ask of the call it serves."""

    @property
    def request_id(self) -> str | int | None:
        """The JSON-RPC id, or None for a library call."""

    @property
    def waited(self) -> float:
        """Seconds since the call was received; what has a time limit counts from there."""

    @property
    def page_tokens(self) -> int:
        """The largest answer in tokens that the client shows, unless the arguments say otherwise."""

    def check(self) -> None:
        """Return while the call is wanted; raise once it was cancelled or is overdue.

        Raises:
            Cancelled: the caller has withdrawn it.
            Overdue: it takes longer than it may.
        """

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Send progress to the caller; cheap, may be called often, dropped if not asked for."""


@frozen
class QuietCall:
    """A call without progress: for the library, the command line, and what features ask of each other.

    `wanted` returns while the caller still wants the answer, and raises when not.
    """

    request_id: str | int | None = None
    waited: float = 0.0
    page_tokens: int = DEFAULT_MAX_TOKENS
    wanted: Check = never_cancelled

    def check(self) -> None:
        """Ask whether it is still wanted."""
        self.wanted()

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Ignore the progress."""
