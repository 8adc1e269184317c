"""Make a .context.yaml for every folder worth one that has none; those that are there stay as they are.

A context says what its folder holds: summary, files, interfaces, dependencies, tests; made from the code, its
documentation and its manifests, without a model and in seconds. Add what the code does not show (decisions,
constraints) by hand: it stays. Which folders are worth one is said in .context.config.yaml (min_tokens).

Examples:
  context-pack contexts init
  context-pack contexts init --path ../other-project
  context-pack contexts init --agents              also tell agents about them, in AGENTS.md
  context-pack contexts init --fingerprint stat    times and sizes instead of contents, as dotcontext has it
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from context_pack_adapters.commands.contexts import add_fingerprint, add_place, carry_out
from context_pack_adapters.commands.shell import Shell


def configure(parser: ArgumentParser) -> None:
    """Which project, and how."""
    add_fingerprint(parser)
    add_place(parser)


def run(options: Namespace, shell: Shell) -> int:
    """Make what is missing."""
    return carry_out(options, shell, only_missing=True)
