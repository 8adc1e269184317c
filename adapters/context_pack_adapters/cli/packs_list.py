"""The command that lists packs. It is run most often, and loads nothing that looks at code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from context_pack.kernel.times import format_instant
from context_pack.packs.commands import ListPacks
from context_pack.packs.listing import listed
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command, flag

DAY_SECONDS = 86_400
PAGE = 500


@command("packs list")
@click.option("--status", type=click.Choice(["draft", "finalized"]), help="Only packs of this status.")
@click.option("--query", metavar="TEXT", help="Only packs with this text in their summary.")
@flag("--expired", "Packs whose time is over, or that were deleted, and that can be restored.")
def list_packs(app: App, status: str | None, query: str | None, expired: bool) -> None:
    """List the context packs, the last changed first.

    Examples:
      context-pack packs list
      context-pack packs list --status finalized --query auth
      context-pack packs list --expired               packs that can be restored
      context-pack packs list --json | jq -r '.packs[].id'
    """
    if expired:
        if status is not None or query is not None:
            raise click.UsageError("--expired goes with no filter")
        return _list_expired(app)
    packs = list(every_pack(app, status=status, query=query))
    rows = [
        (pack["id"], pack["status"], pack["revision"], _life(pack), called(pack) + _by(pack))
        for pack in packs
    ]
    heads = ("ID", "STATUS", "REVISION", "TTL", "NAME AND TITLE")
    app.table({"count": len(packs), "packs": packs}, rows, heads, "No context packs found.")
    if not (app.json or packs) and status is query is None:
        output.note("Make one from a question: context-pack packs draft QUESTION")
    return None


def _list_expired(app: App) -> None:
    packs = [
        {
            "id": pack.id,
            "name": pack.name,
            "title": pack.title,
            "revision": pack.revision,
            "expires_at": format_instant(pack.expires_at, whole_seconds=True),
        }
        for pack in app.workspace.packs.expired()
    ]
    rows = [(pack["id"], pack["expires_at"], called(pack)) for pack in packs]
    body, heads = {"count": len(packs), "packs": packs}, ("ID", "EXPIRES", "NAME AND TITLE")
    app.table(body, rows, heads, "No expired packs found.")
    if packs and not app.json:
        output.note("Bring one back: context-pack packs restore PACK")


def _by(pack: Mapping[str, Any]) -> str:
    """The last author of a pack, if that is known."""
    tree = f" (from worktree {pack['worktree']})" if "worktree" in pack else ""
    return f" (by {pack['author']})" if "author" in pack else tree


def _life(pack: Mapping[str, Any]) -> str:
    """How long a pack still lives, with a mark if it expires soon."""
    soon = " (soon)" if pack["ttl_remaining_seconds"] <= DAY_SECONDS else ""
    return f"{pack['ttl_remaining_human']}{soon}"


def every_pack(app: App, **filters: Any) -> Iterator[dict[str, Any]]:
    """The summary of every pack that passes the filters; a first page of defaults needs no jsonschema."""
    offset, more = 0, True
    while more:
        rest: dict[str, Any] = {"limit": PAGE, "offset": offset} if offset else {}
        page = listed(app.cases.lister.list(ListPacks(**filters, **rest)), app.ports.clock.now())
        yield from page["packs"]
        offset, more = offset + page["count"], page["has_more"]


def called(pack: Mapping[str, Any]) -> str:
    """A pack's name and title, as far as it has them."""
    return " — ".join(filter(None, (pack["name"], pack["title"]))) or "Untitled"
