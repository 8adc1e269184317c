"""List the definitions of a file or a folder, with their lines and signatures.

The same as the tool `code_outline`: what to look at before reading a long file. The exit code is 1 where the
path cannot be read.

Examples:
  context-pack outline src/app.py
  context-pack outline src --depth 2
  context-pack outline . --query parse
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

from context_pack_adapters.commands.shell import Shell


def configure(parser: ArgumentParser) -> None:
    """Where, how deep, and which."""
    parser.add_argument(
        "path", metavar="PATH", nargs="?", default=".", help="a file or folder of the project"
    )
    parser.add_argument("--depth", type=int, metavar="N", help="levels of definitions, 1 to 10")
    parser.add_argument("--query", metavar="NAME", help="only definitions whose name contains this")
    parser.add_argument("--max-tokens", type=int, metavar="N", help="budget of the list (default 4000)")


def run(options: Namespace, shell: Shell) -> int:
    """Ask `code_outline` and print what it says."""
    given = {
        "path": options.path,
        "depth": options.depth,
        "query": options.query,
        "max_tokens": options.max_tokens,
    }
    with shell.workspace() as workspace:
        answer = workspace.call(
            "code_outline", {name: value for name, value in given.items() if value is not None}
        )
    if not answer.is_error:
        shell.terminal.line(answer.text)
        return 0
    from context_pack_adapters.commands.read import trouble

    shell.terminal.complain(trouble(json.loads(answer.text)))
    return 1
