"""What the rows hold, looked at with plain SQL; tables of another version are refused in words."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import LiteralString

import psycopg
import pytest
from attrs import evolve
from inmemory import SeededIds
from postgres_server import Server
from sample_packs import full_pack
from waiting import PATIENCE

from context_pack.kernel.errors import Code, Failure
from context_pack.memory.discovery import Discovery, id_of, uuid_of
from context_pack_adapters.memory.discoveries import encoded
from context_pack_adapters.packs import pack_format
from context_pack_adapters.postgres.connection import Address, Database
from context_pack_adapters.postgres.discoveries import PostgresDiscoveryStore
from context_pack_adapters.postgres.packs import PostgresPackStore
from context_pack_adapters.postgres.schema import ROLES, prepare

BREAK = """
    UPDATE context_pack.cp_packs SET body = %s, stamp = gen_random_uuid() WHERE id = %s AND project = %s"""


def asked(server: Server, text: LiteralString, *values: object) -> list[tuple[object, ...]]:
    """What a superuser gets, who sees every row."""
    with psycopg.connect(server.url) as connection:
        return connection.execute(text, values).fetchall()


def rule(content: str, now: datetime) -> Discovery:
    """A discovery that says this."""
    session = uuid_of(bytes(16))
    return Discovery(
        id=id_of(content), type="rule", content=content, session=session, date=now, last_seen=now
    )


@pytest.mark.clause("TM-01")
def test_a_body_is_the_text_of_the_file(postgres: Server, new_database: Callable[[], Database]) -> None:
    database, now = new_database(), datetime.now(UTC)
    pack = PostgresPackStore(database, SeededIds()).create(
        lambda key: full_pack(key, now, name="whole"), "whole"
    )
    content = "Größe: the first line\n- and the second"
    found = rule(content, now)
    PostgresDiscoveryStore(database).record(found)
    ((body, name, revision),) = asked(
        postgres,
        "SELECT body, name, revision FROM context_pack.cp_packs WHERE project = %s",
        database.project,
    )
    assert str(body).encode() == pack_format.encode(pack)
    assert (name, revision) == ("whole", pack.revision)
    ((body,),) = asked(
        postgres, "SELECT body FROM context_pack.cp_discoveries WHERE project = %s", database.project
    )
    assert str(body).encode() == encoded(found)


@pytest.mark.clause("TM-01")
def test_the_last_author_of_a_pack_or_discovery_is_stored(
    new_database: Callable[[], Database],
) -> None:
    database, now = new_database(), datetime.now(UTC)
    ada, ben, reader = (PostgresPackStore(database, os.urandom, author=name) for name in ("ada", "ben", None))
    pack = ada.create(lambda key: full_pack(key, now), None)
    assert pack.author == reader.get(pack.id).author == "ada"
    assert [one.author for one in reader.all()] == ["ada"]
    ben.update(pack.id, lambda known: known)
    assert reader.get(pack.id).author == "ada", "nothing was changed"
    changed = ben.update(pack.id, lambda known: evolve(known, revision=known.revision + 1))
    assert changed.author == reader.get(pack.id).author == "ben"
    said = rule("Badgers are never fed", now)
    PostgresDiscoveryStore(database, author="ada").record(said)
    (found,) = PostgresDiscoveryStore(database).all()
    assert (found, found.author) == (said, "ada")


PROJECT = "example.org/old"


@pytest.mark.clause("TM-04")
def test_tables_of_before_the_first_release_are_left_alone_with_what_to_do(
    postgres: Server, own_database: str
) -> None:
    address = Address(postgres.address("postgres", own_database))
    with psycopg.connect(address.url) as admin:
        for statement in (ROLES, "INSERT INTO context_pack.cp_schema VALUES (4)", "RESET ROLE"):
            admin.execute(statement.encode())
        admin.execute("CREATE TABLE context_pack.cp_projects (project text, members regrole)")
    store = PostgresPackStore(Database(address, lambda: PROJECT, PATIENCE), os.urandom)
    for attempt in (store.all, lambda: prepare(address, PROJECT)):
        with pytest.raises(Failure) as told:
            attempt()
        assert told.value.code is Code.MIGRATION_REQUIRED
        for words in ("before context-pack 0.2", "team pull", "dropped", "team init", "team push"):
            assert words in told.value.message
    with psycopg.connect(address.url) as admin:
        assert admin.execute("SELECT version FROM context_pack.cp_schema").fetchall() == [(4,)]
        assert admin.execute("SELECT count(*) FROM context_pack.cp_projects").fetchall() == [(0,)]
