"""The commands about documents: add, allow, remove and list collections; sync and search them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from typing import Any

import click

from context_pack.code.grep import shown as cut_line
from context_pack.documents.commands import SearchDocuments
from context_pack.documents.model import Collection
from context_pack.documents.places import address_in, address_of, without_login
from context_pack.documents.shelf import DocumentShelf
from context_pack.documents.tools import named, outcome_body
from context_pack.retrieval.model import Scope
from context_pack.retrieval.ports import EmbedderFailed
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command, flag
from context_pack_adapters.cli.arguments import COLLECTION, tool_command
from context_pack_adapters.settings import working_directory

NO_COLLECTIONS = "No collections. Add one: context-pack docs add NAME PLACE"
SHOWN_LINES, SHOWN_CHARS = 4, 160


def _shelf(app: App) -> DocumentShelf:
    """The collections of this project; prints problems of their configuration."""
    shelf: DocumentShelf = app.cases.documents.shelf
    for problem in shelf.catalogue().problems:
        output.complain(problem)
    return shelf


@command("docs add")
@click.argument("name")
@click.argument("place")
@click.option("--description", metavar="TEXT", help="What it holds, for agents that choose.")
@flag("--user", "In the user-wide file instead of the project's.")
@flag("--shared", "Index it in the team's database, for everybody.")
@flag("--replace", "If there is one of that name already.")
def add(
    app: App, name: str, place: str, description: str | None, user: bool, shared: bool, replace: bool
) -> None:
    """Add a document collection to context.json; what else stands in the file stays.

    PLACE is a folder, one file, a manifest.json, file://…, or git+file|https|ssh://…[#ref][?manifest=path].
    Documents are indexed by the next sync or search. A project's own file names places inside the project,
    and repositories elsewhere that you allow (docs allow); with --user it may be any place.

    Examples:
      context-pack docs add handbook ./docs
      context-pack docs add react git+https://github.com/reactjs/react.dev#main --description "React's docs"
      context-pack docs add notes ~/notes --user   for every project of yours
    """
    shelf = _shelf(app)
    sources, url = shelf.ports.sources, _url(app, place, user)
    collection = sources.resolve(name, url, user)
    known = shelf.catalogue().collections.get(name)
    if known is not None and known.user_wide == user and not replace:
        raise click.UsageError(
            f"there is a collection {name!r} already; --replace puts this one in its place"
        )
    if collection.where.is_local:
        sources.open(collection).survey()  # it is refused where nothing can be read
    more: dict[str, Any] = {"description": description, "shared": shared}
    sources.configure(name, {"url": url} | {key: value for key, value in more.items() if value}, user)
    shown = without_login(url)
    words = f"{name} is added as {shown}; {_next_step(collection, sources.catalogue().allowed)}"
    app.tell({**named(collection), "url": shown}, words)


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
@flag("--remove", "Allow it no more.")
def allow(app: App, url: str | None, with_credentials: bool, remove: bool) -> int:
    """Let a repository be fetched that a project's context.json names; without a URL, list what is allowed.

    A project is not trusted to choose whom this machine talks to: a repository that it names is fetched only
    after you have allowed its address once, and without your credentials (git's helpers, netrc, ssh keys)
    unless you allow them too. What your own configuration names (docs add --user) needs no permission.

    Examples:
      context-pack docs allow ssh://git@example.org/team/handbook --with-credentials
      context-pack docs allow --remove https://github.com/reactjs/react.dev
    """
    sources = app.cases.documents.shelf.ports.sources
    allowed = sources.catalogue().allowed
    if url is None:
        bodies = [{"address": address, "credentials": given} for address, given in allowed.items()]
        rows = [[address, "yes" if given else "no"] for address, given in allowed.items()]
        none = "Nothing is allowed. Allow a repository: context-pack docs allow URL"
        return app.table({"allowed": bodies}, rows, ("ADDRESS", "CREDENTIALS"), none)
    address = address_in(url)
    if remove and address not in allowed:
        output.complain(f"{address} was not allowed")
        return 1
    credentials = None if remove else with_credentials
    sources.allow(address, credentials)
    how = "with" if credentials else "without"
    done = "allowed no more" if remove else f"allowed, {how} your credentials"
    body = {"address": address, "allowed": not remove, "credentials": credentials}
    return app.tell(body, f"{address} is {done}")


@command("docs remove")
@click.argument("names", nargs=-1, required=True, type=COLLECTION, metavar="NAME...")
@flag("--user", "From the user-wide file.")
def remove(app: App, names: tuple[str, ...], user: bool) -> None:
    """Remove document collections from context.json and from the index; their sources are not touched.

    Example:
      context-pack docs remove notes --user
    """
    shelf = _shelf(app)
    chosen = [shelf.find(name) for name in names]
    for collection in chosen:
        if collection.user_wide != user:
            where = "user-wide: give --user" if collection.user_wide else "of this project: leave out --user"
            raise click.UsageError(f"{collection.alias!r} is configured {where}")
    removed = [collection.alias for collection in chosen]
    for name in removed:
        app.workspace.documents.remove(name, user_wide=user)
    app.tell({"removed": removed}, *(f"{name} removed" for name in removed))


@command("docs list")
def list_collections(app: App) -> int:
    """List the document collections of this project, the user-wide ones included.

    What has changed on this disk is indexed first, as by a search; repositories are fetched by sync only.

    Example:
      context-pack docs list --json | jq -r '.collections[].collection'
    """
    shelf = _shelf(app)
    shelf.bring_up_to_date(shelf.chosen(()))
    bodies = [
        {
            **named(one.collection),
            "documentCount": one.documents,
            "description": one.description,
            "version": one.version,
            "place": one.collection.where.shown,
            "userWide": one.collection.user_wide,
        }
        for one in shelf.collections()
    ]
    fields = ("collection", "documentCount", "version", "place", "description")
    rows = [["-" if body[name] is None else body[name] for name in fields] for body in bodies]
    problems = list(shelf.catalogue().problems)
    heads = ("NAME", "DOCUMENTS", "VERSION", "PLACE", "DESCRIPTION")
    app.table({"collections": bodies, "problems": problems}, rows, heads, NO_COLLECTIONS)
    return 1 if problems else 0


@command("docs sync")
@click.argument("collections", nargs=-1, type=COLLECTION, metavar="[NAME]...")
@flag("--fast", "Leave semantic vectors to the server.")
@flag("--dry-run", "Only say what would be done.")
def sync(app: App, collections: tuple[str, ...], fast: bool, dry_run: bool) -> int:
    """Bring document collections up to date: read what has changed, fetch repositories, embed what is new.

    Only what has changed since the last time is read. Interrupt it at any time: the next run goes on from
    there. The exit code is 1 when a document or a whole collection failed.

    Examples:
      context-pack docs sync handbook --dry-run
      context-pack docs sync --fast                do not wait for the semantic vectors
    """
    shelf = _shelf(app)
    chosen = shelf.chosen(collections)
    body: dict[str, Any] = {}
    if dry_run:
        body, outcomes = {"dryRun": True}, [shelf.syncing.planned(one) for one in chosen]
    else:
        with output.progress("documents") as report:
            outcomes = [*app.workspace.documents.sync(*collections, report=report)]
        if chosen and not fast:
            body = _embed(app, chosen)
        for notice in shelf.ports.index.notices():
            output.note(notice)
    lines = []
    for one in outcomes:
        lines.append(f"{one.collection}: {one.added} added, {one.updated} updated, {one.removed} removed")
        lines += [f"  failed  {each.document}: {each.reason}" for each in one.failed]
    failed = shelf.catalogue().problems or any(one.failed for one in outcomes)
    body["collections"] = list(map(outcome_body, outcomes))
    return app.tell(body, *(lines or [NO_COLLECTIONS]), code=1 if failed else 0)


def _embed(app: App, chosen: list[Collection]) -> dict[str, Any]:
    """Give every passage its semantic vector, if there is such an embedder."""
    try:
        with output.progress("embedding") as report:
            scope = Scope(corpora=tuple(one.id for one in chosen))
            done = app.cases.documents.finder.fill(
                scope, lambda: False, lambda now: report(now.done, now.total)
            )
    except EmbedderFailed as failed:
        output.complain(f"the semantic embedder failed: {failed}; searches go on without it")
        return {}
    return {} if done is None else {"semantic": {"done": done.done, "total": done.total}}


@tool_command("docs search", SearchDocuments, "query", fixed=("hybridSearch",))
def search(app: App, **arguments: Any) -> int:
    """Search the document collections by meaning and by words; what has changed is indexed first.

    The exit code is 0 if something was found, 1 if nothing was.

    Examples:
      context-pack docs search "how to rotate keys"
      context-pack docs search parse_http_header --collections handbook --collections api --limit 3
      context-pack docs search "retry policy" --json | jq '.results[0]'
    """
    _shelf(app)
    body = app.answer("documents_search", **arguments)
    hits: list[dict[str, Any]] = body["results"]
    lines: list[output.Line] = []
    for hit in hits:
        place = f"{hit['collection']}/{hit['documentId']}:{hit['startLine']}"
        heading = hit.get("sectionHeading") or hit["documentTitle"]
        lines.append([("green", f"{hit['relevanceScore']:.2f}"), "  ", ("cyan", place), f"  {heading}"])
        shown = [line for line in hit["content"].split("\n") if line.strip()][:SHOWN_LINES]
        lines += [f"      {cut_line(line, most=SHOWN_CHARS)}" for line in shown]
    notes = [body["more"]] if "more" in body else []
    notes += [*output.notes_in_words({"warning": body.get("warning"), "documents": body.get("semantic")})]
    if not hits:
        notes.append("Nothing found.")
    return app.tell(body, *lines, notes=notes, code=0 if hits else 1)
