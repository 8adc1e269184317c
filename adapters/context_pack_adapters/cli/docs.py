"""The commands about which document collections there are: add, allow, remove, list."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from typing import Any

import click

from context_pack.documents.config import address_in, address_of, without_login
from context_pack.documents.model import Collection
from context_pack.documents.tools import named
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command, flag
from context_pack_adapters.cli.docs_content import (
    NO_COLLECTIONS,
    open_documents,
    plan_body,
    show_plan,
    sync_with_bar,
)
from context_pack_adapters.cli.names import COLLECTION
from context_pack_adapters.settings import working_directory


@command("docs add")
@click.argument("name")
@click.argument("place")
@click.option("--description", metavar="TEXT", help="What it holds, for agents that choose.")
@flag("--user", "In the user-wide file instead of the project's.")
@flag("--shared", "Index it in the team's database, for everybody.")
@flag("--replace", "If there is one of that name already.")
@flag("--dry-run", "Only say what is there.")
def add(
    app: App,
    name: str,
    place: str,
    description: str | None,
    user: bool,
    shared: bool,
    replace: bool,
    dry_run: bool,
) -> int:
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
    documents = open_documents(app)
    sources = documents.shelf.ports.sources
    url = _url(app, place, user)
    collection = sources.resolve(name, url, user)
    known = documents.shelf.catalogue().collections.get(name)
    if known is not None and known.user_wide == user and not replace:
        raise click.UsageError(
            f"there is a collection {name!r} already; --replace puts this one in its place"
        )
    body: dict[str, Any] = {"collection": collection.alias, "collectionId": collection.id}
    if collection.where.is_local:
        body = plan_body(collection, documents.shelf.syncing.look(collection))
    if not dry_run:
        more: dict[str, Any] = {"description": description, "shared": shared}
        entry: dict[str, Any] = {"url": url} | {name: value for name, value in more.items() if value}
        sources.configure(name, entry, user)
    shown = without_login(url)
    if app.json:
        output.value({**body, "url": shown, "dryRun": dry_run})
    else:
        if "documents" in body:
            show_plan(body)
        done = "would be added" if dry_run else "is added"
        then = "" if dry_run else f"; {_next_step(collection, sources.catalogue().allowed)}"
        output.line(f"{name} {done} as {shown}{then}")
    return 1 if body.get("failed") else 0


def _next_step(collection: Collection, allowed: Mapping[str, bool]) -> str:
    address = address_of(collection.where.place)
    fetched = not collection.where.is_local and not address.startswith("file:")
    if not fetched or collection.user_wide or address in allowed:
        return "index it now: context-pack docs sync"
    return f"to have it fetched, run: context-pack docs allow {shlex.quote(address)}"


def _url(app: App, written: str, user: bool) -> str:
    """The place as the file should have it: a path from here becomes one from the source root."""
    place = written.strip()
    if not place or "://" in place or place.startswith("~"):
        return place
    absolute = os.path.normpath(os.path.join(working_directory(), place))
    if user:
        return absolute
    inside = os.path.relpath(absolute, app.settings.source_root).replace(os.sep, "/")
    return inside if inside.startswith(".") else f"./{inside}"


@command("docs allow")
@click.argument("url", required=False)
@flag("--with-credentials", "Also with your keys and passwords.")
@flag("--list", "What is allowed now.", "listing")
@flag("--remove", "Allow it no more.")
def allow(app: App, url: str | None, with_credentials: bool, listing: bool, remove: bool) -> int | None:
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
    if listing == (url is not None):
        raise click.UsageError("give the URL of a repository, or --list")
    sources = app.cases.documents.shelf.ports.sources
    allowed = sources.catalogue().allowed
    if listing:
        bodies = [{"address": address, "credentials": given} for address, given in allowed.items()]
        rows = [[address, "yes" if given else "no"] for address, given in allowed.items()]
        none = "Nothing is allowed. Allow a repository: context-pack docs allow URL"
        app.table({"allowed": bodies}, rows, ("ADDRESS", "CREDENTIALS"), none)
        return None
    address = address_in(url or "")
    if remove and address not in allowed:
        output.complain(f"{address} was not allowed")
        return 1
    credentials = None if remove else with_credentials
    sources.allow(address, credentials)
    how = "with" if credentials else "without"
    done = "allowed no more" if remove else f"allowed, {how} your credentials"
    body = {"address": address, "allowed": not remove, "credentials": credentials}
    app.tell(body, f"{address} is {done}")
    return None


@command("docs remove")
@click.argument("names", nargs=-1, required=True, type=COLLECTION, metavar="NAME...")
@flag("--user", "From the user-wide file.")
@flag("--dry-run", "Only say what would be removed.")
def remove(app: App, names: tuple[str, ...], user: bool, dry_run: bool) -> None:
    """Remove document collections from context.json and from the index; their sources are not touched.

    Examples:
      context-pack docs remove handbook
      context-pack docs remove notes --user
    """
    documents = open_documents(app)
    chosen = [documents.shelf.find(name) for name in names]
    counts = {one.collection.alias: one.documents for one in documents.shelf.collections()}
    for collection in chosen:
        if collection.user_wide != user:
            where = "user-wide: give --user" if collection.user_wide else "of this project: leave out --user"
            raise click.UsageError(f"{collection.alias!r} is configured {where}")
    removed = [{"collection": one.alias, "documents": counts.get(one.alias, 0)} for one in chosen]
    if not dry_run:
        for collection in chosen:
            documents.remove(collection.alias, user_wide=user)
    done = "would be removed" if dry_run else "removed"
    words = [f"{one['collection']} {done} ({one['documents']} documents)" for one in removed]
    app.tell({"dryRun": dry_run, "removed": removed}, *words)


@command("docs list")
def list_collections(app: App) -> int:
    """List the document collections of this project, the user-wide ones included.

    What has changed on this disk is indexed first, as by a search; repositories are fetched by sync only.

    Examples:
      context-pack docs list
      context-pack docs list --json | jq -r '.collections[].collection'
    """
    documents = open_documents(app)
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
    app.table(body, rows, heads, NO_COLLECTIONS)
    return 1 if problems else 0
