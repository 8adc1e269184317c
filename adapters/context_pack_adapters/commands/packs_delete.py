"""Delete packs for good.

Examples:
  context-pack packs delete pk_f2ireb33
  context-pack packs delete auth billing
  context-pack packs delete auth --revision 7     only if it is still at this revision
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from context_pack.kernel.errors import Failure
from context_pack_adapters.commands.packs_repair import mutate
from context_pack_adapters.commands.shell import Shell, Usage, as_json, ask


def configure(parser: ArgumentParser) -> None:
    """Which packs."""
    parser.add_argument("packs", nargs="+", metavar="ID|NAME", help="the packs")
    parser.add_argument("--revision", type=int, metavar="N", help="only if the one pack is at this revision")
    parser.add_argument("--json", action="store_true", help="print what was deleted as JSON")


def run(options: Namespace, shell: Shell) -> int:
    """Delete the packs one by one."""
    if options.revision is not None and len(options.packs) > 1:
        raise Usage("--revision goes with one pack")
    deleted: list[str] = []
    failures: dict[str, Failure] = {}
    with shell.workspace() as workspace:
        for handle in options.packs:
            try:
                if options.revision is None:
                    gone = mutate(workspace, handle, "delete_pack")
                else:
                    gone = ask(workspace, action="delete_pack", id=handle, expected_revision=options.revision)
            except Failure as failure:
                failures[handle] = failure
                continue
            deleted.append(gone["id"])
    shell.complain_of(failures)
    if options.json:
        shell.terminal.json({"ok": not failures, "deleted": deleted, "failed": as_json(failures)})
    else:
        for pack_id in deleted:
            shell.terminal.line(f"deleted {pack_id}")
    return 1 if failures else 0
