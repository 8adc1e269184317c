"""Optimistic concurrency: a writer names the revision it has seen, and loses if another was faster."""

from __future__ import annotations

from context_pack.kernel.errors import Code, Failure

FIRST = 1


def check_revision(expected: int, actual: int, updated_at: str) -> None:
    """Return only if the caller has seen the latest revision.

    Raises:
        Failure: `revision_conflict`, with both revisions, the time of the last change and what to do.
    """
    if expected == actual:
        return
    raise Failure(
        Code.REVISION_CONFLICT,
        f"the revision is {actual}, not {expected}; read it again and repeat the change",
        {
            "expected_revision": expected,
            "actual_revision": actual,
            "updated_at": updated_at,
            "hint": f"read the latest state, then repeat with expected_revision {actual}",
        },
    )
