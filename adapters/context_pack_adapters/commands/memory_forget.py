"""Forget discoveries for good; a malformed file of one is removed too.

Examples:
  context-pack memory forget 5f1c0a52-7d3b-8c11-9a44-0c9a5f2d7e10
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from context_pack.kernel.errors import Failure
from context_pack_adapters.commands.memory import as_json, open_memory
from context_pack_adapters.commands.shell import Shell


def configure(parser: ArgumentParser) -> None:
    """Which discoveries."""
    parser.add_argument("ids", nargs="+", metavar="ID", help="what 'memory list' shows")
    parser.add_argument("--json", action="store_true", help="print what was forgotten as JSON")


def run(options: Namespace, shell: Shell) -> int:
    """Forget them one by one."""
    memory, _ = open_memory(shell)
    gone, failures = {}, {}
    for one in options.ids:
        try:
            gone[one] = memory.discoveries.forget(one)
        except Failure as failure:
            failures[one] = failure
    shell.complain_of(failures)
    if options.json:
        failed = [{"id": one, "code": why.code, "message": why.message} for one, why in failures.items()]
        forgotten = [
            {"id": one, "malformed": True} if each is None else as_json(each) for one, each in gone.items()
        ]
        shell.terminal.json({"forgotten": forgotten, "failed": failed})
    else:
        for one, each in gone.items():
            shell.terminal.line(f"removed the malformed {one}" if each is None else f"forgot {each.id}")
    return 1 if failures else 0
