"""The tools `list_contexts`, `check_freshness` and `query_context`, and contexts as resources.

The shapes are those of the format's first tool, with a few added fields. Each tool refuses in its own shape,
whatever the cause: bad arguments look like a missing context with another error.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, unquote

from context_pack.contexts.fingerprint import FreshnessState
from context_pack.contexts.model import ROOT_SCOPE, ContextSummary
from context_pack.contexts.queries import (
    CheckedContext,
    CheckFreshness,
    ContextPart,
    ContextQueries,
    FolderListing,
    ListContexts,
    ListedFolder,
    NoContext,
    QueryContext,
    gist_of,
)
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.ports import Reason
from context_pack.toolkit.call import Call
from context_pack.toolkit.offers import ResourceEntry, ResourceFamily, ResourceText
from context_pack.toolkit.spec import Answer, FailedCall, Family, Tool, json_answer, shape, tool

Body = dict[str, Any]

LIST_ABOUT = """\
List the folders that have, or should have, a .context.yaml (what the folder holds, decisions, constraints), \
each fresh, stale or missing. Call this first to discover scopes."""
CHECK_ABOUT = "Check whether a folder's .context.yaml is fresh, stale (the files changed since) or missing."
QUERY_ABOUT = """\
Read a folder's .context.yaml: summary, files, interfaces, decisions, constraints, dependencies, … \
or only the fields in filter."""

LIST_ANSWER = shape(
    root="text", total_directories="whole", skipped_directories="whole", tracked="whole", warnings="whole",
    entries="rows", error="text", reason="text",
)  # fmt: skip
CHECK_ANSWER = shape(
    scope="text", state="text", fingerprint="object", last_updated="text", error="text", reason="text"
)
QUERY_ANSWER = shape(
    found="flag", scope="text", context="object", unknown_fields="texts", error="text", reason="text"
)


def build(queries: ContextQueries) -> tuple[Tool, ...]:
    """The three tools over these use cases."""

    def listing(command: ListContexts, _: Call) -> Answer:
        return json_answer(listing_body(queries.list(command)))

    def checking(command: CheckFreshness, _: Call) -> Answer:
        return json_answer(freshness_body(command.scope, queries.check(command)))

    def querying(command: QueryContext, _: Call) -> Answer:
        return json_answer(context_body(command.scope, queries.query(command)))

    long: dict[str, Any] = {"long_answers": True, "tolerant": True}
    return (
        tool(
            "list_contexts", "List directory contexts", LIST_ABOUT, _family(list_refusal), ListContexts,
            listing, output_schema=LIST_ANSWER, **long,
        ),
        tool(
            "check_freshness", "Check a context's freshness", CHECK_ABOUT, _family(check_refusal),
            CheckFreshness, checking, output_schema=CHECK_ANSWER, tolerant=True,
            search_hint="is the context stale: is what a folder's context says still true",
        ),
        tool(
            "query_context", "Read a directory context", QUERY_ABOUT, _family(query_refusal), QueryContext,
            querying, output_schema=QUERY_ANSWER, **long,
        ),
    )  # fmt: skip


def listing_body(listing: FolderListing) -> Body:
    """A list as JSON."""
    return {
        "root": listing.root,
        "total_directories": len(listing.entries),
        "skipped_directories": listing.skipped,
        "tracked": listing.tracked,
        "warnings": listing.warnings,
        "entries": [entry_body(entry) for entry in listing.entries],
    }


def entry_body(entry: ListedFolder) -> Body:
    """One folder of a list as JSON."""
    body: Body = {"scope": entry.scope, "state": entry.state.value, "has_context": entry.has_context}
    if entry.has_context:
        body["last_updated"], body["summary"] = entry.last_updated, entry.summary
    if entry.reason is not None:
        body["reason"] = entry.reason
    return body


def freshness_body(scope: str, checked: CheckedContext) -> Body:
    """A freshness as JSON."""
    freshness = checked.freshness
    body: Body = {
        "scope": scope,
        "state": freshness.state.value,
        "fingerprint": {
            "stored": freshness.stored,
            "computed": freshness.computed,
            "method": freshness.method.value,
        },
        "last_updated": checked.last_updated,
    }
    return {**body, "warnings": checked.warnings} if checked.warnings else body


def context_body(scope: str, part: ContextPart) -> Body:
    """A context as JSON."""
    context = dict(part.context)
    if "derived_fields" in context:  # which fields were generated; their digests are for `contexts refresh`
        context["derived_fields"] = [name.partition(" ")[0] for name in context["derived_fields"]]
    body: Body = {"found": True, "scope": scope, "context": context}
    return {**body, "unknown_fields": list(part.unknown)} if part.unknown else body


def list_refusal(arguments: Mapping[str, Any]) -> Body:
    """The fields beside the message in an error of `list_contexts`."""
    root = {"root": _given(arguments, "path"), "total_directories": 0, "skipped_directories": 0}
    return {**root, "tracked": 0, "entries": []}


def check_refusal(arguments: Mapping[str, Any]) -> Body:
    """The fields beside the message in an error of `check_freshness`."""
    return {"scope": _given(arguments, "scope"), "state": FreshnessState.MISSING.value}


def query_refusal(arguments: Mapping[str, Any]) -> Body:
    """The fields beside the message in an error of `query_context`."""
    return {"found": False, "scope": _given(arguments, "scope")}


def _given(arguments: Mapping[str, Any], name: str) -> str:
    value = arguments.get(name)
    return value if isinstance(value, str) else ""


def _family(shape: Callable[[Mapping[str, Any]], Body]) -> Family:
    """The family's errors in one tool's shape."""

    def error(failure: Failure, failed: FailedCall) -> Answer:
        words, fields = failure.message, shape(failed.arguments)
        more = {name: value for name, value in failure.details.items() if name != "root" or name in fields}
        if failure.code is Code.INVALID_DATA:
            words = f"Invalid arguments: {words}"
            more = {"details": more["problems"]} if "problems" in more else {}
        return json_answer({**fields, "error": words, **more}, is_error=True)

    return Family("contexts", error)


PREFIX, JSON = "context://scope/", "application/json"
MOST_LISTED = 200


def resources(queries: ContextQueries) -> ResourceFamily:
    """Contexts with their state as JSON; listed are the root and the folders directly in it."""

    def entries() -> list[ResourceEntry]:
        project = queries.projects.open(None)
        listed: list[ResourceEntry] = []
        if isinstance(project, Reason):
            return listed
        for scope in [ROOT_SCOPE, *project.top()][:MOST_LISTED]:
            folder = project.find(scope)
            gist = None if isinstance(folder, Reason) else gist_of(folder)
            if isinstance(gist, ContextSummary):
                listed.append(ResourceEntry(PREFIX + quote(scope), scope, title, gist.summary, JSON))
        return listed

    def read(uri: str) -> ResourceText | None:
        scope = unquote(uri.removeprefix(PREFIX))
        try:
            answer = queries.query(QueryContext(scope=scope))
            checked = queries.check(CheckFreshness(scope=scope))
        except NoContext:
            return None
        body = {"scope": scope, "state": checked.freshness.state.value, "context": answer.context}
        return ResourceText(uri, json.dumps(body, ensure_ascii=False, indent=2), JSON)

    title, about = "Directory context", "What a folder holds, and whether that is still true."
    return ResourceFamily(PREFIX, f"{PREFIX}{{path}}", "scope", title, about, JSON, entries, read)
