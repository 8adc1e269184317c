"""Add a document collection to context.json; what else stands in the file stays.

PLACE is a folder, a manifest.json, a .tar.gz package, file://…, or git+file|https|ssh://…[#ref][?manifest=path].
Documents are indexed by the next sync or search. A project's own file names places inside the project, and
repositories elsewhere that you allow (docs allow); with --user it may be any place.

Examples:
  context-pack docs add handbook ./docs
  context-pack docs add react git+https://github.com/reactjs/react.dev#main --description "React's handbook"
  context-pack docs add notes ~/notes --user   for every project of yours
  context-pack docs add handbook ./docs --dry-run
"""

from __future__ import annotations

import os
import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from context_pack_adapters.commands.docs import DONE, FAILED, open_documents, plan_body, show_plan
from context_pack_adapters.commands.shell import Shell, Usage
from context_pack_adapters.settings import working_directory

if TYPE_CHECKING:
    from context_pack.documents.domain.model import Collection


def configure(parser: ArgumentParser) -> None:
    """What to add, under which name."""
    parser.add_argument("name", metavar="NAME", help="what to call it")
    parser.add_argument("place", metavar="PLACE", help="where it is")
    parser.add_argument("--description", metavar="TEXT", help="what it holds, for agents that choose")
    parser.add_argument("--user", action="store_true", help="in the user-wide file instead of the project's")
    parser.add_argument("--replace", action="store_true", help="if there is one of that name already")
    parser.add_argument("--dry-run", action="store_true", help="only say what is there")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def run(options: Namespace, shell: Shell) -> int:
    """Look at the source, then write it down."""
    documents = open_documents(shell)
    sources = documents.shelf.ports.sources
    url = _url(options, shell)
    collection = sources.resolve(options.name, url, options.user)
    known = documents.shelf.catalogue().collections.get(options.name)
    if known is not None and known.user_wide == options.user and not options.replace:
        raise Usage(f"there is a collection {options.name!r} already; --replace puts this one in its place")
    body: dict[str, Any] = {"collection": collection.alias, "collectionId": collection.id}
    if collection.where.is_local:
        body = plan_body(collection, documents.shelf.syncing.look(collection))
    if not options.dry_run:
        entry = {"url": url, **({"description": options.description} if options.description else {})}
        sources.configure(options.name, entry, options.user)
    if options.json:
        shell.terminal.json({**body, "url": url, "dryRun": options.dry_run})
    else:
        if "documents" in body:
            show_plan(shell, body)
        deed = "would be added" if options.dry_run else "is added"
        then = f"; {_next_step(collection, sources.allowed())}" if not options.dry_run else ""
        shell.terminal.line(f"{options.name} {deed} as {url}{then}")
    return FAILED if body.get("failed") else DONE


def _next_step(collection: Collection, allowed: Mapping[str, bool]) -> str:
    from context_pack.documents.domain.permits import address_of

    address = address_of(collection.where.place)
    if collection.where.is_local or collection.user_wide or address in allowed:
        return "index it now: context-pack docs sync"
    return f"to have it fetched, run: context-pack docs allow {shlex.quote(address)}"


def _url(options: Namespace, shell: Shell) -> str:
    """The place as the file should have it: a path from here becomes one from the source root."""
    place = str(options.place).strip()
    if not place or "://" in place or place.startswith("~"):
        return place
    absolute = os.path.normpath(os.path.join(working_directory(), place))
    if options.user:
        return absolute
    inside = os.path.relpath(absolute, shell.settings.source_root).replace(os.sep, "/")
    return inside if inside.startswith(".") else f"./{inside}"
