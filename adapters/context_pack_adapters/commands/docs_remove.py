"""Remove document collections from context.json and from the index; their sources are not touched.

Examples:
  context-pack docs remove handbook
  context-pack docs remove notes --user
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from context_pack_adapters.commands.docs import DONE, open_documents
from context_pack_adapters.commands.shell import Shell, Usage


def configure(parser: ArgumentParser) -> None:
    """Which collections."""
    parser.add_argument("names", nargs="+", metavar="NAME", help="a collection")
    parser.add_argument("--user", action="store_true", help="from the user-wide file")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be removed")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def run(options: Namespace, shell: Shell) -> int:
    """Remove what is named; nothing is removed if a name is unknown."""
    documents = open_documents(shell)
    chosen = [documents.shelf.find(name) for name in options.names]
    counts = {one.collection.alias: one.documents for one in documents.shelf.collections()}
    for collection in chosen:
        if collection.user_wide != options.user:
            where = "user-wide: give --user" if collection.user_wide else "of this project: leave out --user"
            raise Usage(f"{collection.alias!r} is configured {where}")
    removed = [{"collection": one.alias, "documents": counts.get(one.alias, 0)} for one in chosen]
    if not options.dry_run:
        for collection in chosen:
            documents.remove(collection.alias, user_wide=options.user)
    if options.json:
        shell.terminal.json({"dryRun": options.dry_run, "removed": removed})
    else:
        deed = "would be removed" if options.dry_run else "removed"
        for one in removed:
            shell.terminal.line(f"{one['collection']} {deed} ({one['documents']} documents)")
    return DONE
