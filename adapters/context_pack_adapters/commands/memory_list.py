"""List the discoveries, the newest first.

Examples:
  context-pack memory list
  context-pack memory list --type rule --module auth
  context-pack memory list --json | jq -r '.discoveries[].content'
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from context_pack_adapters.commands.memory import TYPES, as_json, open_memory
from context_pack_adapters.commands.shell import Shell

SHOWN_CHARS = 100


def configure(parser: ArgumentParser) -> None:
    """Which discoveries."""
    parser.add_argument("--type", choices=TYPES, help="only of this type")
    parser.add_argument("--module", metavar="NAME", help="only about this module")
    parser.add_argument("--json", action="store_true", help="print them as JSON")


def run(options: Namespace, shell: Shell) -> int:
    """Print a line per discovery."""
    memory, _ = open_memory(shell)
    found = [
        each
        for each in reversed(memory.discoveries.all())
        if options.type in (None, each.type.value) and options.module in (None, each.module)
    ]
    if options.json:
        shell.terminal.json({"count": len(found), "discoveries": [as_json(each) for each in found]})
    elif not found:
        shell.terminal.line("No discoveries found.")
        if options.type is options.module is None:
            shell.terminal.note("Record one: context-pack memory add TYPE TEXT")
    else:
        rows = [
            [each.id, each.type.value, each.date.date().isoformat(), each.module or "-", _short(each.content)]
            for each in found
        ]
        shell.terminal.table(rows, ["ID", "TYPE", "DATE", "MODULE", "CONTENT"])
    return 0


def _short(content: str) -> str:
    line = " ".join(content.split())
    return line if len(line) <= SHOWN_CHARS else line[: SHOWN_CHARS - 1] + "…"
