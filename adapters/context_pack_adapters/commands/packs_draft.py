"""Make a draft pack that answers a question: the best passages of code, documents and memory.

Each passage is an anchored ref that says why it is there; together they fill the budget of tokens and never
pass it. Edit the pack like any other.

Examples:
  context-pack packs draft "how are passwords checked"
  context-pack packs draft "where do invoices come from" --max-tokens 4000 --name invoices --ttl-minutes 600
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from context_pack_adapters.commands.packs_show import show
from context_pack_adapters.commands.shell import Shell, ask

DEFAULT_TTL_MINUTES = 24 * 60


def configure(parser: ArgumentParser) -> None:
    """The question, and bounds."""
    parser.add_argument("question", metavar="QUESTION", help="what the pack is to answer")
    parser.add_argument("--max-tokens", type=int, metavar="N", help="most tokens of the rendered pack [8000]")
    parser.add_argument("--name", metavar="NAME", help="a unique name for the pack")
    parser.add_argument(
        "--ttl-minutes", type=int, default=DEFAULT_TTL_MINUTES, metavar="N", help="minutes to live [a day]"
    )
    parser.add_argument("--json", action="store_true", help="print the stored pack as JSON")


def run(options: Namespace, shell: Shell) -> int:
    """Draft it and print it."""
    with shell.workspace() as workspace:
        pack = ask(
            workspace,
            action="draft",
            query=options.question,
            ttl_minutes=options.ttl_minutes,
            name=options.name,
            max_tokens=options.max_tokens,
        )
        if options.json:
            shell.terminal.json(pack)
            return 0
        document = workspace.packs.document(pack["id"])
    show(document, shell)
    shell.terminal.note(f"\n{pack['id']}: {pack['tokens']} tokens")
    return 0
