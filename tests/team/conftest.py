"""These tests need the driver; without it they are not collected, and the contract suites say why."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from uuid import uuid4

import pytest
from postgres_server import Server

collect_ignore_glob = [] if find_spec("psycopg") else ["test_*.py"]


@pytest.fixture
def own_database(postgres: Server) -> Iterator[str]:
    """A database of its own; its name."""
    import psycopg
    from psycopg import sql

    name = f"cp_{uuid4().hex}"
    with psycopg.connect(postgres.url, autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        yield name
        admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
