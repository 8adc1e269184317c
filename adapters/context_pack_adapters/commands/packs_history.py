"""`packs diff`: what changed between two revisions of a pack."""

from __future__ import annotations

from argparse import Namespace

from context_pack_adapters.commands.arguments import argument, command, flag
from context_pack_adapters.commands.pack_calls import ask
from context_pack_adapters.commands.shell import Shell, WrongUsage


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
