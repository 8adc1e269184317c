"""The call that a thread serves, for whatever waits or works long on its behalf: locks, databases, children.

Nobody has to be handed the call to honour its cancellation and its deadline. A thread that serves none, of
the library, a command or the background, is never told to stop.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

Check = Callable[[], None]


def _unwatched() -> None:
    """Never cancelled: no caller waits."""


CHECK: ContextVar[Check] = ContextVar("check", default=_unwatched)
"""Set while a thread serves a call: raises once that is not wanted any more."""


def check_call() -> None:
    """Return while the call that this thread serves is wanted; else raise what its `check` raises."""
    CHECK.get()()
