"""What the rows hold, looked at with plain SQL."""

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

from context_pack.memory.discovery import Discovery, id_of, uuid_of
from context_pack_adapters.memory.discoveries import encoded
from context_pack_adapters.packs import pack_format
from context_pack_adapters.postgres.connection import Database
from context_pack_adapters.postgres.discoveries import PostgresDiscoveryStore
from context_pack_adapters.postgres.packs import PostgresPackStore

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
