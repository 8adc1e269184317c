"""The call that a thread serves, for whatever waits or works long on its behalf: locks, databases, children.

Nobody has to be handed the call to honour its cancellation and its deadline. A thread that serves none, of
the library, a command or the background, is never told to stop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Check = Callable[[], None]


def _unwatched() -> None:
    """Nobody waits, so nobody stops waiting."""


_check: ContextVar[Check] = ContextVar("check", default=_unwatched)


@contextmanager
def serving(check: Check) -> Iterator[None]:
    """Serve a call in this thread; `check` raises once it is not wanted any more."""
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def check_call() -> None:
    """Return while the call that this thread serves is wanted; what its `check` raises otherwise."""
    _check.get()()
