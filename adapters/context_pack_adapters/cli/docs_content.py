"""The commands about what document collections hold: sync, search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import click

from context_pack.documents.model import Changes, Collection, Failed, Outcome
from context_pack.documents.shelf import sync_all, under_every_name
from context_pack.documents.tools import outcome_body
from context_pack.kernel.errors import Failure
from context_pack.retrieval.model import Scope
from context_pack.retrieval.ports import EmbedderFailed
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command, flag
from context_pack_adapters.cli.names import COLLECTION
from context_pack_adapters.cli.words import body_of
from context_pack_adapters.library.features import Documents

NO_COLLECTIONS = "No collections. Add one: context-pack docs add NAME PLACE"
MOST_NAMED = 20
SHOWN_LINES, SHOWN_CHARS = 4, 160


def open_documents(app: App) -> Documents:
    """The documents of this project; prints problems of its configuration."""
    documents = Documents(app.cases)
    for problem in documents.shelf.catalogue().problems:
        output.complain(problem)
    return documents


@command("docs sync")
@click.argument("collections", nargs=-1, type=COLLECTION, metavar="[NAME]...")
@flag("--fast", "Leave semantic vectors to the server.")
@flag("--dry-run", "Only say what would be done.")
def sync(app: App, collections: tuple[str, ...], fast: bool, dry_run: bool) -> int:
    """Bring document collections up to date: read what has changed, fetch repositories, embed what is new.

    Only what has changed since the last time is read. Interrupt it at any time: the next run goes on from
    there. The exit code is 1 when a document or a whole collection failed.

    Examples:
      context-pack docs sync
      context-pack docs sync handbook --json
      context-pack docs sync --dry-run             what would be done, what is skipped, and why
      context-pack docs sync --fast                do not wait for the semantic vectors
    """
    documents = open_documents(app)
    problems = documents.shelf.catalogue().problems
    chosen = documents.shelf.chosen(collections)
    if dry_run:
        return _dry_run(documents, chosen, app)
    outcomes = sync_with_bar(documents, chosen, fetch=True)
    if not collections:
        outcomes = under_every_name(documents.shelf, outcomes)
    semantic = None if fast else _embed(documents, chosen)
    for notice in documents.shelf.ports.index.notices():
        output.note(notice)
    if app.json:
        body: dict[str, Any] = {"collections": [outcome_body(one) for one in outcomes]}
        output.value({**body, **({"semantic": semantic} if semantic is not None else {})})
    else:
        for outcome in outcomes:
            counts = f"{outcome.added} added, {outcome.updated} updated, {outcome.removed} removed"
            failed = f", {len(outcome.failed)} failed" if outcome.failed else ""
            output.line(("bold", outcome.collection), f": {counts}{failed}")
            for one in outcome.failed:
                output.line("  ", ("red", "failed"), f"  {one.document}: {one.reason}")
        if not outcomes:
            output.line(NO_COLLECTIONS)
    return 1 if problems or any(one.failed for one in outcomes) else 0


def _embed(documents: Documents, chosen: Sequence[Collection]) -> dict[str, int] | None:
    """Give every passage its semantic vector, if there is such an embedder."""
    if not chosen:
        return None
    try:
        with output.progress("embedding") as report:
            scope = Scope(corpora=tuple(one.id for one in chosen))
            done = documents.finder.fill(scope, lambda: False, lambda now: report(now.done, now.total))
    except EmbedderFailed as failed:
        output.complain(f"the semantic embedder failed: {failed}; searches go on without it")
        return None
    return None if done is None else {"done": done.done, "total": done.total}


def _dry_run(documents: Documents, chosen: Sequence[Collection], app: App) -> int:
    """Print what a sync would do."""
    bodies: list[dict[str, Any]] = []
    for collection in chosen:
        try:
            bodies.append(plan_body(collection, documents.shelf.syncing.look(collection)))
        except Failure as failure:
            failed = [{"document": collection.where.name, "reason": failure.message}]
            bodies.append({"collection": collection.alias, "failed": failed})
    if app.json:
        output.value({"dryRun": True, "collections": bodies})
    else:
        for body in bodies:
            if "documents" in body:
                show_plan(body)
            else:
                output.complain(f"{body['collection']}: {body['failed'][0]['reason']}")
    return 1 if any(body["failed"] for body in bodies) else 0


def sync_with_bar(documents: Documents, collections: Sequence[Collection], fetch: bool) -> list[Outcome]:
    """Bring collections up to date, with a bar for each on a terminal."""
    outcomes = []
    with output.progress("documents") as show:
        for collection in collections:
            report = partial(lambda name, done, total, _: show(done, total, name), collection.alias)
            outcomes += sync_all(documents.shelf, [collection], fetch=fetch, report=report)
    return outcomes


@command("docs search")
@click.argument("query")
@click.option(
    "-c", "--collection", "collections", multiple=True, type=COLLECTION, help="Only this collection."
)
@click.option("-n", "--limit", type=int, default=10, metavar="N", help="Most hits, 1 to 100. [default: 10]")
@click.option("--max-distance", type=float, metavar="X", help="Largest cosine distance, 0 to 2.")
@flag("--vector", "By meaning alone, without the words.")
def search(
    app: App, query: str, collections: tuple[str, ...], limit: int, max_distance: float | None, vector: bool
) -> int:
    """Search the document collections by meaning and by words; what has changed is indexed first.

    The exit code is 0 if something was found, 1 if nothing was.

    Examples:
      context-pack docs search "how to rotate keys"
      context-pack docs search parse_http_header -c handbook -c api --limit 3
      context-pack docs search "retry policy" --json | jq '.results[0]'
    """
    documents = open_documents(app)
    chosen = [one for one in documents.shelf.chosen(collections) if one.where.is_local]
    sync_with_bar(documents, chosen, fetch=False)
    answer = app.call(
        "documents_search",
        query=query,
        collections=list(collections),
        limit=limit,
        hybridSearch=not vector,
        maxDistance=max_distance,
    )
    if answer.is_error:
        output.complain(answer.text)
        return 1
    found = body_of(answer)
    if app.json:
        output.value(found)
        return 0 if found["results"] else 1
    if found.get("warning"):
        output.note(found["warning"])
    if not found["results"]:
        output.note("Nothing found.")
        return 1
    for hit in found["results"]:
        place = f"{hit['collection']}/{hit['documentId']}:{hit['startLine']}"
        heading = hit.get("sectionHeading") or hit["documentTitle"]
        score = ("green", f"{hit['relevanceScore']:.2f}")
        output.line(score, "  ", ("cyan", place), f"  {heading}")
        lines = [line for line in hit["content"].split("\n") if line.strip()]
        for line in lines[:SHOWN_LINES]:
            output.line(f"      {line[:SHOWN_CHARS]}")
    return 0


def plan_body(collection: Collection, changes: Changes) -> dict[str, Any]:
    """The plan of a sync as JSON."""
    survey, plan = changes.survey, changes.plan
    new = plan.changed.keys() - plan.known.keys()
    return {
        "collection": collection.alias,
        "collectionId": collection.id,
        "documents": 0 if survey is None else len(survey.files),
        "added": len(new),
        "updated": len(plan.changed) - len(new),
        "removed": len(plan.gone),
        "bytes": plan.size,
        "totalBytes": 0 if survey is None else sum(file.size for file in survey.files.values()),
        "failed": _bodies(() if survey is None else survey.failed),
        "skipped": _bodies(() if survey is None else survey.skipped),
    }


def _bodies(documents: Iterable[Failed]) -> list[dict[str, str]]:
    return [{"document": one.document, "reason": one.reason} for one in documents]


def show_plan(body: dict[str, Any]) -> None:
    """Print the plan of a sync, with the documents that fail and those that are skipped."""
    counts = f"{body['added']} to add, {body['updated']} to update, {body['removed']} to remove"
    size = f"{body['documents']} documents, {body['bytes']} bytes to read"
    output.line(("bold", body["collection"]), f": {counts} ({size})")
    for one in body["failed"]:
        output.line("  ", ("red", "fails"), f"    {one['document']}: {one['reason']}")
    for one in body["skipped"][:MOST_NAMED]:
        output.line(f"  skipped  {one['document']}: {one['reason']}")
    left = body["skipped"][MOST_NAMED:]
    if left:
        reasons = Counter(one["reason"] for one in left)
        told = ", ".join(f"{count} {reason}" for reason, count in reasons.items())
        output.line(f"  skipped  {len(left)} more: {told}")
