"""The commands about the server: serve, and stats of what past connections did."""

from __future__ import annotations

import os
from argparse import Namespace

from context_pack.kernel.text import counted
from context_pack_adapters.cli.arguments import argument, command, flag
from context_pack_adapters.cli.shell import Shell, WrongUsage
from context_pack_adapters.memory.stats import StatsFiles, merge
from context_pack_adapters.private_places import open_places
from context_pack_adapters.settings import TOOL_FAMILIES, parse_tools


@command(
    argument(
        "--tools",
        metavar="FAMILIES",
        help="families to list (packs,code,…), auto, or all, the default",
    ),
)
def serve(options: Namespace, shell: Shell) -> None:
    """Be the MCP server on stdin and stdout.

    This is what `context-pack` does without arguments; the command exists to give the places on the command
    line, and which families of tools are listed. With 'auto' those are listed that have something to serve in
    this project. A tool that is not listed can still be called.

    Examples:
      context-pack serve --source-root ~/src/shop --root ~/.cache/packs/shop
      context-pack serve --tools auto
    """
    from context_pack_adapters.bootstrap import serve

    settings = shell.settings
    if options.tools is not None:
        tools = parse_tools(options.tools)
        if tools is None:
            raise WrongUsage(f"--tools takes auto, all or some of: {', '.join(sorted(TOOL_FAMILIES))}")
        settings = settings._replace(tools=tools)
    os._exit(serve(settings))  # a busy thread must not hold the process


@command(flag("--json", "print the numbers as JSON"))
def stats(options: Namespace, shell: Shell) -> None:
    """What the tools have done in past connections to this project.

    A server writes a small file when a connection that called tools ends; the last 64 are kept and added up
    here. Times are milliseconds inside the server, of the most recent calls. A running server tells its own
    numbers as the MCP resource context://stats.

    Examples:
      context-pack stats
      context-pack stats --json
    """
    records = StatsFiles(open_places(shell.settings).state).load()
    tools = merge(records).snapshot()
    if options.json:
        shell.terminal.json({"connections": len(records), "tools": tools})
        return
    if not tools:
        shell.terminal.line("No calls yet: a server writes its numbers here when a connection ends.")
        return
    rows = [
        [
            name,
            tool["calls"],
            ", ".join(f"{kind} {count}" for kind, count in tool["failures"].items()) or "-",
            *("-" if tool[share] is None else f"{tool[share]:.1f}" for share in ("p50", "p95", "p99")),
        ]
        for name, tool in tools.items()
    ]
    shell.terminal.table(rows, "TOOL", "CALLS", "FAILURES", "P50 MS", "P95 MS", "P99 MS")
    shell.terminal.note(f"\n{counted(len(records), 'connection')}.")
