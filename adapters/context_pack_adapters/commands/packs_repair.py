"""Rewrite the refs whose code has moved, so that they point at it again.

Only refs that moved are touched; what changed, vanished or became ambiguous is for you to decide. A finalized
pack is never changed: set its status to draft first.

Examples:
  context-pack packs repair auth
  context-pack packs repair --all              every draft
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.commands.shell import Shell, Usage, as_json, ask, readable_packs
from context_pack_adapters.commands.terminal import counted

if TYPE_CHECKING:
    from context_pack_adapters.workspace import Workspace

ATTEMPTS = 5


def configure(parser: ArgumentParser) -> None:
    """Which packs."""
    parser.add_argument("packs", nargs="*", metavar="ID|NAME", help="the packs")
    parser.add_argument("--all", action="store_true", help="every draft")
    parser.add_argument("--json", action="store_true", help="print what was repaired as JSON")


def run(options: Namespace, shell: Shell) -> int:
    """Repair the packs one by one."""
    if bool(options.packs) == options.all:
        raise Usage("say which packs, or --all")
    done: list[dict[str, Any]] = []
    with shell.workspace() as workspace:
        handles, failures = readable_packs(shell, workspace, "draft") if options.all else (options.packs, {})
        for handle in handles:
            try:
                done.append(mutate(workspace, handle, "repair"))
            except Failure as failure:
                failures[handle] = failure
    shell.complain_of(failures)
    if options.json:
        shell.terminal.json({"ok": not failures, "packs": done, "failed": as_json(failures)})
    else:
        for pack in done:
            _tell(pack, shell)
    return 1 if failures else 0


def mutate(workspace: Workspace, handle: str, action: str) -> dict[str, Any]:
    """Carry out an action on the pack as it is now, again if somebody else was faster."""
    for attempt in range(ATTEMPTS):
        pack = ask(workspace, action="get", id=handle)
        try:
            return ask(workspace, action=action, id=pack["id"], expected_revision=pack["revision"])
        except Failure as failure:
            if failure.code is not Code.REVISION_CONFLICT or attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("the last attempt returns or raises")


def _tell(pack: dict[str, Any], shell: Shell) -> None:
    """What was repaired in one pack."""
    repaired = pack["repaired"]
    many = f"{counted(len(repaired), 'ref')} repaired"
    count = many if repaired else "nothing to repair"
    shell.terminal.styled_line(("bold", pack["id"]), f"  {count}, revision {pack['revision']}")
    for ref in repaired:
        before, lines = ref["from"], ref["lines"]
        old = f"{before['path']}:{before['lines']['start']}-{before['lines']['end']}"
        new = f"{ref['path']}:{lines['start']}-{lines['end']}"
        shell.terminal.line(f"  {ref['section']}/{ref['ref']}  {old} → {new}")
