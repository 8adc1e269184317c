"""Failures as `{"error": text, …}`: the shape that the families of the code contract share.

The text is the failure's own words where the contract gives them. Two rules make the rest: a failure about
arguments (its details name a field) is "Invalid parameters" with each fault by path, and a failure about a
path says which path was given. Everything else carries its details beside the text, and what is not the
caller's doing names the tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from context_pack.kernel.errors import Code, Failure
from context_pack.toolkit.spec import Answer, FailedCall, json_answer

INVALID_PARAMETERS = "Invalid parameters"
ABOUT_A_PATH = frozenset(
    {
        Code.ABSOLUTE_PATH,
        Code.PATH_TRAVERSAL,
        Code.PERMISSION_DENIED,
        Code.NOT_FOUND,
        Code.NOT_TEXT,
        Code.TOO_LARGE,
    }
)
OUR_OWN_FAULT = frozenset({Code.INTERNAL, Code.IO_ERROR})
SHOWN_PATH_CHARS = 4096


def worded_error(failure: Failure, failed: FailedCall) -> Answer:
    """A failure as an answer in that shape."""
    return json_answer(worded(failure, failed), is_error=True)


def worded(failure: Failure, failed: FailedCall) -> dict[str, Any]:
    """A failure as an object in that shape."""
    details = dict(failure.details)
    if failure.code is Code.INVALID_DATA and ("problems" in details or "field" in details):
        return {"error": INVALID_PARAMETERS, "details": _faults(failure)}
    if failure.code in ABOUT_A_PATH:
        details.pop("field", None)
        return {"error": failure.message, **_given(failed.arguments), **details}
    if failure.code is Code.RATE_LIMITED:
        details.pop("limit", None)
    if failure.code in OUR_OWN_FAULT:
        return {"error": failure.message, "tool": failed.tool, **details}
    return {"error": failure.message, **details}


def _faults(failure: Failure) -> list[dict[str, Any]]:
    """The faults of the arguments, each with its path."""
    problems = failure.details.get("problems")
    if problems:
        return [dict(problem) for problem in problems]
    return [{"path": f"$.{failure.details['field']}", "message": failure.message}]


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The path as the caller wrote it."""
    path = arguments.get("path")
    return {"path": path[:SHOWN_PATH_CHARS]} if isinstance(path, str) else {}
