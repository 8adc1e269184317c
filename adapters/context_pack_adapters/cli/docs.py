"""The commands about which document collections there are: add, allow, remove, list."""

from __future__ import annotations

import os
import shlex
from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from context_pack.documents.config import address_in, address_of, without_login
from context_pack.documents.model import Collection
from context_pack.documents.tools import named
from context_pack_adapters.cli.arguments import argument, command, flag
from context_pack_adapters.cli.docs_content import (
    NO_COLLECTIONS,
    open_documents,
    plan_body,
    show_plan,
    sync_with_bar,
)
from context_pack_adapters.cli.shell import Shell, WrongUsage
from context_pack_adapters.settings import working_directory


@command(
    argument("name", metavar="NAME", help="what to call it"),
    argument("place", metavar="PLACE", help="where it is"),
    argument("--description", metavar="TEXT", help="what it holds, for agents that choose"),
    flag("--user", "in the user-wide file instead of the project's"),
    flag("--shared", "index it in the team's database, for everybody"),
    flag("--replace", "if there is one of that name already"),
    flag("--dry-run", "only say what is there"),
    flag("--json", "print the outcome as JSON"),
)
def add(options: Namespace, shell: Shell) -> int:
    """Add a document collection to context.json; what else stands in the file stays.

    PLACE is a folder, one file, a manifest.json, file://…, or git+file|https|ssh://…[#ref][?manifest=path].
    Documents are indexed by the next sync or search. A project's own file names places inside the project,
    and repositories elsewhere that you allow (docs allow); with --user it may be any place.

    Examples:
      context-pack docs add handbook ./docs
      context-pack docs add react git+https://github.com/reactjs/react.dev#main --description "React's docs"
      context-pack docs add notes ~/notes --user   for every project of yours
      context-pack docs add handbook ./docs --dry-run
    """
    documents = open_documents(shell)
    sources = documents.shelf.ports.sources
    url = _url(options, shell)
    collection = sources.resolve(options.name, url, options.user)
    known = documents.shelf.catalogue().collections.get(options.name)
    if known is not None and known.user_wide == options.user and not options.replace:
        raise WrongUsage(
            f"there is a collection {options.name!r} already; --replace puts this one in its place"
        )
    body: dict[str, Any] = {"collection": collection.alias, "collectionId": collection.id}
    if collection.where.is_local:
        body = plan_body(collection, documents.shelf.syncing.look(collection))
    if not options.dry_run:
        more = {"description": options.description, "shared": options.shared}
        entry = {"url": url} | {name: value for name, value in more.items() if value}
        sources.configure(options.name, entry, options.user)
    shown = without_login(url)
    if options.json:
        shell.terminal.json({**body, "url": shown, "dryRun": options.dry_run})
    else:
        if "documents" in body:
            show_plan(shell, body)
        done = "would be added" if options.dry_run else "is added"
        then = "" if options.dry_run else f"; {_next_step(collection, sources.catalogue().allowed)}"
        shell.terminal.line(f"{options.name} {done} as {shown}{then}")
    return 1 if body.get("failed") else 0


def _next_step(collection: Collection, allowed: Mapping[str, bool]) -> str:
    address = address_of(collection.where.place)
    fetched = not collection.where.is_local and not address.startswith("file:")
    if not fetched or collection.user_wide or address in allowed:
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


