"""List the document collections of this project, the user-wide ones included.

Counts are those of the last sync or search; nothing is indexed here.

Examples:
  context-pack docs list
  context-pack docs list --json | jq -r '.collections[].collection'
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from context_pack_adapters.commands.docs import DONE, FAILED, open_documents
from context_pack_adapters.commands.shell import Shell


def configure(parser: ArgumentParser) -> None:
    """How to print."""
    parser.add_argument("--json", action="store_true", help="print the collections as JSON")


def run(options: Namespace, shell: Shell) -> int:
    """Print a line per collection."""
    from context_pack.documents.family import named

    documents = open_documents(shell)
    problems = documents.shelf.catalogue().problems
    rows = [
        {
            **named(one.collection),
            "documentCount": one.documents,
            "description": one.description,
            "version": one.version,
            "kind": one.collection.where.kind.value,
            "place": one.collection.where.place,
            "userWide": one.collection.user_wide,
        }
        for one in documents.shelf.collections()
    ]
    if options.json:
        shell.terminal.json({"count": len(rows), "collections": rows, "problems": list(problems)})
    elif rows:
        shell.terminal.table(
            [
                [
                    str(row["collection"]),
                    str(row["documentCount"]),
                    str(row["version"] or "-"),
                    str(row["place"]),
                    str(row["description"] or ""),
                ]
                for row in rows
            ],
            ["NAME", "DOCUMENTS", "VERSION", "PLACE", "DESCRIPTION"],
        )
    else:
        shell.terminal.line("No collections. Add one: context-pack docs add NAME PLACE")
    return FAILED if problems else DONE
