"""Bring contexts up to date with their folders, and make those that are missing.

Nothing that a person wrote is touched: only fingerprint, date and the fields named in derived_fields change,
and a field that somebody edited leaves derived_fields instead. Comments stay. A corrupt file, or one of a
later version, is left alone and told.

Examples:
  context-pack contexts refresh
  context-pack contexts refresh src/core           only this folder and what is below it
  context-pack contexts refresh --fingerprint stat
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from context_pack_adapters.commands.contexts import add_fingerprint, add_place, carry_out
from context_pack_adapters.commands.shell import Shell, Usage


def configure(parser: ArgumentParser) -> None:
    """Which folders of which project, and how."""
    parser.add_argument("scope", nargs="?", metavar="SCOPE", help="a folder, from the root (default: all)")
    add_fingerprint(parser)
    add_place(parser)


def run(options: Namespace, shell: Shell) -> int:
    """Refresh."""
    if options.scope is not None and options.agents:
        raise Usage("--agents is about the whole project; leave out the scope")
    return carry_out(options, shell, scope=options.scope)
