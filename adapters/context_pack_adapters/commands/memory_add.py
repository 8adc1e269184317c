"""Record a discovery about the project; the same words again are merged with what is there.

Examples:
  context-pack memory add rule "Never log tokens" --module auth
  context-pack memory add decision "Sessions are kept in Redis because they must survive a restart"
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from context_pack_adapters.commands.memory import TYPES, as_json, open_memory
from context_pack_adapters.commands.shell import Shell


def configure(parser: ArgumentParser) -> None:
    """What to record."""
    parser.add_argument("type", choices=TYPES, metavar="TYPE", help=f"one of {', '.join(TYPES)}")
    parser.add_argument("content", metavar="TEXT", help="what was found out, 10 to 1000 characters")
    parser.add_argument("--module", metavar="NAME", help="the part of the project it is about")
    parser.add_argument("--json", action="store_true", help="print the discovery as JSON")


def run(options: Namespace, shell: Shell) -> int:
    """Record it."""
    from context_pack.memory.usecases.record import ContextRecord

    _, recorder = open_memory(shell)
    recorded = recorder.record(ContextRecord(options.type, options.content, options.module))
    if options.json:
        shell.terminal.json({**as_json(recorded.discovery), "merged": recorded.merged})
    else:
        shell.terminal.line(f"{'merged with' if recorded.merged else 'recorded'} {recorded.discovery.id}")
    return 0
