"""Check that every ref still finds its code.

A ref holds when its code is where it was, has moved as it is, or was never anchored but is there. Exit code 1
when one does not hold (changed, ambiguous or stale) or a pack cannot be read; the other packs are checked all
the same. So a CI job or a pre-commit hook can use it.

Examples:
  context-pack packs verify                    every pack
  context-pack packs verify auth billing       these packs
  context-pack packs verify --strict           refs that moved or have no anchor do not hold either
  context-pack packs verify --json
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import Any

from context_pack.kernel.errors import Failure
from context_pack_adapters.commands.packs_list import called
from context_pack_adapters.commands.shell import Shell, Usage, as_json, ask, readable_packs
from context_pack_adapters.commands.terminal import counted

HOLDS = frozenset({"exact", "moved", "unanchored"})
HOLDS_STRICTLY = frozenset({"exact"})
COLOURS: Mapping[str, str] = {
    "exact": "green",
    "unanchored": "blue",
    "moved": "blue",
    "changed": "yellow",
    "ambiguous": "red",
    "stale": "red",
}


def configure(parser: ArgumentParser) -> None:
    """Which packs, and how strictly."""
    parser.add_argument("packs", nargs="*", metavar="ID|NAME", help="the packs (default: every one)")
    parser.add_argument("--all", action="store_true", help="every pack; the same as naming none")
    parser.add_argument("--strict", action="store_true", help="only refs exactly where they were hold")
    parser.add_argument("--json", action="store_true", help="print every ref's state as JSON")


def run(options: Namespace, shell: Shell) -> int:
    """Verify the packs one by one."""
    if options.all and options.packs:
        raise Usage("give either packs or --all")
    holding = HOLDS_STRICTLY if options.strict else HOLDS
    verified: list[dict[str, Any]] = []
    with shell.workspace() as workspace:
        handles, failures = (options.packs, {}) if options.packs else readable_packs(shell, workspace)
        for handle in handles:
            try:
                pack = ask(workspace, action="get", id=handle)
                found = ask(workspace, action="verify", id=pack["id"])
            except Failure as failure:
                failures[handle] = failure
                continue
            ok = all(ref["state"] in holding for ref in found["refs"])
            verified.append({**found, "name": pack["name"], "title": pack["title"], "ok": ok})
    sound = not failures and all(pack["ok"] for pack in verified)
    shell.complain_of(failures)
    if options.json:
        shell.terminal.json({"ok": sound, "packs": verified, "failed": as_json(failures)})
    else:
        for pack in verified:
            _tell(pack, shell)
        if not verified and not failures:
            shell.terminal.line("No context packs found.")
    return 0 if sound else 1


def _tell(pack: Mapping[str, Any], shell: Shell) -> None:
    """One pack: a line for itself, and one for each ref that is not simply there."""
    refs = pack["refs"]
    count = counted(len(refs), "ref")
    verdict = ("green", "ok") if pack["ok"] else ("red", "does not hold")
    shell.terminal.styled_line(("bold", pack["id"]), f"  {called(dict(pack))}: {count}, ", verdict)
    for ref in refs:
        if ref["state"] == "exact":
            continue
        state = (COLOURS[ref["state"]], ref["state"].ljust(10))
        shell.terminal.styled_line("  ", state, f"  {ref['section']}/{ref['ref']}  {where(ref)}")


def where(ref: Mapping[str, Any]) -> str:
    """Where a ref points, where its code is now if that is elsewhere, and why it cannot be shown."""
    place, found = f"{ref['path']}:{_span(ref)}", ref["found"]
    now = "" if found is None else f"{found['path']}:{_span(found)}"
    moved = f" → {now}" if now and now != place else ""
    reason = f" ({ref['reason']})" if ref["reason"] else ""
    return f"{place}{moved}{reason}"


def _span(place: Mapping[str, Any]) -> str:
    return f"{place['lines']['start']}-{place['lines']['end']}"