@command(
    argument("url", nargs="?", metavar="URL", help="the address of a repository"),
    flag("--with-credentials", "also with your keys and passwords"),
    flag("--list", "what is allowed now"),
    flag("--remove", "allow it no more"),
    flag("--json", "print the outcome as JSON"),
)
def allow(options: Namespace, shell: Shell) -> int | None:
    """Let a repository be fetched that a project's context.json names; kept in your own configuration.

    A project is not trusted to choose whom this machine talks to: a repository that it names is fetched only
    after you have allowed its address once, and without your credentials (git's helpers, netrc, ssh keys)
    unless you allow them too. What your own configuration names (docs add --user) needs no permission.

    Examples:
      context-pack docs allow https://github.com/reactjs/react.dev
      context-pack docs allow ssh://git@example.org/team/handbook --with-credentials
      context-pack docs allow --list
      context-pack docs allow --remove https://github.com/reactjs/react.dev
    """
    if options.list == (options.url is not None):
        raise WrongUsage("give the URL of a repository, or --list")
    sources = shell.cases().documents.shelf.ports.sources
    allowed = sources.catalogue().allowed
    if options.list:
        _list_allowed(allowed, options, shell)
        return None
    address = address_in(options.url)
    if options.remove and address not in allowed:
        shell.terminal.complain(f"{address} was not allowed")
        return 1
    credentials = None if options.remove else bool(options.with_credentials)
    sources.allow(address, credentials)
    how = "with" if credentials else "without"
    done = "allowed no more" if options.remove else f"allowed, {how} your credentials"
    body = {"address": address, "allowed": not options.remove, "credentials": credentials}
    shell.tell(options, body, f"{address} is {done}")
    return None


def _list_allowed(permits: Mapping[str, bool], options: Namespace, shell: Shell) -> None:
    bodies = [{"address": address, "credentials": given} for address, given in permits.items()]
    rows = [[address, "yes" if given else "no"] for address, given in permits.items()]
    none = "Nothing is allowed. Allow a repository: context-pack docs allow URL"
    shell.tell_table(options, {"allowed": bodies}, rows, ("ADDRESS", "CREDENTIALS"), none)


@command(
    argument("names", nargs="+", metavar="NAME", help="a collection"),
    flag("--user", "from the user-wide file"),
    flag("--dry-run", "only say what would be removed"),
    flag("--json", "print the outcome as JSON"),
)
def remove(options: Namespace, shell: Shell) -> None:
    """Remove document collections from context.json and from the index; their sources are not touched.

    Examples:
      context-pack docs remove handbook
      context-pack docs remove notes --user
    """
    documents = open_documents(shell)
    chosen = [documents.shelf.find(name) for name in options.names]
    counts = {one.collection.alias: one.documents for one in documents.shelf.collections()}
    for collection in chosen:
        if collection.user_wide != options.user:
            where = "user-wide: give --user" if collection.user_wide else "of this project: leave out --user"
            raise WrongUsage(f"{collection.alias!r} is configured {where}")
    removed = [{"collection": one.alias, "documents": counts.get(one.alias, 0)} for one in chosen]
    if not options.dry_run:
        for collection in chosen:
            documents.remove(collection.alias, user_wide=options.user)
    done = "would be removed" if options.dry_run else "removed"
    words = [f"{one['collection']} {done} ({one['documents']} documents)" for one in removed]
    shell.tell(options, {"dryRun": options.dry_run, "removed": removed}, *words)


@command(flag("--json", "print the collections as JSON"))
def list_collections(options: Namespace, shell: Shell) -> int:
    """List the document collections of this project, the user-wide ones included.

    What has changed on this disk is indexed first, as by a search; repositories are fetched by sync only.

    Examples:
      context-pack docs list
      context-pack docs list --json | jq -r '.collections[].collection'
    """
    documents = open_documents(shell)
    problems = documents.shelf.catalogue().problems
    sync_with_bar(documents, [one for one in documents.shelf.chosen(()) if one.where.is_local], fetch=False)
    found = documents.shelf.collections()
    bodies = [
        {
            **named(one.collection),
            "documentCount": one.documents,
            "description": one.description,
            "version": one.version,
            "kind": one.collection.where.kind.value,
            "place": one.collection.where.shown,
            "userWide": one.collection.user_wide,
        }
        for one in found
    ]
    rows = [
        (each.alias, one.documents, one.version or "-", each.where.shown, one.description or "")
        for one in found
        for each in [one.collection]
    ]
    body = {"count": len(bodies), "collections": bodies, "problems": list(problems)}
    heads = ("NAME", "DOCUMENTS", "VERSION", "PLACE", "DESCRIPTION")
    shell.tell_table(options, body, rows, heads, NO_COLLECTIONS)
    return 1 if problems else 0
