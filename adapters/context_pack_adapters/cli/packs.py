"""The commands that list, show, delete and restore packs, and how all commands of packs ask for them.

They ask the use cases of packs with the arguments and payloads of the tool `input`; only its answers to
clients are cut to a page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from shlex import quote
from typing import Any, TypeVar

import click

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paging import Page
from context_pack.kernel.times import format_instant
from context_pack.packs.commands import ListPacks
from context_pack.packs.listing import PackLister, listed
from context_pack.packs.model import Pack
from context_pack.packs.ports import last_expired
from context_pack.packs.states import place_now
from context_pack.packs.tools import choose_input, payload_of
from context_pack.toolkit.arguments import parse
from context_pack.toolkit.call import never_cancelled
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command, flag
from context_pack_adapters.cli.arguments import EXPIRED, PACK, Minutes

T = TypeVar("T")

DEFAULT_TTL = "90d"
"""Long enough that no build turns red because a pack that it checks has expired."""
ATTEMPTS = 5
PAGE = 500
DAY_SECONDS = 86_400
ONE = click.argument("pack", type=PACK, metavar="PACK")
SEVERAL = click.argument("packs", nargs=-1, type=PACK, metavar="[PACK]...")
TTL = click.option(
    "--ttl",
    "ttl",
    type=Minutes(),
    default=DEFAULT_TTL,
    metavar="TIME",
    help=f"How long it lives: 90 (minutes), 12h, 7d. [default: {DEFAULT_TTL}]",
)


def ask(app: App, action: str, **arguments: Any) -> dict[str, Any]:
    """The whole payload of an action; arguments that are None are left out.

    Raises:
        Failure: the use case refused.
    """
    given = {"action": action, **{name: value for name, value in arguments.items() if value is not None}}
    asked: Any = parse(choose_input(given), given)
    return payload_of(app.cases.packs, app.ports.clock, asked, never_cancelled)


def at_revision(app: App, handle: str, work: Callable[[Pack], T]) -> T:
    """Change a pack at the revision that it has now; once more if somebody else changed it meanwhile."""
    for _ in range(ATTEMPTS - 1):
        try:
            return work(app.workspace.packs.get(handle))
        except Failure as failure:
            if failure.code is not Code.REVISION_CONFLICT:
                raise
    return work(app.workspace.packs.get(handle))


def change(app: App, handle: str, action: str, **arguments: Any) -> dict[str, Any]:
    """Carry out an action on a pack as it is now."""
    return at_revision(
        app, handle, lambda pack: ask(app, action, id=pack.id, expected_revision=pack.revision, **arguments)
    )


def lost_advice(pack: str) -> str:
    """What to do about refs whose code is not found."""
    name = quote(pack)
    ways = f"'packs edit {name}' corrects the text, 'packs remove {name} SECTION/REF' takes the ref out"
    return f"what is not found cannot be accepted; {ways}"


def called(pack: Any) -> str:
    """A pack's name and title, as far as it has them."""
    name, title = (pack.name, pack.title) if isinstance(pack, Pack) else (pack["name"], pack["title"])
    return " — ".join(filter(None, (name, title))) or "Untitled"


@command("packs list")
@click.option("--status", type=click.Choice(["draft", "finalized"]), help="Only packs of this status.")
@click.option("--query", metavar="TEXT", help="Only packs with this text in their summary.")
@flag("--expired", "Packs whose time is over, or that were deleted, and that can be restored.")
def list_packs(app: App, status: str | None, query: str | None, expired: bool) -> int:
    """List the context packs, the last changed first.

    Examples:
      context-pack packs list --status finalized --query auth
      context-pack packs list --expired               packs that can be restored
      context-pack packs list --json | jq -r '.packs[].id'
    """
    if expired and (status or query):
        raise click.UsageError("--expired goes with no filter")
    packs = _expired(app) if expired else _live(app, status=status, query=query)
    rows = [(pack["id"], pack["status"], pack["revision"], _life(pack), _named(pack)) for pack in packs]
    notes = []
    if expired and packs:
        notes = ["Bring one back: context-pack packs restore PACK"]
    elif not (packs or expired or status or query):
        notes = ["Make one from a question: context-pack packs draft QUESTION"]
    heads = ("ID", "STATUS", "REVISION", "TTL", "NAME AND TITLE")
    none = f"No {'expired' if expired else 'context'} packs found."
    return app.table({"count": len(packs), "packs": packs}, rows, heads, none, notes)


def _live(app: App, **filters: Any) -> list[dict[str, Any]]:
    """The summary of every pack that passes the filters."""
    # Without the use cases of everything else, which a list of packs would only wait for.
    lister = PackLister(app.ports.readable_packs, app.ports.clock)
    packs: list[dict[str, Any]] = []
    more = True
    while more:
        # a first page of defaults needs no check of its arguments, and so no jsonschema
        rest: dict[str, Any] = {"limit": PAGE, "offset": len(packs)} if packs else {}
        page = listed(lister.list(ListPacks(**filters, **rest)), app.ports.clock.now())
        packs += page["packs"]
        more = page["has_more"]
    return packs


def _expired(app: App) -> list[dict[str, Any]]:
    """The summary of every pack that can be restored, the last that expired first."""
    packs = tuple(app.workspace.packs.expired())
    return list(listed(Page(packs, len(packs), has_more=False), app.ports.clock.now())["packs"])


