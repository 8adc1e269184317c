"""A client that subscribed to a team's pack, while another member changes it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from attrs import evolve
from postgres_server import Server
from sample_packs import maker
from stdio_client import StdioClient
from waiting import PATIENCE

from context_pack_adapters.postgres.connection import Address, Database
from context_pack_adapters.postgres.packs import PostgresPackStore
from context_pack_adapters.postgres.schema import prepare
from context_pack_adapters.system import SystemClock


@pytest.mark.clause("TM-11")
def test_a_subscriber_is_notified_of_another_members_change(postgres: Server, tmp_path: Path) -> None:
    project = "example.org/news"
    prepare(Address(postgres.url), project)
    store = PostgresPackStore(Database(Address(postgres.url), lambda: project, PATIENCE), os.urandom)
    pack = store.create(maker(SystemClock().now(), 60), None)
    uri = f"context://pack/{pack.id}"
    env = {"CONTEXT_PACK_STORE": postgres.url, "CONTEXT_PACK_PROJECT": project}
    client = StdioClient(tmp_path, env=env)
    try:
        client.initialize()
        assert "result" in client.request("resources/subscribe", {"uri": uri})
        # The listener connects in its own time: the change is made again until it is heard of.
        heard = None
        while heard is None:
            store.update(pack.id, lambda known: evolve(known, revision=known.revision + 1))
            try:
                heard = client.read(1.0)
            except TimeoutError:
                continue
        assert heard["method"] == "notifications/resources/updated"
        assert heard["params"]["uri"] == uri
    finally:
        client.kill()
