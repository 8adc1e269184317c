"""Processes that change packs again and again; prints what became of each change as a line of JSON."""

from __future__ import annotations

import json
import sys
from functools import partial

from attrs import evolve
from processes import each_in_a_process
from waiting import PATIENCE

from context_pack.kernel.errors import Failure
from context_pack.packs.ports import PackStore
from context_pack_adapters.postgres.connection import Address, Database
from context_pack_adapters.postgres.packs import PostgresPackStore
from context_pack_adapters.system import SystemIds


def opened(place: str, project: str) -> PackStore:
    """The packs at an address."""
    return PostgresPackStore(Database(Address(place), lambda: project, PATIENCE), SystemIds())


def work(place: str, project: str, times: int, turn: int, keys: list[str]) -> list[list[str | int]]:
    """Raise the revision of a pack so many times, of each in turn; the key and the result of each change."""
    store = opened(place, project)
    told: list[list[str | int]] = []
    for number in range(times):
        key = keys[(turn + number) % len(keys)]
        try:
            pack = store.update(key, lambda pack: evolve(pack, revision=pack.revision + 1))
            told.append([key, pack.revision])
        except Failure as failure:
            told.append([key, str(failure.code)])
    return told


if __name__ == "__main__":
    place, project, times, turns, *keys = sys.argv[1:]
    opened(place, project)  # what that loads is loaded once for all of them
    works = [partial(work, place, project, int(times), turn, keys) for turn in json.loads(turns)]
    for changes in each_in_a_process(works):
        sys.stdout.writelines(json.dumps(change) + "\n" for change in changes)
