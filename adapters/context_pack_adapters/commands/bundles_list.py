"""List the bundles of this project: those that load, and those that do not.

Examples:
  context-pack bundles list
  context-pack bundles list --json | jq -r '.bundles[].id'
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import Counter
from typing import TYPE_CHECKING, Any

from context_pack_adapters.commands.bundles import open_shelf, tell_none
from context_pack_adapters.commands.shell import Shell

if TYPE_CHECKING:
    from context_pack.bundles.domain.model import Bundle, Unloadable
    from context_pack.bundles.ports import Place


def configure(parser: ArgumentParser) -> None:
    """How to print."""
    parser.add_argument("--json", action="store_true", help="print the bundles as JSON")


def run(options: Namespace, shell: Shell) -> int:
    """Print a line per bundle."""
    from context_pack.toolkit.call import QuietCall

    shelf, _ = open_shelf(shell)
    found = [_summary(place, bundle) for place, bundle in shelf.bundles(QuietCall())]
    wrong = [diagnostic.record() for diagnostic in shelf.store.discover().diagnostics]
    if options.json:
        shell.terminal.json({"count": len(found), "bundles": found, "diagnostics": wrong})
        return 0
    for diagnostic in wrong:
        shell.terminal.complain(f"{diagnostic.get('filePath', 'bundles')}: {diagnostic['message']}")
    if not found:
        tell_none(shell)
        return 0
    rows = [
        [
            one["id"],
            "yes" if one["loads"] else "no",
            str(one["entities"]),
            str(one["problems"]),
            one["path"],
            one["name"],
        ]
        for one in found
    ]
    shell.terminal.table(rows, ["ID", "LOADS", "ENTITIES", "PROBLEMS", "FOLDER", "NAME"])
    return 0


def _summary(place: Place, bundle: Bundle | Unloadable) -> dict[str, Any]:
    from context_pack.bundles.domain.model import Bundle

    loads = isinstance(bundle, Bundle)
    entities = bundle.entities.values() if isinstance(bundle, Bundle) else ()
    return {
        "id": place.id,
        "name": bundle.name if isinstance(bundle, Bundle) else "",
        "path": place.path,
        "description": place.description,
        "tags": list(place.tags),
        "loads": loads,
        "entities": len(entities),
        "types": dict(Counter(entity.type for entity in entities)),
        "problems": len(bundle.diagnostics),
    }
