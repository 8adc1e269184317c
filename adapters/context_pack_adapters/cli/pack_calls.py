"""How the pack commands ask the use cases of packs: for one pack, or for every one that can be read.

The arguments and payloads are those of the tool `input`; only its answers to clients are cut to a page.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.text import is_pack_id
from context_pack.packs.tools import choose_input, payload_of
from context_pack.toolkit.arguments import parse
from context_pack.toolkit.call import never_cancelled
from context_pack_adapters.cli.app import App
from context_pack_adapters.cli.packs_list import every_pack
from context_pack_adapters.cli.words import PACKS
from context_pack_adapters.files.folder import Folder
from context_pack_adapters.private_places import storage_place

ATTEMPTS = 5


def ask(app: App, action: str, **arguments: Any) -> dict[str, Any]:
    """The whole payload of an action; arguments that are None are left out.

    Raises:
        Failure: the use case refused.
    """
    given = {"action": action, **{name: value for name, value in arguments.items() if value is not None}}
    command: Any = parse(choose_input(given), given)
    return payload_of(app.cases.packs, app.ports.clock, command, never_cancelled)


def change(app: App, handle: str, action: str, **arguments: Any) -> dict[str, Any]:
    """Change a pack at the revision that it has now; once more if somebody else changed it meanwhile."""
    for attempt in range(ATTEMPTS):
        pack = ask(app, "get", id=handle)
        try:
            return ask(app, action, id=pack["id"], expected_revision=pack["revision"], **arguments)
        except Failure as failure:
            if failure.code is not Code.REVISION_CONFLICT or attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("the last attempt returns or raises")


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


def readable_packs(app: App, status: str | None = None) -> tuple[list[str], dict[str, Failure]]:
    """The ids of all packs that can be read, and why the other files named like packs cannot.

    Raises:
        Failure: the store cannot be read at all.
    """
    try:
        return [pack["id"] for pack in every_pack(app, status=status)], {}
    except Failure as failure:
        if failure.code not in {Code.MALFORMED_PACK, Code.MIGRATION_REQUIRED}:
            raise
    names = sorted(map(os.path.splitext, Folder(storage_place(app.settings).below(PACKS)).names()))
    ids = [stem for stem, suffix in names if suffix == ".md" and is_pack_id(stem)]
    outcomes = each_pack(ids, lambda pack_id: ask(app, "get", id=pack_id))
    # One that is not found has expired.
    broken = {pack: why for pack, why in outcomes.failures.items() if why.code is not Code.NOT_FOUND}
    return [pack["id"] for pack in outcomes.payloads if status in (None, pack["status"])], broken
