"""The commands about packs: list, show, diff, draft, verify, repair, delete; see also `packs_export`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from context_pack.kernel.instants import format_instant
from context_pack.kernel.sentences import counted
from context_pack_adapters.commands.arguments import argument, command, flag, one_of
from context_pack_adapters.commands.github import annotated
from context_pack_adapters.commands.pack_calls import ask, each_pack, every_pack, mutate, readable_packs
from context_pack_adapters.commands.painting import show_pack
from context_pack_adapters.commands.shell import Shell, WrongUsage, place_text, way_of

if TYPE_CHECKING:
    from context_pack_adapters.workspace import Workspace

HOLDS = frozenset({"exact", "moved", "unanchored"})
HOLDS_STRICTLY = frozenset({"exact"})
UNDECIDED = 3
"""The exit code where nothing is known not to hold, and something could not be decided."""
COLOURS: Mapping[str, str] = {
    "exact": "green",
    "unanchored": "blue",
    "moved": "blue",
    "changed": "yellow",
    "ambiguous": "red",
    "stale": "red",
    "unknown": "yellow",
}
UNITS: Mapping[str, int] = {"m": 1, "h": 60, "d": 24 * 60}
DAY_SECONDS = 86_400
DIFF_COLOURS: Mapping[str, str] = {"+": "green", "-": "red"}
DIFF_LINES = 20
"""Lines of each diff that `verify` prints."""
DEFAULT_TTL, DRAFT_TTL = "7d", "1d"


@command(
    argument("--status", choices=["draft", "finalized"], help="only packs of this status"),
    argument("--query", metavar="TEXT", help="only packs with this text in their summary"),
    flag("--expired", "the packs whose time is over and which can be restored"),
    flag("--json", "print the summaries as JSON"),
)
def list_packs(options: Namespace, shell: Shell) -> None:
    """List the context packs, the last changed first.

    Examples:
      context-pack packs list
      context-pack packs list --status finalized --query auth
      context-pack packs list --expired               packs that can be restored
      context-pack packs list --json | jq -r '.packs[].id'
    """
    if options.expired:
        if options.status is not None or options.query is not None:
            raise WrongUsage("--expired goes with no filter")
        _list_expired(options, shell)
        return
    with shell.workspace() as workspace:
        packs = list(every_pack(workspace, status=options.status, query=options.query))
    rows = [
        (pack["id"], pack["status"], pack["revision"], _life(pack), _called(pack) + _by(pack))
        for pack in packs
    ]
    heads = ("ID", "STATUS", "REVISION", "TTL", "NAME AND TITLE")
    shell.tell_table(options, {"count": len(packs), "packs": packs}, rows, heads, "No context packs found.")
    if not (options.json or packs) and options.status is options.query is None:
        shell.terminal.note("Make one from a question: context-pack packs draft QUESTION")


def _list_expired(options: Namespace, shell: Shell) -> None:
    with shell.workspace() as workspace:
        packs = [
            {
                "id": pack.id,
                "name": pack.name,
                "title": pack.title,
                "revision": pack.revision,
                "expires_at": format_instant(pack.expires_at, whole_seconds=True),
            }
            for pack in workspace.packs.expired()
        ]
    rows = [(pack["id"], pack["expires_at"], _called(pack)) for pack in packs]
    body, heads = {"count": len(packs), "packs": packs}, ("ID", "EXPIRED", "NAME AND TITLE")
    shell.tell_table(options, body, rows, heads, "No expired packs found.")
    if packs and not options.json:
        shell.terminal.note("Bring one back: context-pack packs restore ID|NAME --ttl 7d")


def _by(pack: Mapping[str, Any]) -> str:
    """The last author of a pack, if that is known."""
    return f" (by {pack['author']})" if "author" in pack else ""


def _life(pack: Mapping[str, Any]) -> str:
    """How long a pack still lives, highlighted if it expires soon."""
    soon = " (soon)" if pack["ttl_remaining_seconds"] <= DAY_SECONDS else ""
    return f"{pack['ttl_remaining_human']}{soon}"


@command(
    argument("pack", metavar="ID|NAME", help="the pack"),
    argument("--ttl", required=True, metavar="TIME", help="how long it is to live: 90 (minutes), 12h, 7d"),
    flag("--json", "print the pack as JSON"),
)
def restore(options: Namespace, shell: Shell) -> None:
    """Bring back a pack whose time is over.

    A pack that expired stays where it was for a week, and in a trash of yours for a month after that.

    Examples:
      context-pack packs list --expired
      context-pack packs restore auth --ttl 7d
    """
    with shell.workspace() as workspace:
        pack = workspace.packs.restore(options.pack, ttl_minutes=minutes(options.ttl))
    words = f"restored {pack.id}, until {format_instant(pack.expires_at, whole_seconds=True)}"
    shell.tell(options, {"id": pack.id, "name": pack.name, "revision": pack.revision}, words)


def minutes(text: str) -> int:
    """A time such as 90, 12h or 7d, in minutes."""
    number, unit = (text[:-1], text[-1:]) if text[-1:] in UNITS else (text, "m")
    if not (number.isascii() and number.isdigit()) or len(number) > 9:
        raise WrongUsage("--ttl is a number of minutes, or of hours or days as in 12h and 7d")
    return int(number) * UNITS[unit]


@command(
    argument("pack", metavar="ID|NAME", help="the pack"),
    one_of(
        flag("--compact", "leave out the code excerpts"),
        flag("--diff", "only what changed since it was anchored"),
    ),
    flag("--json", "print the stored pack as JSON"),
)
def show(options: Namespace, shell: Shell) -> None:
    """Render a pack with its code, whole, in colours where there is a terminal.

    Colours are left out where NO_COLOR is set or the output is no terminal.

    Examples:
      context-pack packs show auth
      context-pack packs show pk_f2ireb33 --compact
      context-pack packs show auth --diff             what changed since its refs were anchored
      context-pack packs show auth --json             the stored pack instead of the rendered one
    """
    with shell.workspace() as workspace:
        if options.json:
            shell.terminal.json(ask(workspace, action="get", id=options.pack))
            return
        mode = "compact" if options.compact else "diff" if options.diff else "full"
        document = workspace.packs.document(options.pack, mode=mode)
    show_pack(document, shell.terminal)


@command(
    argument("pack", metavar="ID|NAME", help="the pack"),
    argument("revisions", nargs="*", type=int, metavar="REV", help="one revision, or two"),
    flag("--json", "print the changes as JSON"),
)
def diff(options: Namespace, shell: Shell) -> None:
    """Say what changed between two revisions of a pack.

    Without revisions it compares the last two, with one that revision and the present. The last 20 revisions
    that this user wrote are kept.

    Examples:
      context-pack packs diff auth
      context-pack packs diff auth 3 7
    """
    if len(options.revisions) > 2:
        raise WrongUsage("give at most two revisions")
    old, new = (*options.revisions, None, None)[:2]
    with shell.workspace() as workspace:
        found = ask(workspace, action="diff", id=options.pack, from_revision=old, to_revision=new)
    if options.json:
        shell.terminal.json(found)
        return
    shell.terminal.line(f"{found['id']}: revision {found['from']} to {found['to']}")
    for step in found["changes"]:
        details = f" ({step['details']})" if step["details"] else ""
        shell.terminal.line(f"  {step['what']}: {step['part']} {step['name']}".rstrip() + details)
    if not found["changes"]:
        shell.terminal.line("  nothing but its revision or time to live")


@command(
    argument("question", metavar="QUESTION", help="what the pack is to answer"),
    argument("--max-tokens", type=int, metavar="N", help="most tokens of the rendered pack [8000]"),
    argument("--name", metavar="NAME", help="a unique name for the pack"),
    argument(
        "--ttl",
        "--ttl-minutes",
        metavar="TIME",
        default=DRAFT_TTL,
        help="how long it lives: 90 (minutes), 12h, 7d [1d]",
    ),
    flag("--json", "print the stored pack as JSON"),
)
def draft(options: Namespace, shell: Shell) -> None:
    """Make a draft pack that answers a question: the best passages of code, documents and memory.

    Each passage is an anchored ref that says why it is there; together they fill the budget of tokens and
    never pass it. Edit the pack like any other.

    Examples:
      context-pack packs draft "how are passwords checked"
      context-pack packs draft "where invoices come from" --max-tokens 4000 --name invoices --ttl 12h
    """
    with shell.workspace() as workspace:
        pack = ask(
            workspace,
            action="draft",
            query=options.question,
            ttl_minutes=minutes(options.ttl),
            name=options.name,
            max_tokens=options.max_tokens,
        )
        if options.json:
            shell.terminal.json(pack)
            return
        document = workspace.packs.document(pack["id"])
    show_pack(document, shell.terminal)
    shell.terminal.note(f"\n{pack['id']}: {pack['tokens']} tokens")


@command(
    argument("packs", nargs="*", metavar="ID|NAME", help="the packs (default: every one)"),
    flag("--all", "every pack; the same as naming none"),
    flag("--strict", "only refs exactly where they were hold, and something must be there to check"),
    flag("--github", "print what does not hold as annotations of GitHub Actions"),
    flag("--json", "print every ref's state as JSON"),
)
def verify(options: Namespace, shell: Shell) -> int:
    """Check that every ref still finds its code.

    A ref holds when its code is where it was, has moved as it is, or was never anchored but is there. Exit
    code 1 when one does not hold (changed, ambiguous or stale) or a pack cannot be read; the other packs are
    checked all the same. Exit code 3 when nothing is wrong, but the state of a ref is unknown: its file, or
    one that may hold its code, could not be read just now. A pack in the storage folder that has expired is
    named and counts as one that does not hold, until it is restored or removed. So a CI job or a pre-commit
    hook can use it.

    Examples:
      context-pack packs verify                    every pack
      context-pack packs verify auth billing       these packs
      context-pack packs verify --strict           refs that moved or have no anchor do not hold either
      context-pack packs verify --json
      context-pack packs verify --github           annotations at the lines, in a workflow
    """
    if options.all and options.packs:
        raise WrongUsage("give either packs or --all")
    holding = HOLDS_STRICTLY if options.strict else HOLDS
    with shell.workspace() as workspace:

        def check(handle: str) -> dict[str, Any]:
            pack = ask(workspace, action="get", id=handle)
            found = ask(workspace, action="verify", id=pack["id"])
            ok = all(ref["state"] in holding for ref in found["refs"])
            undecided = not ok and all(ref["state"] in {*holding, "unknown"} for ref in found["refs"])
            return {**found, "name": pack["name"], "title": pack["title"], "ok": ok, "undecided": undecided}

        handles, broken = (options.packs, {}) if options.packs else readable_packs(shell, workspace)
        done = each_pack(handles, check, broken)
        over = [] if options.packs or broken else _over(workspace)
    sound = not done.failures and not over and all(pack["ok"] for pack in done.payloads)
    nothing = not done.payloads and not done.failures
    undecided = (
        not done.failures and not over and all(pack["ok"] or pack["undecided"] for pack in done.payloads)
    )
    if nothing and options.strict:
        sound = undecided = False
    shell.complain_of(done.failures)
    if options.json:
        told = {"ok": sound, "packs": done.payloads, "failed": done.failed}
        shell.terminal.json({**told, "expired": [pack["id"] for pack in over]} if over else told)
    else:
        for pack in done.payloads:
            _print_verified(pack, shell)
            for line in annotated(pack, holding) if options.github else ():
                shell.terminal.line(line)
        for pack in over:
            words = f"  {_called(pack)}: expired; packs restore {pack['id']} --ttl 7d brings it back"
            shell.terminal.styled_line(("bold", pack["id"]), words)
        if nothing:
            shell.terminal.line("No context packs found.")
    return 0 if sound else UNDECIDED if undecided else 1


def _over(workspace: Workspace) -> list[dict[str, Any]]:
    """The expired packs in the storage folder."""
    over = workspace.packs.expired(trashed=False)
    return [{"id": pack.id, "name": pack.name, "title": pack.title} for pack in over]


def _print_verified(pack: Mapping[str, Any], shell: Shell) -> None:
    """Print one pack: a line for itself, and one for each ref that is not exact."""
    count = counted(len(pack["refs"]), "ref")
    verdict = ("yellow", "could not be decided") if pack["undecided"] else ("red", "does not hold")
    verdict = ("green", "ok") if pack["ok"] else verdict
    shell.terminal.styled_line(("bold", pack["id"]), f"  {_called(pack)}: {count}, ", verdict)
    for ref in pack["refs"]:
        if ref["state"] == "exact":
            continue
        change = ref.get("change")
        much = f": {change['lines']} of {counted(change['of'], 'line')}, {change['kind']}" if change else ""
        reason = f" ({ref['reason']}{much})" if ref["reason"] else ""
        state = (COLOURS[ref["state"]], ref["state"].ljust(10))
        shell.terminal.styled_line("  ", state, f"  {ref['section']}/{ref['ref']}  {way_of(ref)}{reason}")
        _print_diff(change["diff"] if change else None, shell)


def _print_diff(diff: str | None, shell: Shell) -> None:
    """The first lines of a diff, below the ref that it is about."""
    lines = (diff or "").split("\n")[2:]
    for line in lines[:DIFF_LINES]:
        shell.terminal.styled_line("      ", (DIFF_COLOURS.get(line[:1], "dim"), line))
    if len(lines) > DIFF_LINES:
        shell.terminal.line(f"      … {counted(len(lines) - DIFF_LINES, 'more line')}: packs show --diff")


@command(
    argument("packs", nargs="*", metavar="ID|NAME", help="the packs"),
    flag("--all", "every draft"),
    flag("--json", "print what was repaired as JSON"),
)
def repair(options: Namespace, shell: Shell) -> int:
    """Rewrite the refs whose code has moved, so that they point at it again.

    Only refs that moved are touched; what changed, vanished or became ambiguous is for you to decide. A
    finalized pack is never changed: set its status to draft first.

    Examples:
      context-pack packs repair auth
      context-pack packs repair --all              every draft
    """
    if bool(options.packs) == options.all:
        raise WrongUsage("say which packs, or --all")
    with shell.workspace() as workspace:
        handles, broken = readable_packs(shell, workspace, "draft") if options.all else (options.packs, {})
        done = each_pack(handles, lambda handle: mutate(workspace, handle, "repair"), broken)
    shell.complain_of(done.failures)
    if options.json:
        shell.terminal.json({"ok": not done.failures, "packs": done.payloads, "failed": done.failed})
    else:
        for pack in done.payloads:
            repaired = pack["repaired"]
            count = f"{counted(len(repaired), 'ref')} repaired" if repaired else "nothing to repair"
            shell.terminal.styled_line(("bold", pack["id"]), f"  {count}, revision {pack['revision']}")
            for ref in repaired:
                way = f"{place_text(ref['from'])} → {place_text(ref)}"
                shell.terminal.line(f"  {ref['section']}/{ref['ref']}  {way}")
    return 1 if done.failures else 0


@command(
    argument("packs", nargs="+", metavar="ID|NAME", help="the packs"),
    argument("--revision", type=int, metavar="N", help="only if the one pack is at this revision"),
    flag("--json", "print what was deleted as JSON"),
)
def delete(options: Namespace, shell: Shell) -> int:
    """Delete packs for good.

    Examples:
      context-pack packs delete pk_f2ireb33
      context-pack packs delete auth billing
      context-pack packs delete auth --revision 7     only if it is still at this revision
    """
    if options.revision is not None and len(options.packs) > 1:
        raise WrongUsage("--revision goes with one pack")
    with shell.workspace() as workspace:

        def remove(handle: str) -> dict[str, Any]:
            if options.revision is None:
                return mutate(workspace, handle, "delete_pack")
            return ask(workspace, action="delete_pack", id=handle, expected_revision=options.revision)

        done = each_pack(options.packs, remove)
    deleted = [gone["id"] for gone in done.payloads]
    shell.complain_of(done.failures)
    body = {"ok": not done.failures, "deleted": deleted, "failed": done.failed}
    shell.tell(options, body, *(f"deleted {pack_id}" for pack_id in deleted))
    return 1 if done.failures else 0


def _called(pack: Mapping[str, Any]) -> str:
    """A pack's name and title, as far as it has them."""
    return " — ".join(filter(None, (pack["name"], pack["title"]))) or "Untitled"
