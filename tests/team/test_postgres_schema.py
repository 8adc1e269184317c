"""Older tables are brought up to date with what is in them."""

from __future__ import annotations

from uuid import uuid4

import psycopg
import pytest
from postgres_server import Server
from sample_packs import maker, sample_pack
from waiting import PATIENCE

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.packs import pack_format
from context_pack_adapters.postgres.connection import VERSION, Address, Database
from context_pack_adapters.postgres.packs import PostgresPackStore
from context_pack_adapters.postgres.schema import ROLES, STEPS, prepare
from context_pack_adapters.system import SystemClock, SystemIds

PROJECT = "example.org/old"
OLD_PACK = """
    INSERT INTO context_pack.cp_packs (project, id, name, revision, expires_at, body, stamp)
    VALUES (%s, %s, %s, %s, %s, %s, %s)"""


@pytest.mark.clause("TM-04")
def test_tables_of_the_first_version_are_brought_up_to_date_with_what_they_hold(
    postgres: Server, own_database: str
) -> None:
    address = Address(postgres.address("postgres", own_database))
    pack = sample_pack(now=SystemClock().now(), name="kept")
    with psycopg.connect(address.url) as admin:
        for statement in (ROLES, STEPS[0], "INSERT INTO context_pack.cp_schema VALUES (1)", "RESET ROLE"):
            admin.execute(statement.encode())
        admin.execute("INSERT INTO context_pack.cp_projects VALUES (%s, 'context_pack_member')", [PROJECT])
        body = pack_format.encode(pack).decode()
        admin.execute(OLD_PACK, (PROJECT, pack.id, pack.name, 1, pack.expires_at, body, uuid4()))
    store = PostgresPackStore(Database(address, lambda: PROJECT, PATIENCE), SystemIds())
    with pytest.raises(Failure) as told:
        store.all()
    assert told.value.code is Code.MIGRATION_REQUIRED
    assert "team init" in told.value.message
    assert prepare(address, PROJECT) == VERSION - 1
    assert prepare(address, PROJECT) == 0
    assert store.find("kept") == pack
    assert store.create(maker(SystemClock().now(), name="new"), "new").name == "new"
