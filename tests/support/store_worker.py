"""A process that changes packs again and again, and prints what became of each change as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from attrs import evolve
from waiting import PATIENCE

from context_pack.kernel.errors import Failure
from context_pack.packs.ports import PackStore
from context_pack_adapters.system import SystemClock, SystemIds


def opened(place: str, project: str) -> PackStore:
    """The packs at an address or in a folder."""
    if place.startswith("postgresql://"):
        from context_pack_adapters.postgres.connection import Address, Database
        from context_pack_adapters.postgres.pack_store import PostgresPackStore

        return PostgresPackStore(Database(Address(place), lambda: project, PATIENCE), SystemIds())
    from context_pack_adapters.stores.pack_store import FilePackStore

    return FilePackStore(Path(place), SystemClock(), SystemIds())


def work(place: str, project: str, times: int, turn: int, keys: list[str]) -> None:
    """Raise the revision of a pack so many times, of each of the packs in turn."""
    store = opened(place, project)
    for number in range(times):
        key = keys[(turn + number) % len(keys)]
        try:
            pack = store.update(key, lambda pack: evolve(pack, revision=pack.revision + 1))
            told = [key, pack.revision]
        except Failure as failure:
            told = [key, str(failure.code)]
        sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    work(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:])
