"""What the docs commands share: the documents of this project, outcomes and surveys in words and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from context_pack_adapters.commands.shell import Shell

if TYPE_CHECKING:
    from context_pack.documents.domain.model import Changes, Collection, Failed, Outcome
    from context_pack_adapters.commands.meter import Bar
    from context_pack_adapters.workspace.documents import Documents

MOST_NAMED = 20
DONE, FAILED = 0, 1


def open_documents(shell: Shell) -> Documents:
    """The documents of this project; what is wrong with its configuration is told."""
    from context_pack_adapters.bootstrap import open_ports
    from context_pack_adapters.workspace.documents import Documents

    documents = Documents(open_ports(shell.settings))
    for problem in documents.shelf.catalogue().problems:
        shell.terminal.complain(problem)
    return documents


def following(bar: Bar, alias: str) -> Callable[[int, int, str], None]:
    """A report that draws a bar for one collection."""
    from context_pack.retrieval.model import Progress

    def report(done: int, total: int, _: str) -> None:
        bar.what = alias
        bar.show(Progress(done, total))

    return report


def sync_with_bar(documents: Documents, collections: Sequence[Collection], fetch: bool) -> list[Outcome]:
    """Bring collections up to date, with a bar for each on a terminal."""
    from context_pack.documents.usecases.upkeep import sync_all
    from context_pack_adapters.commands.meter import Bar

    outcomes = []
    with Bar("") as bar:
        for collection in collections:
            report = following(bar, collection.alias)
            outcomes += sync_all(documents.shelf, [collection], fetch=fetch, report=report)
    return outcomes


def show_outcome(shell: Shell, outcome: Outcome) -> None:
    """What a sync has done, in one line and a line for each failed document."""
    counts = f"{outcome.added} added, {outcome.updated} updated, {outcome.removed} removed"
    failed = f", {len(outcome.failed)} failed" if outcome.failed else ""
    shell.terminal.styled_line(("bold", outcome.collection), f": {counts}{failed}")
    show_failed(shell, outcome.failed)


def show_failed(shell: Shell, failed: Iterable[Failed]) -> None:
    """Which documents failed, and why."""
    for one in failed:
        shell.terminal.styled_line("  ", ("red", "failed"), f"  {one.document}: {one.reason}")


def plan_body(collection: Collection, changes: Changes) -> dict[str, Any]:
    """What a sync would do, as JSON."""
    survey = changes.survey
    failed = () if survey is None else survey.failed
    skipped = () if survey is None else survey.skipped
    return {
        "collection": collection.alias,
        "collectionId": collection.id,
        "documents": 0 if survey is None else len(survey.files),
        "added": len(changes.new),
        "updated": len(changes.changed),
        "removed": len(changes.gone),
        "bytes": changes.size,
        "totalBytes": 0 if survey is None else sum(file.size for file in survey.files.values()),
        "failed": [{"document": one.document, "reason": one.reason} for one in failed],
        "skipped": [{"document": one.document, "reason": one.reason} for one in skipped],
    }


def show_plan(shell: Shell, body: dict[str, Any]) -> None:
    """What a sync would do, in words."""
    counts = f"{body['added']} to add, {body['updated']} to update, {body['removed']} to remove"
    size = f"{body['documents']} documents, {body['bytes']} bytes to read"
    shell.terminal.styled_line(("bold", body["collection"]), f": {counts} ({size})")
    for one in body["failed"]:
        shell.terminal.styled_line("  ", ("red", "fails"), f"    {one['document']}: {one['reason']}")
    for one in body["skipped"][:MOST_NAMED]:
        shell.terminal.line(f"  skipped  {one['document']}: {one['reason']}")
    left = body["skipped"][MOST_NAMED:]
    if left:
        reasons = Counter(one["reason"] for one in left)
        told = ", ".join(f"{count} {reason}" for reason, count in reasons.items())
        shell.terminal.line(f"  skipped  {len(left)} more: {told}")
