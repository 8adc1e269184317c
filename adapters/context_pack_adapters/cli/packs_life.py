"""How long packs live: times on a command line, bringing expired packs back, and deleting packs for good."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.times import format_instant
from context_pack.packs.ports import last_expired
from context_pack_adapters.cli.arguments import argument, command, flag
from context_pack_adapters.cli.pack_calls import ask, each_pack, mutate
from context_pack_adapters.cli.shell import Shell, WrongUsage

UNITS: Mapping[str, int] = {"m": 1, "h": 60, "d": 24 * 60}
DEFAULT_TTL = "90d"
"""Long enough that no build turns red because a pack that it checks has expired."""
TTL = argument(
    "--ttl",
    "--ttl-minutes",
    metavar="TIME",
    default=DEFAULT_TTL,
    help=f"how long it lives: 90 (minutes), 12h, 7d [{DEFAULT_TTL}]",
)


@command(
    argument("pack", metavar="ID|NAME", help="the pack"),
    TTL,
    flag("--json", "print the pack as JSON"),
)
def restore(options: Namespace, shell: Shell) -> None:
    """Bring back a pack whose time is over.

    A pack that expired is in a trash of yours for 30 days.

    Examples:
      context-pack packs list --expired
      context-pack packs restore auth
      context-pack packs restore auth --ttl 7d
    """
    with shell.workspace() as workspace:
        pack = workspace.packs.restore(options.pack, ttl_minutes=minutes(options.ttl))
    words = f"restored {pack.id}, until {format_instant(pack.expires_at, whole_seconds=True)}"
    shell.tell(options, {"id": pack.id, "name": pack.name, "revision": pack.revision}, words)


def minutes(text: str) -> int:
    """A time such as 90, 12h or 7d, in minutes."""
    number, unit = (text[:-1], text[-1:]) if text[-1:] in UNITS else (text, "m")
    if not (number.isascii() and number.isdigit()) or len(number) > 9:
        raise WrongUsage("--ttl is a number of minutes, or of hours or days as in 12h and 7d")
    return int(number) * UNITS[unit]


@command(
    argument("packs", nargs="+", metavar="ID|NAME", help="the packs"),
    argument("--revision", type=int, metavar="N", help="only if the one pack is at this revision"),
    flag("--json", "print what was deleted as JSON"),
)
def delete(options: Namespace, shell: Shell) -> int:
    """Delete packs for good, also those that have expired and could be restored.

    Examples:
      context-pack packs delete pk_f2ireb33
      context-pack packs delete auth billing
      context-pack packs delete auth --revision 7     only if it is still at this revision
    """
    if options.revision is not None and len(options.packs) > 1:
        raise WrongUsage("--revision goes with one pack")
    with shell.workspace() as workspace:

        def remove(handle: str) -> dict[str, Any]:
            if options.revision is not None:
                return ask(workspace, action="delete_pack", id=handle, expected_revision=options.revision)
            try:
                return mutate(workspace, handle, "delete_pack")
            except Failure as failure:
                expired = last_expired(workspace.packs.expired(), handle)
                if failure.code is not Code.NOT_FOUND or expired is None:
                    raise
                return {"id": workspace.packs.discard(expired.id).id}

        done = each_pack(options.packs, remove)
    deleted = [gone["id"] for gone in done.payloads]
    shell.complain_of(done.failures)
    body = {"ok": not done.failures, "deleted": deleted, "failed": done.failed}
    shell.tell(options, body, *(f"deleted {pack_id}" for pack_id in deleted))
    return 1 if done.failures else 0
