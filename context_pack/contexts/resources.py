"""Contexts as MCP resources: `context://scope/{path}`, the context and its freshness as JSON.

Listed are the root and the folders directly in it that have a context: a list must not walk a large tree.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import quote, unquote

from context_pack.contexts.model import ROOT_SCOPE, ContextSummary
from context_pack.contexts.queries import CheckFreshness, ContextQueries, QueryContext, RefusedQuery, gist_of
from context_pack.kernel.ports import Reason
from context_pack.toolkit.offers import ResourceEntry, ResourceFamily, ResourceText

PREFIX = "context://scope/"
TITLE = "Directory context"
ABOUT = "What a folder holds (its .context.yaml) and whether that is still true, as JSON."
MIME = "application/json"
MOST_LISTED = 200


def build(queries: ContextQueries) -> ResourceFamily:
    """The resources over these use cases."""
    return ResourceFamily(
        prefix=PREFIX,
        uri_template=PREFIX + "{path}",
        name="scope",
        title=TITLE,
        description=ABOUT,
        mime_type=MIME,
        entries=lambda: list(_entries(queries)),
        read=lambda uri: _read(queries, uri),
    )


def _entries(queries: ContextQueries) -> Iterator[ResourceEntry]:
    project = queries.projects.open(None)
    if isinstance(project, Reason):
        return
    for scope in [ROOT_SCOPE, *project.inside(ROOT_SCOPE)][:MOST_LISTED]:
        folder = project.find(scope)
        gist = None if isinstance(folder, Reason) else gist_of(folder)
        if isinstance(gist, ContextSummary):
            yield ResourceEntry(PREFIX + quote(scope), scope, TITLE, gist.summary, MIME)


def _read(queries: ContextQueries, uri: str) -> ResourceText | None:
    """The context of that URI with its freshness; None when there is none."""
    scope = unquote(uri.removeprefix(PREFIX))
    found = queries.query(QueryContext(scope=scope))
    checked = queries.check(CheckFreshness(scope=scope))
    if isinstance(found, RefusedQuery) or isinstance(checked, RefusedQuery):
        return None
    state = checked.freshness.state.value
    body = {"scope": scope, "state": state, "context": found.context}
    return ResourceText(uri, json.dumps(body, ensure_ascii=False, indent=2), MIME)
