"""List the tools, or explain one.

Examples:
  context-pack tools                 every tool and what it is for
  context-pack tools input           its arguments, action by action
  context-pack tools --json          exactly what an MCP client sees
"""

from __future__ import annotations

import textwrap
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from context_pack_adapters.commands.shell import Shell, Usage, nearest

if TYPE_CHECKING:
    from context_pack.toolkit.spec import Tool

WIDTH = 96


def configure(parser: ArgumentParser) -> None:
    """Perhaps one tool's name."""
    parser.add_argument("name", nargs="?", metavar="TOOL", help="explain this tool")
    parser.add_argument("--json", action="store_true", help="print tool definitions as MCP has them")


def run(options: Namespace, shell: Shell) -> int:
    """Print the table, or one tool."""
    from context_pack.toolkit.registry import describe

    registry = shell.registry()
    if options.name is None:
        if options.json:
            shell.terminal.json(registry.describe())
        else:
            tools = registry.tools.values()
            rows = [[tool.name, tool.title, first_sentence(tool.description)] for tool in tools]
            shell.terminal.table(rows, ["TOOL", "TITLE", "WHAT IT DOES"])
            shell.terminal.note("\n'context-pack tools TOOL' explains one; 'context-pack call TOOL' runs it.")
        return 0
    tool = registry.tools.get(options.name)
    if tool is None:
        raise Usage(f"unknown tool {options.name!r}{nearest(options.name, list(registry.tools))}")
    if options.json:
        shell.terminal.json(describe(tool))
    else:
        _explain(tool, shell)
    return 0


def first_sentence(text: str) -> str:
    """The first sentence of a description, in one line."""
    line = " ".join(text.split())
    end = line.find(". ")
    return line if end < 0 else line[: end + 1]


def _explain(tool: Tool, shell: Shell) -> None:
    """One tool for a person: what it does, then each command's arguments."""
    from context_pack.toolkit.arguments import schema_of

    terminal = shell.terminal
    terminal.styled_line(("bold", tool.name), f" — {tool.title}")
    terminal.line(textwrap.fill(" ".join(tool.description.split()), WIDTH))
    for name, command in tool.commands.items():
        schema = schema_of(command)
        terminal.line()
        terminal.styled_line(("bold", f"action={name}" if tool.selector is not None else "arguments"))
        shown = {key: value for key, value in schema["properties"].items() if key != "action"}
        if not shown:
            terminal.line("  (none)")
        for key, value in shown.items():
            _explain_argument(key, value, key in schema.get("required", ()), shell)


def _explain_argument(name: str, schema: Mapping[str, Any], required: bool, shell: Shell) -> None:
    """One argument: name, whether it must be there, its type and bounds, its description."""
    from context_pack.toolkit.reference import rule_in_words

    presence = ", required" if required else f", default {schema['default']}" if "default" in schema else ""
    shell.terminal.styled_line("  ", ("cyan", name), f": {rule_in_words(dict(schema))}{presence}")
    about = " ".join(str(schema.get("description", "")).split())
    if about:
        shell.terminal.line(textwrap.fill(about, WIDTH, initial_indent="      ", subsequent_indent="      "))
