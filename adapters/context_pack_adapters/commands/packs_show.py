"""Render a pack with its code, whole, in colours where there is a terminal.

Colours are left out where NO_COLOR is set or the output is no terminal.

Examples:
  context-pack packs show auth
  context-pack packs show pk_f2ireb33 --compact
  context-pack packs show auth --json             the stored pack instead of the rendered one
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from context_pack_adapters.commands.shell import Shell, ask


def configure(parser: ArgumentParser) -> None:
    """Which pack, and how."""
    parser.add_argument("pack", metavar="ID|NAME", help="the pack")
    parser.add_argument("--compact", action="store_true", help="leave out the code excerpts")
    parser.add_argument("--json", action="store_true", help="print the stored pack as JSON")


def run(options: Namespace, shell: Shell) -> int:
    """Print the pack."""
    with shell.workspace() as workspace:
        if options.json:
            shell.terminal.json(ask(workspace, action="get", id=options.pack))
            return 0
        document = workspace.packs.document(options.pack, mode="compact" if options.compact else "full")
    show(document, shell)
    return 0


def show(document: str, shell: Shell) -> None:
    """Print a rendered pack, in colours if there are any."""
    from context_pack_adapters.commands.painting import paint

    if not shell.terminal.colours:
        shell.terminal.line(document)
        return
    for parts in paint(document):
        shell.terminal.styled_line(*parts)
