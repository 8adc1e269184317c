"""Tables of another version are refused in words, and left as they are."""

from __future__ import annotations

import os

import psycopg
import pytest
from postgres_server import Server
from waiting import PATIENCE

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.postgres.connection import Address, Database
from context_pack_adapters.postgres.packs import PostgresPackStore
from context_pack_adapters.postgres.schema import ROLES, prepare

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
