"""What every test may use: the checkout, one Hypothesis profile, and an environment of our own.

Settings of the person who runs the tests (`CONTEXT_PACK_*`) never reach a test: what a test needs, it sets.
Nor does a test write to that person's cache and state folders: each test has folders of its own for that.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from postgres_server import Server

    from context_pack_adapters.postgres.connection import Database

CHECKOUT = Path(__file__).resolve().parent.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--regenerate` writes generated text into the documents instead of only comparing it."""
    parser.addoption("--regenerate", action="store_true", help="rewrite the generated tables of the contract")


def pytest_configure(config: pytest.Config) -> None:
    """Forget the user's settings, and let a busy machine be slow without calling it a failure."""
    for name in [name for name in os.environ if name.startswith("CONTEXT_PACK_")]:
        del os.environ[name]
    # As our own processes have it; numpy is not loaded yet.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    settings.register_profile("ours", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("ours")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark property tests as slow: they are no part of the fast set (CONTRIBUTING.md)."""
    for item in items:
        if hasattr(getattr(item, "obj", None), "hypothesis"):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def shared_private_places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The private folders of what lives longer than one test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONTEXT_PACK_CACHE", str(tmp_path_factory.mktemp("private", numbered=True)))
        yield


@pytest.fixture(autouse=True)
def private(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that holds the test's own cache and state folders, also for the processes that it starts."""
    folder = tmp_path_factory.mktemp("private", numbered=True)
    monkeypatch.setenv("CONTEXT_PACK_CACHE", str(folder))
    return folder


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The root of the source tree under test."""
    return CHECKOUT


@pytest.fixture
def regenerate(request: pytest.FixtureRequest) -> bool:
    """Whether generated text is to be rewritten."""
    return bool(request.config.getoption("--regenerate"))


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A Postgres of this test process, started when the first test asks for it."""
    pytest.importorskip("psycopg", reason="the extra 'postgres' is not installed")
    from postgres_server import NoPostgres, serve

    try:
        with contextmanager(serve)() as server:
            yield server
    except NoPostgres as reason:
        pytest.skip(str(reason))


@pytest.fixture
def new_database(postgres: Server) -> Iterator[Callable[[], Database]]:
    """Opens a project of its own in the shared database."""
    from waiting import PATIENCE

    from context_pack_adapters.postgres.connection import Address, Database
    from context_pack_adapters.postgres.schema import prepare

    opened: list[Database] = []

    def start() -> Database:
        project, address = f"example.org/{uuid4()}", Address(postgres.url)
        prepare(address, project)
        opened.append(Database(address, lambda: project, PATIENCE))
        return opened[-1]

    yield start
    for database in opened:
        database.close()


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
