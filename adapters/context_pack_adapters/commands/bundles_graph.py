"""Draw an export as a Mermaid diagram: a box per entity, an arrow per reference.

Without targets, the whole bundle. The diagram is one that a context pack can hold.

Examples:
  context-pack bundles graph ride-start --depth 1
  context-pack bundles graph ride-start > ride.mmd
  context-pack call input action=upsert_diagram name=auth expected_revision=3 section_key=rides \\
    diagram_key=start title="Starting a ride" mermaid="$(context-pack bundles graph ride-start)"
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from context_pack_adapters.commands.bundles import add_targets, addresses, open_shelf
from context_pack_adapters.commands.shell import Shell, Usage


def configure(parser: ArgumentParser) -> None:
    """What to draw."""
    add_targets(parser, "*")


def run(options: Namespace, shell: Shell) -> int:
    """Print the diagram."""
    from context_pack.bundles.domain.drawing import MOST_CHARS, mermaid
    from context_pack.bundles.usecases.export import select
    from context_pack.bundles.usecases.shelf import Opened, require
    from context_pack.toolkit.call import QuietCall

    if options.depth < 0:
        raise Usage("--depth must not be negative")

    def draw(opened: Opened) -> str:
        bundle = opened.bundle
        named = addresses(bundle, options.targets or list(bundle.entities))
        chosen = select(bundle, require(bundle, opened.id, named), options.depth)
        return mermaid(chosen.targets, chosen.dependencies, chosen.edges)

    shelf, _ = open_shelf(shell)
    text = shelf.serve(options.bundle, QuietCall(), draw)
    if len(text) > MOST_CHARS:
        hint = "name fewer entities, or a smaller --depth"
        raise Usage(f"the diagram has {len(text)} characters and a pack holds {MOST_CHARS}; {hint}")
    shell.terminal.raw(text)
    return 0
