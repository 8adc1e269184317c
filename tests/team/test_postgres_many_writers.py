"""Many connections, killed backends, lost answers: no acknowledged change is lost, and none is done twice."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from enum import Enum
from functools import partial
from itertools import count

import psycopg
import pytest
from attrs import evolve
from postgres_server import Server, serve
from sample_packs import maker
from waiting import PATIENCE, until

from context_pack.kernel.errors import Code, Failure
from context_pack.memory.discovery import Discovery, id_of, uuid_of
from context_pack.packs.model import Pack
from context_pack.packs.ports import KEPT_REVISIONS, PackStore
from context_pack_adapters.postgres.connection import Address, Database
from context_pack_adapters.postgres.discoveries import PostgresDiscoveryStore
from context_pack_adapters.postgres.packs import PostgresPackStore
from context_pack_adapters.postgres.schema import prepare
from context_pack_adapters.system import SystemClock

PROJECT = "example.org/busy"


def made(store: PackStore, how_many: int) -> list[str]:
    """Fresh packs, by id."""
    now = SystemClock().now()
    return [store.create(maker(now, 600), None).id for _ in range(how_many)]


def opened(place: str) -> PackStore:
    """The packs at an address, over connections of their own."""
    return PostgresPackStore(Database(Address(place), lambda: PROJECT, PATIENCE), os.urandom)


def work(place: str, times: int, keys: list[str], turn: int) -> list[tuple[str, int | str]]:
    """Raise the revision of a pack so many times, of each in turn; the key and the result of each change."""
    store = opened(place)
    told: list[tuple[str, int | str]] = []
    for number in range(times):
        key = keys[(turn + number) % len(keys)]
        try:
            told.append((key, store.update(key, raised).revision))
        except Failure as failure:
            told.append((key, str(failure.code)))
    return told


def changed_by_many(
    place: str, turns: Sequence[int], times: int, keys: list[str]
) -> list[tuple[str, int | str]]:
    """What all said who changed the packs at once, one for each turn."""
    with ThreadPoolExecutor(len(turns)) as pool:
        return [change for told in pool.map(partial(work, place, times, keys), turns) for change in told]


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
def test_killed_backends_and_a_killed_server_lose_no_acknowledged_change() -> None:
    with contextmanager(serve)() as server:
        prepare(Address(server.url), PROJECT)
        store = opened(server.url)
        keys = made(store, 4)
        over = threading.Event()
        killer = threading.Thread(target=kill_backends, args=(server, over))
        killer.start()
        changes = changed_by_many(server.url, range(6), 60, keys)
        over.set()
        killer.join()
        failed = judge(store, keys, changes)
        assert set(failed) <= {Code.UNAVAILABLE, Code.LOCK_TIMEOUT}
        check_history(server, keys, store)

        server.process.send_signal(signal.SIGQUIT)  # as if it had crashed
        server.process.wait(PATIENCE)
        hasty = PostgresPackStore(Database(Address(server.url), lambda: PROJECT), os.urandom)
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


# A proxy in front of a server that cuts connections, before a message arrives or before its answer does.


class Fate(Enum):
    """What becomes of what a client sends."""

    PASS = "pass"
    CUT_BEFORE = "cut before it arrives"
    CUT_AFTER = "it arrives, and its answer does not"


@contextmanager
def proxied(target: int, fate: Callable[[bytes], Fate]) -> Iterator[int]:
    """The port of a proxy to a port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_serve, args=(listener, target, fate), daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def _serve(listener: socket.socket, target: int, fate: Callable[[bytes], Fate]) -> None:
    with suppress(OSError):  # the listener is closed
        while True:
            near, _ = listener.accept()
            far = socket.create_connection(("127.0.0.1", target))
            threading.Thread(target=_forward, args=(near, far, fate), daemon=True).start()
            threading.Thread(target=_forward, args=(far, near, lambda _: Fate.PASS), daemon=True).start()


def _forward(source: socket.socket, sink: socket.socket, fate: Callable[[bytes], Fate]) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 20):
            chosen = fate(data)
            if chosen is Fate.CUT_BEFORE:
                break
            if chosen is Fate.CUT_AFTER:
                _close(source)
            sink.sendall(data)
            if chosen is Fate.CUT_AFTER:
                sink.recv(1)  # the server has done it
                break
    _close(source)
    _close(sink)


def _close(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()


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
        store, discoveries = PostgresPackStore(database, os.urandom), PostgresDiscoveryStore(database)
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
