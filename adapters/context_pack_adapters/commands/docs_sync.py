"""Bring document collections up to date: read what has changed, fetch repositories, embed what is new.

Only what has changed since the last time is read. Interrupt it at any time: the next run goes on from there.
The exit code is 1 when a document or a whole collection failed.

Examples:
  context-pack docs sync
  context-pack docs sync handbook --json
  context-pack docs sync --dry-run             what would be done, what is skipped, and why
  context-pack docs sync --fast                do not wait for the semantic vectors
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from context_pack.kernel.errors import Failure
from context_pack_adapters.commands.docs import (
    DONE,
    FAILED,
    open_documents,
    plan_body,
    show_outcome,
    show_plan,
    sync_with_bar,
)
from context_pack_adapters.commands.shell import Shell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from context_pack.documents.domain.model import Collection
    from context_pack_adapters.workspace.documents import Documents


def configure(parser: ArgumentParser) -> None:
    """Which collections, and how much."""
    parser.add_argument("collections", nargs="*", metavar="NAME", help="a collection (default: all)")
    parser.add_argument("--fast", action="store_true", help="leave semantic vectors to the server")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def run(options: Namespace, shell: Shell) -> int:
    """Sync, or say what a sync would do."""
    from context_pack.documents.usecases.upkeep import under_every_name

    documents = open_documents(shell)
    problems = documents.shelf.catalogue().problems
    chosen = documents.shelf.chosen(options.collections)
    if options.dry_run:
        return _dry_run(documents, chosen, options, shell)
    outcomes = sync_with_bar(documents, chosen, fetch=True)
    if not options.collections:
        outcomes = under_every_name(documents.shelf, outcomes)
    semantic = None if options.fast else _embed(documents, chosen, shell)
    for notice in documents.shelf.ports.index.notices():
        shell.terminal.note(notice)
    if options.json:
        from context_pack.documents.family import outcome_body

        body: dict[str, Any] = {"collections": [outcome_body(one) for one in outcomes]}
        shell.terminal.json({**body, **({"semantic": semantic} if semantic is not None else {})})
    else:
        for outcome in outcomes:
            show_outcome(shell, outcome)
        if not outcomes:
            shell.terminal.line("No collections. Add one: context-pack docs add NAME PLACE")
    return FAILED if problems or any(one.failed for one in outcomes) else DONE


def _embed(documents: Documents, chosen: Sequence[Collection], shell: Shell) -> dict[str, int] | None:
    """Give every passage its semantic vector, if there is such an embedder."""
    from context_pack.retrieval.model import Scope
    from context_pack.retrieval.ports import EmbedderFailed
    from context_pack_adapters.commands.meter import Bar

    if not chosen:
        return None
    try:
        with Bar("embedding") as bar:
            scope = Scope(corpora=tuple(one.id for one in chosen))
            done = documents.finder.fill(scope, lambda: False, bar.show)
    except EmbedderFailed as failed:
        shell.terminal.complain(f"the semantic embedder failed: {failed}; searches go on without it")
        return None
    return None if done is None else {"done": done.done, "total": done.total}


def _dry_run(documents: Documents, chosen: Sequence[Collection], options: Namespace, shell: Shell) -> int:
    """Say what would be done."""
    bodies: list[dict[str, Any]] = []
    for collection in chosen:
        try:
            bodies.append(plan_body(collection, documents.shelf.syncing.look(collection)))
        except Failure as failure:
            name = collection.where.name
            bodies.append(
                {"collection": collection.alias, "failed": [{"document": name, "reason": failure.message}]}
            )
    if options.json:
        shell.terminal.json({"dryRun": True, "collections": bodies})
    else:
        for body in bodies:
            if "documents" in body:
                show_plan(shell, body)
            else:
                shell.terminal.complain(f"{body['collection']}: {body['failed'][0]['reason']}")
    return FAILED if any(body["failed"] for body in bodies) else DONE
