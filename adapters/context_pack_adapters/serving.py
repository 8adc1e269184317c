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


class serving:
    """Serve a call in this thread; `check` raises once it is not wanted any more."""

    __slots__ = ("_given", "_token")

    def __init__(self, check: Check) -> None:
        self._given = check

    def __enter__(self) -> None:
        self._token: Token[Check] = _check.set(self._given)

    def __exit__(self, *_: object) -> None:
        _check.reset(self._token)


def check_call() -> None:
    """Return while the call that this thread serves is wanted; else raise what its `check` raises."""
    _check.get()()
