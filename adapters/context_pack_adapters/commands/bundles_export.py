"""Export entities of a bundle with everything they depend on.

The same as the tool export_context: one complete JSON or YAML snapshot, with relations and schemas.

Examples:
  context-pack bundles export Feature/ride-start
  context-pack bundles export ride-start ride-end --depth 1 --format yaml
  context-pack bundles export ride-start -o snapshot.json
  context-pack bundles stale snapshot.json            later: is it still true?
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from context_pack_adapters.commands.bundles import add_targets, addresses, open_shelf, refusal
from context_pack_adapters.commands.packs_export import write
from context_pack_adapters.commands.shell import Shell


def configure(parser: ArgumentParser) -> None:
    """What to export, and how."""
    add_targets(parser, "+")
    parser.add_argument("--format", choices=["json", "yaml"], default="json", help="json (default) or yaml")
    parser.add_argument("--no-schemas", action="store_true", help="leave out the JSON Schemas")
    parser.add_argument("--no-relations", action="store_true", help="leave out which field refers to what")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to a file instead of stdout")
    parser.add_argument("--force", action="store_true", help="replace an existing file")


def run(options: Namespace, shell: Shell) -> int:
    """Export, and print or write."""
    from context_pack.app import build
    from context_pack.toolkit.call import QuietCall

    shelf, ports = open_shelf(shell)
    named = shelf.serve(options.bundle, QuietCall(), lambda opened: addresses(opened.bundle, options.targets))
    asked = {
        "targets": [{"entityType": one.type, "entityId": one.id} for one in named],
        "dependencyDepth": options.depth,
        "format": options.format,
        "includeSchemas": not options.no_schemas,
        "includeRelationMetadata": not options.no_relations,
        **({"bundleId": options.bundle} if options.bundle else {}),
    }
    answer = build(ports, alarm=shell.log.alarm).call("export_context", asked, QuietCall())
    if answer.is_error:
        raise refusal(answer)
    text = answer.text if answer.text.endswith("\n") else answer.text + "\n"
    if options.output in (None, "-"):
        shell.terminal.raw(text)
        return 0
    write(options.output, text.encode("utf-8", "backslashreplace"), replace=options.force)
    shell.terminal.line(options.output)
    return 0
