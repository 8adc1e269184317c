"""The memory family: errors are `{"error": text, …}`, and a search that fails inside names its fallback."""

from __future__ import annotations

from context_pack.kernel.errors import Code, Failure
from context_pack.toolkit.spec import Answer, FailedCall, Family, json_answer, worded_error

SEARCH = "context_search"
SEARCH_FAILED = "Search failed"
FALLBACK = "Try using grep_codebase for text search"
_INSIDE = frozenset({Code.INTERNAL, Code.IO_ERROR, Code.LOCK_TIMEOUT, Code.MALFORMED_DISCOVERY})


def memory_error(failure: Failure, failed: FailedCall) -> Answer:
    """A failure as the tools of this family word it."""
    if failed.tool == SEARCH and failure.code in _INSIDE:
        body = {"error": SEARCH_FAILED, "message": failure.message, "fallback": FALLBACK, **failure.details}
        return json_answer(body, is_error=True)
    return worded_error(failure, failed)


FAMILY = Family("memory", memory_error)
