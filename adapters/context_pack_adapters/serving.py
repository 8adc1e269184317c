"""The call that a thread serves, for whatever waits or works long on its behalf: locks, databases, children.

Nobody has to be handed the call to honour its cancellation and its deadline. A thread that serves none, of
the library, a command or the background, is never told to stop.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, Token

Check = Callable[[], None]


def _unwatched() -> None:
    """Never cancelled: no caller waits."""


_check: ContextVar[Check] = ContextVar("check", default=_unwatched)


def begin_serving(check: Check) -> Token[Check]:
    """Serve a call in this thread; `check` raises once it is not wanted any more."""
    return _check.set(check)


def end_serving(begun: Token[Check]) -> None:
    """Serve none any more."""
    _check.reset(begun)


def check_call() -> None:
    """Return while the call that this thread serves is wanted; else raise what its `check` raises."""
    _check.get()()
