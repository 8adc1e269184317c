"""List the context packs, the last changed first.

Examples:
  context-pack packs list
  context-pack packs list --status finalized --query auth
  context-pack packs list --json | jq -r '.packs[].id'
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from context_pack_adapters.commands.shell import Shell, every_pack


def configure(parser: ArgumentParser) -> None:
    """Which packs."""
    parser.add_argument("--status", choices=["draft", "finalized"], help="only packs of this status")
    parser.add_argument("--query", metavar="TEXT", help="only packs with this text in their summary")
    parser.add_argument("--json", action="store_true", help="print the summaries as JSON")


def run(options: Namespace, shell: Shell) -> int:
    """Print a line per pack."""
    with shell.workspace() as workspace:
        packs = list(every_pack(workspace, status=options.status, query=options.query))
    if options.json:
        shell.terminal.json({"count": len(packs), "packs": packs})
    elif not packs:
        shell.terminal.line("No context packs found.")
        if options.status is options.query is None:
            shell.terminal.note("Make one from a question: context-pack packs draft QUESTION")
    else:
        rows = [
            [pack["id"], pack["status"], str(pack["revision"]), pack["ttl_remaining_human"], called(pack)]
            for pack in packs
        ]
        shell.terminal.table(rows, ["ID", "STATUS", "REVISION", "TTL", "NAME AND TITLE"])
    return 0


def called(pack: dict[str, str | None]) -> str:
    """What a pack is called: its name and its title, as far as it has them."""
    return " — ".join(filter(None, (pack["name"], pack["title"]))) or "Untitled"
