"""What the tools have done in past connections to this project.

A server writes a small file when a connection that called tools ends; the last 64 are kept and added up
here. Times are milliseconds inside the server, of the most recent calls. A running server tells its own
numbers as the MCP resource context://stats.

Examples:
  context-pack stats
  context-pack stats --json
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from context_pack_adapters.commands.shell import Shell
from context_pack_adapters.commands.terminal import counted


def configure(parser: ArgumentParser) -> None:
    """How to print."""
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")


def run(options: Namespace, shell: Shell) -> int:
    """Add up the kept connections and print them."""
    from context_pack_adapters.private_places import open_places
    from context_pack_adapters.stores.stats_files import StatsFiles, merge

    records = StatsFiles(open_places(shell.settings).state).load()
    tools = merge(records).snapshot()
    if options.json:
        shell.terminal.json({"connections": len(records), "tools": tools})
        return 0
    if not tools:
        shell.terminal.line("No calls yet: a server writes its numbers here when a connection ends.")
        return 0
    rows = [
        [
            name,
            str(tool["calls"]),
            ", ".join(f"{kind} {count}" for kind, count in tool["failures"].items()) or "-",
            *("-" if tool[share] is None else f"{tool[share]:.1f}" for share in ("p50", "p95", "p99")),
        ]
        for name, tool in tools.items()
    ]
    shell.terminal.table(rows, ["TOOL", "CALLS", "FAILURES", "P50 MS", "P95 MS", "P99 MS"])
    shell.terminal.note(f"\n{counted(len(records), 'connection')}.")
    return 0
