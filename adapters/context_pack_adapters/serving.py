"""The call that a thread serves, for whatever waits or works long on its behalf: locks, databases, children.

Nobody has to be handed the call to honour its cancellation and its deadline. A thread that serves none, of
the library, a command or the background, is never told to stop.
"""

from __future__ import annotations

from contextvars import ContextVar

from context_pack.toolkit.call import Check, never_cancelled

CHECK: ContextVar[Check] = ContextVar("check", default=never_cancelled)
"""Set while a thread serves a call: raises once that is not wanted any more."""


def check_call() -> None:
    """Return while the call that this thread serves is wanted; else raise what its `check` raises."""
    CHECK.get()()
