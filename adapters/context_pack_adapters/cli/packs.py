"""The commands about packs: list, show, diff, draft, verify, repair, delete; see also `packs_export`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any

from context_pack.kernel.errors import Code
from context_pack.kernel.text import counted
from context_pack.kernel.times import format_instant
from context_pack.packs.ports import last_expired
from context_pack_adapters.cli.arguments import argument, command, flag, one_of
from context_pack_adapters.cli.github import annotated
from context_pack_adapters.cli.pack_calls import (
    PackOutcomes,
    ask,
    each_pack,
    every_pack,
    mutate,
    readable_packs,
)
from context_pack_adapters.cli.packs_life import TTL, minutes
from context_pack_adapters.cli.painting import show_pack
from context_pack_adapters.cli.shell import Shell, WrongUsage, notes_in_words, place_text, way_of
from context_pack_adapters.library import Workspace

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
DAY_SECONDS = 86_400
MOST_EXPIRED = 5
"""Expired packs that `verify` names."""


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
        shell.terminal.note("Bring one back: context-pack packs restore ID|NAME")


def _by(pack: Mapping[str, Any]) -> str:
    """The last author of a pack, if that is known."""
    tree = f" (from worktree {pack['worktree']})" if "worktree" in pack else ""
    return f" (by {pack['author']})" if "author" in pack else tree


def _life(pack: Mapping[str, Any]) -> str:
    """How long a pack still lives, highlighted if it expires soon."""
    soon = " (soon)" if pack["ttl_remaining_seconds"] <= DAY_SECONDS else ""
    return f"{pack['ttl_remaining_human']}{soon}"


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
    TTL,
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
    for note in notes_in_words(pack):
        shell.terminal.note(note)
    shell.terminal.note(f"\n{pack['id']}: {pack['tokens']} tokens")


@command(
    argument("packs", nargs="*", metavar="ID|NAME", help="the packs (default: every one)"),
    flag("--all", "every pack; the same as naming none"),
    flag("--strict", "only refs where they were hold, no pack may have expired, and one must be there"),
    flag("--github", "print what does not hold as annotations of GitHub Actions"),
    flag("--json", "print every ref's state as JSON"),
)
def verify(options: Namespace, shell: Shell) -> int:
    """Check that every ref still finds its code.

    A ref holds when its code is where it was, has moved as it is, or was never anchored but is there. Exit
    code 1 when one does not hold (changed, ambiguous or stale) or a pack cannot be read; the other packs are
    checked all the same. Exit code 3 when nothing is wrong, but the state of a ref is unknown: its file, or
    one that may hold its code, could not be read just now. A pack that has expired is named, and with
    --strict it does not hold until it is restored or deleted. A diagram that cannot be drawn is named too. So
    a CI job or a pre-commit hook can use it.

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
        over = _expired(workspace, options.packs, done)
    sound = not done.failures and all(pack["ok"] for pack in done.payloads)
    nothing = not done.payloads and not done.failures
    undecided = not done.failures and all(pack["ok"] or pack["undecided"] for pack in done.payloads)
    if options.strict and (nothing or over):
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
        for pack in over[:MOST_EXPIRED]:
            words = f"  {_called(pack)}: expired; packs restore {pack['id']} brings it back"
            shell.terminal.styled_line(("bold", pack["id"]), words)
        if len(over) > MOST_EXPIRED:
            shell.terminal.line(f"and {len(over) - MOST_EXPIRED} more have expired: packs list --expired")
        if nothing:
            shell.terminal.line("No context packs found.")
    return 0 if sound else UNDECIDED if undecided else 1


def _expired(workspace: Workspace, handles: Sequence[str], done: PackOutcomes) -> list[dict[str, Any]]:
    """The expired packs, or those of them that were asked for; these have not failed."""
    packs = workspace.packs.expired()
    if handles:
        missing = [one for one, why in done.failures.items() if why.code is Code.NOT_FOUND]
        asked = {one: pack for one in missing if (pack := last_expired(packs, one)) is not None}
        for one in asked:
            del done.failures[one]
        packs = list(asked.values())
    return [{"id": pack.id, "name": pack.name, "title": pack.title} for pack in packs]


def _print_verified(pack: Mapping[str, Any], shell: Shell) -> None:
    """Print one pack: a line for itself, and one for each ref that is not exact."""
    count = counted(pack["count"], "ref")
    verdict = ("yellow", "could not be decided") if pack["undecided"] else ("red", "does not hold")
    verdict = ("green", "ok") if pack["ok"] else verdict
    shell.terminal.styled_line(("bold", pack["id"]), f"  {_called(pack)}: {count}, ", verdict)
    for ref in pack["refs"]:
        change = ref.get("change")
        much = f": {change['lines']} of {counted(change['of'], 'line')}, {change['kind']}" if change else ""
        reason = f" ({ref['reason']}{much})" if ref["reason"] else ""
        state = (COLOURS[ref["state"]], ref["state"].ljust(10))
        shell.terminal.styled_line("  ", state, f"  {ref['section']}/{ref['ref']}  {way_of(ref)}{reason}")
    for each in pack.get("diagrams", ()):
        words = f"  {each['section']}/{each['diagram']}  cannot be drawn: {each['fault']}"
        shell.terminal.styled_line("  ", ("yellow", "diagram   "), words)


@command(
    argument("packs", nargs="*", metavar="ID|NAME", help="the packs"),
    flag("--all", "every draft"),
    flag("--json", "print what was repaired as JSON"),
)
def repair(options: Namespace, shell: Shell) -> int:
    """Rewrite the refs whose code has moved, so that they point at it again.

    Refs that moved are followed, and those whose change is only cosmetic (white space, comments, names of
    locals, type hints) are accepted; what else changed, vanished or became ambiguous is for you to decide. A
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


def _called(pack: Mapping[str, Any]) -> str:
    """A pack's name and title, as far as it has them."""
    return " — ".join(filter(None, (pack["name"], pack["title"]))) or "Untitled"
