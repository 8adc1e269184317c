"""How often the database is asked, counted by a proxy in front of it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from attrs import evolve
from postgres_server import Server
from sample_packs import maker
from slow_proxy import proxied
from waiting import PATIENCE

from context_pack.memory.domain.discovery import Discovery, id_of, uuid_of
from context_pack.packs.domain.model import Section
from context_pack_adapters.bootstrap import open_ports
from context_pack_adapters.postgres.connection import Address, Database
from context_pack_adapters.postgres.discovery_store import PostgresDiscoveryStore
from context_pack_adapters.postgres.pack_store import PostgresPackStore
from context_pack_adapters.settings import read_settings
from context_pack_adapters.system import SystemClock, SystemIds
from context_pack_adapters.workspace import Workspace

NOBODY = uuid_of(bytes(16))


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


@pytest.mark.clause("TM-13")
def test_a_search_without_changes_is_one_round_trip_and_sees_every_change(
    postgres: Server, new_database: Callable[[], Database], tmp_path: Path
) -> None:
    database = new_database()
    store, discoveries = PostgresPackStore(database, SystemIds()), PostgresDiscoveryStore(database)
    with proxied(postgres.port) as proxy:
        given = {
            "CONTEXT_PACK_STORE": postgres.url.replace(str(postgres.port), str(proxy.port)),
            "CONTEXT_PACK_PROJECT": database.project,
            "CONTEXT_PACK_EMBEDDER": "fast",
        }
        settings = read_settings(given, str(tmp_path))
        with Workspace(open_ports(settings), settings.max_source_bytes) as workspace:

            def search() -> tuple[int, str]:
                before = proxy.trips
                found = workspace.call("context_search", {"query": "badgers"})
                return proxy.trips - before, str(found)

            search()
            now = SystemClock().now()
            section = Section("dig", "Where badgers dig", "They dig at night.")
            pack = store.create(maker(now, 60, sections=(section,)), None)
            assert "They dig at night." in search()[1]
            assert search()[0] == search()[0] == 1
            content = "Badgers are never fed"
            said = Discovery(
                id=id_of(content), type="rule", content=content, session=NOBODY, date=now, last_seen=now
            )
            discoveries.record(said)
            assert content in search()[1]
            discoveries.forget(said.id)
            store.delete(pack.id, lambda _: None)
            gone = search()[1]
            assert content not in gone
            assert "They dig" not in gone
            assert search()[0] == 1
