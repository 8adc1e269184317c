"""How often the database is asked, counted by a proxy in front of it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest
from attrs import evolve
from postgres_server import Server
from sample_packs import maker
from slow_proxy import proxied
from waiting import PATIENCE

from context_pack_adapters.postgres.connection import Address, Database
from context_pack_adapters.postgres.discovery_store import PostgresDiscoveryStore
from context_pack_adapters.postgres.pack_store import PostgresPackStore
from context_pack_adapters.system import SystemClock, SystemIds


@pytest.mark.clause("TM-13")
def test_a_read_is_one_round_trip_and_a_change_is_two(
    postgres: Server, new_database: Callable[[], Database]
) -> None:
    project = new_database().project
    with proxied(postgres.port) as proxy:
        url = postgres.url.replace(str(postgres.port), str(proxy.port))
        database = Database(Address(url), lambda: project, PATIENCE)
        store, discoveries = PostgresPackStore(database, SystemIds()), PostgresDiscoveryStore(database)
        now, names = SystemClock().now(), (f"pack {number}" for number in count())
        packs = [store.create(maker(now, 60, name=(name := next(names))), name) for _ in range(20)]

        def trips(act: Callable[[], object]) -> int:
            before = proxy.trips
            act()
            return proxy.trips - before

        for _ in range(3):  # also when the driver has prepared the statements
            assert trips(lambda: store.get(packs[0].id)) == 1
            assert trips(lambda: store.find("pack 1")) == 1
            assert trips(store.all) == 1
            assert trips(discoveries.all) == 1
            assert trips(lambda: store.create(maker(now, 60, name=(name := next(names))), name)) == 1
            assert (
                trips(
                    lambda: store.update(packs[0].id, lambda pack: evolve(pack, revision=pack.revision + 1))
                )
                == 2
            )
            assert trips(lambda: store.delete(packs.pop().id, lambda _: None)) == 2
        database.close()
