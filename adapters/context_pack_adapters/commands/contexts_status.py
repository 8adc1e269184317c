"""Tell for every folder worth a context whether it is fresh, stale, missing or corrupt.

Exit code 1 when one is not fresh, so that a CI job or a pre-commit hook can use it.

Examples:
  context-pack contexts status
  context-pack contexts status --quiet             only what is not fresh
  context-pack contexts status --json
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from context_pack_adapters.commands.contexts import COLOURS, add_place, answered, open_project
from context_pack_adapters.commands.shell import Shell

if TYPE_CHECKING:
    from context_pack.contexts.usecases.listing import Entry


def configure(parser: ArgumentParser) -> None:
    """Which project, and how much to tell."""
    parser.add_argument("--quiet", action="store_true", help="tell only what is not fresh")
    add_place(parser)


def run(options: Namespace, shell: Shell) -> int:
    """Print a line per folder."""
    from context_pack.contexts.tools import listing_body
    from context_pack.contexts.usecases.listing import ContextLister

    opened = open_project(options, shell)
    listing = answered(ContextLister(opened.ports.projects, opened.ports.format).survey(opened.project))
    states = [shown(entry) for entry in listing.entries]
    fresh = all(state == "fresh" for state in states)
    if options.json:
        shell.terminal.json({"ok": fresh, **listing_body(listing)})
        return 0 if fresh else 1
    width = max(len(entry.scope) for entry in listing.entries)
    for entry, state in zip(listing.entries, states, strict=True):
        if not options.quiet or state != "fresh":
            told = entry.summary or entry.reason or ""
            shell.terminal.styled_line(
                (COLOURS[state], state.ljust(8)), f"  {entry.scope.ljust(width)}  {_line(told)}"
            )
    counted = [
        f"{states.count(state)} {state}" for state in dict.fromkeys(("fresh", "stale", "missing", *states))
    ]
    more = f"; {listing.skipped} folders below the threshold" if listing.skipped else ""
    shell.terminal.line(", ".join(counted) + more)
    if listing.warnings:
        shell.terminal.note(f"{listing.warnings} folders, names or settings could not be used")
    if not {"stale", "missing"}.isdisjoint(states):
        shell.terminal.note("'context-pack contexts refresh' mends what is stale or missing.")
    return 0 if fresh else 1


def shown(entry: Entry) -> str:
    """The state as people are told it: a file that cannot be used is no missing file."""
    return "corrupt" if entry.reason is not None else entry.state.value


def _line(text: str) -> str:
    return " ".join(text.split())[:100]