def _named(pack: Mapping[str, Any]) -> str:
    """What a pack is called, and by whom it is or from where, if that is known."""
    tree = f" (from worktree {pack['worktree']})" if "worktree" in pack else ""
    return called(pack) + (f" (by {pack['author']})" if "author" in pack else tree)


def _life(pack: Mapping[str, Any]) -> str:
    """How long a pack still lives, with a mark if it expires soon."""
    seconds = pack["ttl_remaining_seconds"]
    soon = " (soon)" if seconds <= DAY_SECONDS else ""
    return "over" if seconds <= 0 else f"{pack['ttl_remaining_human']}{soon}"


@command("packs show")
@ONE
@click.option("--compact", "mode", flag_value="compact", help="Leave out the code.")
@click.option("--diff", "mode", flag_value="diff", help="Only what changed since it was anchored.")
def show(app: App, pack: str, mode: str | None) -> None:
    """Print a pack with its code of today, whole; --json prints the stored pack.

    Examples:
      context-pack packs show pk_f2ireb33 --compact
      context-pack packs show auth --diff             what must be read again, with what changed
    """
    if app.json:
        output.value(ask(app, "get", id=pack))
    else:
        output.markdown(app.workspace.packs.document(pack, mode=mode or "full"))


@command("packs diff")
@ONE
@click.argument("what", nargs=-1, metavar="[REF-OR-REVISION]...")
def diff(app: App, pack: str, what: tuple[str, ...]) -> None:
    """Say what changed: in the code of a ref since it was anchored, or between two revisions of a pack.

    Without anything it compares the last two revisions, with one that revision and the present. The last 20
    revisions that this user wrote are kept.

    Examples:
      context-pack packs diff auth checks/token       what became of the code of a ref
      context-pack packs diff auth
      context-pack packs diff auth 3 7
    """
    if len(what) == 1 and not what[0].isdecimal():
        _tell_change(app, pack, what[0])
        return
    if len(what) > 2 or not all(map(str.isdecimal, what)):
        raise click.UsageError("give one ref, or at most two revisions")
    old, new = (*map(int, what), None, None)[:2]
    compared = ask(app, "diff", id=pack, from_revision=old, to_revision=new)
    lines = [f"{compared['id']}: revision {compared['from']} to {compared['to']}"]
    for step in compared["changes"]:
        details = f" ({step['details']})" if step["details"] else ""
        lines.append(f"  {step['what']}: {step['part']} {step['name']}".rstrip() + details)
    if not compared["changes"]:
        lines.append("  nothing but its revision or time to live")
    app.tell(compared, *lines)


def _tell_change(app: App, pack: str, name: str) -> None:
    """The state of one ref, and the diff of its code where it changed."""
    refs = {f"{each.section.key}/{each.ref.key}": each for each in app.workspace.packs.verify(pack).refs}
    names = [full for full, each in refs.items() if name in (full, each.ref.key)]
    if len(names) != 1:
        several = f" in one section: it is in {', '.join(names)}" if names else output.nearest(name, refs)
        raise Failure(Code.NOT_FOUND, f"the pack has no ref {name!r}{several}", {"ref": name})
    resolution = refs[names[0]].resolution
    diff = [] if resolution.difference is None else list(resolution.difference.diff)
    place, words = place_now(refs[names[0]].ref, resolution), resolution.change or "as it was anchored"
    body = {"ref": names[0], "state": resolution.word, "place": place, "change": words, "diff": diff}
    head: output.Line = [("bold", names[0]), f"  {resolution.word}  {place}  {words}"]
    app.tell(body, head, *output.difference(diff))


@command("packs delete")
@click.argument("packs", nargs=-1, required=True, type=PACK, metavar="PACK...")
def delete(app: App, packs: tuple[str, ...]) -> int:
    """Delete packs; for 30 days 'packs restore' brings them back. One in the trash is deleted for good.

    What is deleted in a team's database is gone at once.

    Example:
      context-pack packs delete auth billing
    """

    def remove(handle: str) -> str:
        try:
            return str(change(app, handle, "delete_pack")["id"])
        except Failure as failure:
            expired = last_expired(app.workspace.packs.expired(), handle)
            if failure.code is not Code.NOT_FOUND or expired is None:
                raise
            return app.workspace.packs.discard(expired.id).id

    done = app.each("pack", packs, remove)
    trash = {pack.id for pack in app.workspace.packs.expired()}
    again = [
        f"For 30 days this brings it back: context-pack packs restore {one}"
        for one in done.results
        if one in trash
    ]
    lines = [f"deleted {pack_id}" for pack_id in done.results]
    return app.tell_each(done, "deleted", *lines, notes=again[:1])


@command("packs restore")
@click.argument("pack", type=EXPIRED, metavar="PACK")
@TTL
def restore(app: App, pack: str, ttl: int) -> None:
    """Bring back a pack whose time is over, or that was deleted.

    It is in a trash of yours for 30 days.

    Example:
      context-pack packs restore auth --ttl 7d
    """
    restored = app.workspace.packs.restore(pack, ttl_minutes=ttl)
    words = f"restored {restored.id}, until {format_instant(restored.expires_at, whole_seconds=True)}"
    app.tell({"id": restored.id, "name": restored.name, "revision": restored.revision}, words)
