"""How the pack commands ask the use cases of packs: for one pack, or for every one that can be read.

The arguments and payloads are those of the tool `input`; only its answers to clients are cut to a page.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.text import is_pack_id
from context_pack.packs.ports import patiently
from context_pack.packs.tools import choose_input, payload_of
from context_pack.toolkit.arguments import parse
from context_pack_adapters.cli.shell import PACKS, Shell
from context_pack_adapters.files.folder import Folder
from context_pack_adapters.library import Workspace
from context_pack_adapters.storage import storage_place

PAGE = 500
ATTEMPTS = 5


def ask(workspace: Workspace, **arguments: Any) -> dict[str, Any]:
    """The whole payload of an action; arguments that are None are left out.

    Raises:
        Failure: the use case refused.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    cases = workspace.cases
    command: Any = parse(choose_input(given), given)
    return payload_of(cases.packs, cases.ports.clock, command, patiently)


def mutate(workspace: Workspace, handle: str, action: str) -> dict[str, Any]:
    """Carry out an action at the pack's current revision; retry on a revision conflict."""
    for attempt in range(ATTEMPTS):
        pack = ask(workspace, action="get", id=handle)
        try:
            return ask(workspace, action=action, id=pack["id"], expected_revision=pack["revision"])
        except Failure as failure:
            if failure.code is not Code.REVISION_CONFLICT or attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("the last attempt returns or raises")


def every_pack(workspace: Workspace, **filters: Any) -> Iterator[dict[str, Any]]:
    """The summary of every pack that passes the filters."""
    offset, more = 0, True
    while more:
        page = ask(workspace, action="list", limit=PAGE, offset=offset, **filters)
        yield from page["packs"]
        offset, more = offset + page["count"], page["has_more"]


class PackOutcomes(NamedTuple):
    """The packs that an action succeeded for, and those that it failed for."""

    payloads: list[dict[str, Any]]
    failures: dict[str, Failure]

    @property
    def failed(self) -> list[dict[str, str]]:
        """The packs that failed, and why, as JSON."""
        return [
            {"pack": pack, "code": why.code, "message": why.message} for pack, why in self.failures.items()
        ]


def each_pack(
    handles: Iterable[str], work: Callable[[str], dict[str, Any]], broken: Mapping[str, Failure] | None = None
) -> PackOutcomes:
    """Run an action on packs one by one; `broken` are those that are known to fail."""
    done = PackOutcomes([], dict(broken or {}))
    for handle in handles:
        try:
            done.payloads.append(work(handle))
        except Failure as failure:
            done.failures[handle] = failure
    return done


def readable_packs(
    shell: Shell, workspace: Workspace, status: str | None = None
) -> tuple[list[str], dict[str, Failure]]:
    """The ids of all packs that can be read, and why the other files named like packs cannot.

    Raises:
        Failure: the store cannot be read at all.
    """
    try:
        packs = every_pack(workspace, status=status)
        return [pack["id"] for pack in packs if "worktree" not in pack], {}
    except Failure as failure:
        if failure.code not in {Code.MALFORMED_PACK, Code.MIGRATION_REQUIRED}:
            raise
    names = sorted(map(os.path.splitext, Folder(storage_place(shell.settings).below(PACKS)).names()))
    ids = [stem for stem, suffix in names if suffix == ".md" and is_pack_id(stem)]
    found = each_pack(ids, lambda pack_id: ask(workspace, action="get", id=pack_id))
    # One that is not found has expired.
    broken = {pack: why for pack, why in found.failures.items() if why.code is not Code.NOT_FOUND}
    return [pack["id"] for pack in found.payloads if status in (None, pack["status"])], broken
