"""Round trips of a team's store over an emulated network, beside the files of one checkout.

python benches/side_by_side/team.py [--quick]

A real Postgres of its own behind a proxy that makes the way 20 ms long. Printed are round trips (counted by
the proxy, and as time over 20 ms) of each operation with 1,000 packs (100 with --quick), how much longer a
`context_search` without changes takes than over files, and how soon news arrive.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from threading import Event

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters"), str(ROOT / "tests" / "support")]

import attrs  # noqa: E402
import psycopg  # noqa: E402
from postgres_server import serve  # noqa: E402
from sample_packs import maker  # noqa: E402
from slow_proxy import Proxy, proxied  # noqa: E402

from context_pack.packs.domain.model import Pack  # noqa: E402
from context_pack_adapters.bootstrap import open_ports  # noqa: E402
from context_pack_adapters.disk_ports import file_packs  # noqa: E402
from context_pack_adapters.postgres.connection import Address, Database  # noqa: E402
from context_pack_adapters.postgres.copying import copy_packs  # noqa: E402
from context_pack_adapters.postgres.news import PostgresNews  # noqa: E402
from context_pack_adapters.postgres.pack_store import PostgresPackStore  # noqa: E402
from context_pack_adapters.postgres.schema import prepare  # noqa: E402
from context_pack_adapters.settings import read_settings  # noqa: E402
from context_pack_adapters.system import SystemClock, SystemIds  # noqa: E402
from context_pack_adapters.workspace import Workspace  # noqa: E402

TRIP = 0.020
ROUNDS = 10
PROJECT = "example.org/bench"
Act = Callable[[], object]


def raised(pack: Pack) -> Pack:
    """A change that counts."""
    return attrs.evolve(pack, revision=pack.revision + 1)


def measured(name: str, act: Act, proxy: Proxy) -> float:
    """Print the round trips of an operation, by the proxy's count and by the clock; the seconds."""
    act()
    before, times = proxy.trips, []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        act()
        times.append(time.perf_counter() - begun)
    trips, seconds = (proxy.trips - before) / ROUNDS, statistics.median(times)
    print(
        f"{name:44} {trips:5.1f} trips counted  {seconds / TRIP:6.2f} by the clock  {seconds * 1000:7.1f} ms"
    )
    return seconds


def stores(url: str, proxy: Proxy, packs: int) -> None:
    """The operations of the store."""
    far = PostgresPackStore(Database(Address(url), lambda: PROJECT), SystemIds())
    now = SystemClock().now()
    keys = [far.create(maker(now, 600, name=f"pack {n}"), f"pack {n}").id for n in range(min(packs, 20))]
    near = PostgresPackStore(
        Database(Address(url.replace(str(proxy.port), str(proxy.target))), lambda: PROJECT), SystemIds()
    )
    for number in range(len(keys), packs):
        near.create(maker(now, 600, name=f"pack {number}"), f"pack {number}")
    other = iter(range(10**6))
    measured("get", lambda: far.get(keys[0]), proxy)
    measured("find by name", lambda: far.find("pack 1"), proxy)
    measured("update", lambda: far.update(keys[0], raised), proxy)
    measured(
        "create with a name",
        lambda: far.create(maker(now, 600, name=f"new {(n := next(other))}"), f"new {n}"),
        proxy,
    )
    measured("delete", lambda: far.delete(keys.pop(), lambda _: None), proxy)
    measured(f"all, {packs:,} packs, nothing changed", far.all, proxy)

    def changed() -> None:
        near.update(keys[1], raised)
        far.all()

    measured(f"all, {packs:,} packs, one changed elsewhere", changed, proxy)


def searches(url: str, proxy: Proxy, folder: Path) -> None:
    """A search over files and one over the team's database, in turns."""
    (folder / "greet.py").write_text("def greet(name):\n    return f'hello {name}'\n")
    settings = read_settings({"CONTEXT_PACK_EMBEDDER": "fast", "CONTEXT_PACK_PROJECT": PROJECT}, str(folder))

    copied = copy_packs(open_ports(settings._replace(store=url)).packs, lambda ids: file_packs(settings, ids))
    print(f"{len(copied.copied):,} packs copied to files, so that both sides have the same")

    def search(store: str) -> float:
        workspace = Workspace(open_ports(settings._replace(store=store)), settings.max_source_bytes)
        with workspace:
            act: Act = lambda: workspace.call("context_search", {"query": "greet somebody by name"})  # noqa: E731
            act()
            return measured(f"context_search, {'team' if store else 'files'}", act, proxy)

    local, team = search(""), search(url)
    print(f"{'context_search: more than over files':44} {(team - local) / TRIP:6.2f} round trips")


def news(url: str, proxy: Proxy) -> None:
    """From a change that was made near the database to the listener far away."""
    database = Database(Address(url), lambda: PROJECT)
    near = PostgresPackStore(
        Database(Address(url.replace(str(proxy.port), str(proxy.target))), lambda: PROJECT), SystemIds()
    )
    heard = Event()
    source = PostgresNews(database, lambda _: heard.set())
    source.listen(True)
    key, times = near.all()[0].id, []
    while not heard.wait(0.5):  # until it listens
        near.update(key, raised)
    for _ in range(ROUNDS):
        time.sleep(0.1)
        heard.clear()
        near.update(key, raised)
        begun = time.perf_counter()
        assert heard.wait(30)
        times.append(time.perf_counter() - begun)
    source.listen(False)
    middle, most = statistics.median(times) * 1000, max(times) * 1000
    print(f"{'news, after the change was acknowledged':44} {middle:6.1f} ms, at most {most:.1f}")


def main() -> None:
    """Run everything once."""
    packs = 100 if "--quick" in sys.argv else 1000
    with tempfile.TemporaryDirectory() as folder, contextmanager(serve)() as server:
        os.environ["CONTEXT_PACK_CACHE"] = str(Path(folder) / "cache")
        prepare(Address(server.url), PROJECT)
        with psycopg.connect(server.url) as admin:  # a plain login, which row-level security holds
            admin.execute("CREATE ROLE ada LOGIN IN ROLE context_pack_member")
        with proxied(server.port, TRIP) as proxy:
            url = server.address("ada").replace(str(server.port), str(proxy.port))
            print(f"a way of {TRIP * 1000:.0f} ms there and back, medians of {ROUNDS}")
            stores(url, proxy, packs)
            project = Path(folder) / "project"
            project.mkdir()
            searches(url, proxy, project)
            news(url, proxy)


if __name__ == "__main__":
    main()
