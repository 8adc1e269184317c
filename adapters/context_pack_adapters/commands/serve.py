"""Be the MCP server on stdin and stdout.

This is what `context-pack` does without arguments; the command exists to give the places on the command line.

Example:
  context-pack serve --source-root ~/src/shop --root ~/.cache/packs/shop
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from context_pack_adapters.commands.shell import Shell


def configure(parser: ArgumentParser) -> None:
    """No arguments of its own."""


def run(_: Namespace, shell: Shell) -> int:
    """Serve until the conversation ends; a busy thread must not hold the process, so it ends here."""
    from context_pack_adapters.bootstrap import serve

    os._exit(serve(shell.settings))
