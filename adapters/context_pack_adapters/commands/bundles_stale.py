"""Is an earlier export still true? Says which entities are newer, gone or new.

FILE is what export_context answered, as JSON or YAML: the whole answer, or its data alone. The bundle is
exported again in thought, from the same targets to the same depth. Newer are entities modified since; changed
are those that say something else without being newer; gone are those that are no more, or that the targets no
longer lead to; new are those that they lead to now. Exit code 1 when there is any.

Examples:
  context-pack bundles stale snapshot.json
  context-pack bundles stale snapshot.yaml --json
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from attrs import evolve

from context_pack_adapters.commands.bundles import open_shelf
from context_pack_adapters.commands.shell import Shell, Usage

MOST_BYTES = 1024 * 1024 * 1024
ENVELOPE_DEPTH = 10
"""How much deeper a value lies in an export than in its file, and some."""
COLOURS = {"newer": "yellow", "changed": "yellow", "gone": "red", "new": "green"}


def configure(parser: ArgumentParser) -> None:
    """Which export, and of which bundle."""
    parser.add_argument("file", metavar="FILE", help="the earlier export, or - for stdin")
    parser.add_argument("--bundle", metavar="ID", help="the bundle (default: the one the export names)")
    parser.add_argument("--depth", type=int, metavar="N", help="the depth (default: the one the export used)")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(options: Namespace, shell: Shell) -> int:
    """Compare, and print what differs."""
    from context_pack.bundles.usecases.checking import compare, read_snapshot
    from context_pack.bundles.usecases.shelf import Opened
    from context_pack.toolkit.call import QuietCall

    snapshot = read_snapshot(_parsed(options.file))
    if options.depth is not None:
        if options.depth < 0:
            raise Usage("--depth must not be negative")
        snapshot = evolve(snapshot, depth=options.depth)

    def look(opened: Opened) -> dict[str, list[dict[str, str]]]:
        found = compare(opened, snapshot)
        named = {"newer": found.newer, "changed": found.changed, "gone": found.gone, "new": found.new}
        return {
            state: [{"entityType": one.type, "entityId": one.id} for one in group]
            for state, group in named.items()
        }

    shelf, _ = open_shelf(shell)
    found = shelf.serve(options.bundle or snapshot.bundle_id, QuietCall(), look)
    stale = any(found.values())
    if options.json:
        shell.terminal.json({"stale": stale, **found})
        return 1 if stale else 0
    for state, group in found.items():
        for one in group:
            shell.terminal.styled_line(
                (COLOURS[state], state.ljust(8)), f"{one['entityType']} {one['entityId']}"
            )
    if not stale:
        shell.terminal.line(f"Still true: {len(snapshot.entities)} entities.")
    return 1 if stale else 0


def _parsed(file: str) -> object:
    """The value in the file; JSON is read as JSON, because it is often large."""
    from context_pack_adapters.disk.named import read_named
    from context_pack_adapters.stores.bundle_files_parsing import parse
    from context_pack_adapters.stores.yaml_core import MAX_DEPTH, Malformed

    data = sys.stdin.buffer.read() if file == "-" else read_named(file, MOST_BYTES)
    name = "export.json" if data.lstrip()[:1] == b"{" else "export.yaml"
    try:
        return parse(data, name, MAX_DEPTH + ENVELOPE_DEPTH)
    except Malformed as malformed:
        raise Usage(f"{file}: {malformed}") from None
