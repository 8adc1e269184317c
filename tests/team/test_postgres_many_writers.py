"""Many processes, killed backends, lost answers: no acknowledged change is lost, and none is done twice."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg
import pytest
from attrs import evolve
from cutting_proxy import Fate, proxied
from postgres_server import Server, serve
from sample_packs import maker
from stdio_client import environment
from store_worker import opened
from waiting import PATIENCE, until

from context_pack.kernel.errors import Code, Failure
from context_pack.memory.discovery import Discovery, id_of, uuid_of
from context_pack.packs.model import Pack
from context_pack.packs.ports import KEPT_REVISIONS, PackStore
from context_pack_adapters.postgres.connection import Address, Database
from context_pack_adapters.postgres.discoveries import PostgresDiscoveryStore
from context_pack_adapters.postgres.packs import PostgresPackStore
from context_pack_adapters.postgres.schema import prepare
from context_pack_adapters.system import SystemClock, SystemIds

WORKER = Path(__file__).parents[1] / "support" / "store_worker.py"
PROCESSES, CHANGES = 16, 100
PROJECT = "example.org/busy"


def made(store: PackStore, how_many: int) -> list[str]:
    """Fresh packs, by id."""
    now = SystemClock().now()
    return [store.create(maker(now, 600), None).id for _ in range(how_many)]


def begun(
    place: str, project: str, turns: Iterable[int], changes: int, keys: list[str]
) -> subprocess.Popen[bytes]:
    """Start a process for each turn."""
    command = [sys.executable, str(WORKER), place, project, str(changes), json.dumps(list(turns)), *keys]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=environment())


def told(workers: subprocess.Popen[bytes]) -> list[tuple[str, int | str]]:
    """What all of them said; each must end well."""
    output = workers.communicate(timeout=600)[0]
    assert workers.returncode == 0
    return [tuple(json.loads(line)) for line in output.splitlines()]


def judge(store: PackStore, keys: list[str], changes: list[tuple[str, int | str]]) -> Counter[str]:
    """No revision is given to two changes, none is missing but those of changes that failed; the failures."""
    failed = Counter(str(result) for _, result in changes if isinstance(result, str))
    unknown = 0
    for key in keys:
        revisions = sorted(result for one, result in changes if one == key and isinstance(result, int))
        assert len(set(revisions)) == len(revisions)
        last = store.get(key).revision
        assert not revisions or revisions[-1] <= last
        unknown += last - 1 - len(revisions)
    assert 0 <= unknown <= failed[Code.UNAVAILABLE]
    return failed


@pytest.mark.slow
@pytest.mark.clause("TM-10")
@pytest.mark.parametrize("packs", [1, 100])
def test_sixteen_processes_lose_no_change(packs: int, postgres: Server) -> None:
    prepare(Address(postgres.url), PROJECT)
    store = opened(postgres.url, PROJECT)
    keys = made(store, packs)
    changes = told(begun(postgres.url, PROJECT, range(0, 7 * PROCESSES, 7), CHANGES, keys))
    failed = judge(store, keys, changes)
    assert set(failed) <= {Code.LOCK_TIMEOUT, Code.REVISION_CONFLICT}
    assert sum(store.get(key).revision - 1 for key in keys) == PROCESSES * CHANGES - failed.total()


@pytest.mark.slow
@pytest.mark.clause("TM-10")
def test_killed_backends_and_a_killed_server_lose_no_acknowledged_change() -> None:
    with contextmanager(serve)() as server:
        prepare(Address(server.url), PROJECT)
        store = opened(server.url, PROJECT)
        keys = made(store, 4)
        workers = begun(server.url, PROJECT, range(6), 60, keys)
        over = threading.Event()
        killer = threading.Thread(target=kill_backends, args=(server, over))
        killer.start()
        changes = told(workers)
        over.set()
        killer.join()
        failed = judge(store, keys, changes)
        assert set(failed) <= {Code.UNAVAILABLE, Code.LOCK_TIMEOUT}
        check_history(server, keys, store)

        server.process.send_signal(signal.SIGQUIT)  # as if it had crashed
        server.process.wait(PATIENCE)
        hasty = PostgresPackStore(Database(Address(server.url), lambda: PROJECT), SystemIds())
        with pytest.raises(Failure) as told_so:
            hasty.get(keys[0])
        assert told_so.value.code is Code.UNAVAILABLE
        server.start()
        before = {key: store.get(key).revision for key in keys}
        check_history(server, keys, store)
        assert store.update(keys[0], raised).revision == before[keys[0]] + 1


def kill_backends(server: Server, over: threading.Event) -> None:
    """Kill every other connection, again and again."""
    query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'context-pack'"
    with psycopg.connect(server.url, autocommit=True) as admin:
        while not over.wait(0.3):
            admin.execute(query)


def check_history(server: Server, keys: list[str], store: PackStore) -> None:
    """Every revision of a pack was written once; the last twenty are kept."""
    query = "SELECT revision FROM context_pack.cp_history WHERE id = %s ORDER BY revision"
    with psycopg.connect(server.url) as admin:
        for key in keys:
            written = [revision for (revision,) in admin.execute(query, [key])]
            last = store.get(key).revision
            assert written == list(range(max(1, last - KEPT_REVISIONS + 1), last + 1))


def raised(pack: Pack) -> Pack:
    """A change that counts."""
    return evolve(pack, revision=pack.revision + 1)


@pytest.mark.clause("TM-10")
@pytest.mark.parametrize("fate", [Fate.CUT_BEFORE, Fate.CUT_AFTER])
def test_a_connection_cut_at_the_commit_changes_once_or_says_so(
    fate: Fate, postgres: Server, new_database: Callable[[], Database]
) -> None:
    """Every third commit or its answer is lost: the caller is told to read again, and sees what is stored."""
    project = new_database().project
    commits = count(1)

    def cut(data: bytes) -> Fate:
        return fate if b"COMMIT" in data and next(commits) % 3 == 0 else Fate.PASS

    with proxied(postgres.port, cut) as port:
        url = postgres.url.replace(str(postgres.port), str(port))
        database = Database(Address(url), lambda: project, PATIENCE)
        store, discoveries = PostgresPackStore(database, SystemIds()), PostgresDiscoveryStore(database)
        (key,) = made(store, 1)
        lost = 0
        for _ in range(30):
            before = store.get(key).revision
            failure = failure_in(lambda: store.update(key, raised))
            if failure is not None:
                assert "read it again" in failure
                lost += 1
            if failure is None or fate is Fate.CUT_AFTER:
                until(lambda: store.get(key).revision == before + 1)  # noqa: B023
            else:
                assert store.get(key).revision == before
        assert lost
        check_history(postgres, [key], store)
        said = found_out("What was found out")
        for _ in range(3):
            failure_in(lambda: discoveries.record(said))
        assert [one.id for one in discoveries.all()] == [said.id]
        database.close()


def failure_in(act: Callable[[], object]) -> str | None:
    """The words of the failure that an act ends in."""
    try:
        act()
    except Failure as failure:
        return failure.message
    return None


def found_out(content: str) -> Discovery:
    """A discovery that says this."""
    now = SystemClock().now()
    session = uuid_of(bytes(16))
    return Discovery(
        id=id_of(content), type="rule", content=content, session=session, date=now, last_seen=now
    )
