"""Round trips of a team's store over an emulated network, and its index beside that of one checkout.

python benches/side_by_side/team.py [--quick]

A real Postgres of its own behind a proxy that makes the way 20 ms long. Printed are round trips (counted by
the proxy, and as time over 20 ms) of each operation with 1,000 packs (100 with --quick), how much longer a
`context_search` without changes takes than over files. Then, without the proxy, an
index of 100,000 chunks (1,200 with --quick) with vectors of 384 numbers, in the database and in the local
file: the times of searches by words and by vectors in everything and in 1 % of it, and how many of the ten
nearest the database finds.
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
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters"), str(ROOT / "tests" / "support")]

import attrs  # noqa: E402
import numpy as np  # noqa: E402
import psycopg  # noqa: E402
from index_entries import ToyEmbedder  # noqa: E402
from postgres_server import Server, serve  # noqa: E402
from sample_packs import maker  # noqa: E402
from slow_proxy import Proxy, proxied  # noqa: E402

from context_pack.packs.domain.model import Pack  # noqa: E402
from context_pack.retrieval.model import IndexEntry, Piece, Scope  # noqa: E402
from context_pack.retrieval.ports import SearchIndex  # noqa: E402
from context_pack_adapters.bootstrap import open_ports  # noqa: E402
from context_pack_adapters.disk_ports import file_packs  # noqa: E402
from context_pack_adapters.index.sqlite_index import SqliteIndex  # noqa: E402
from context_pack_adapters.postgres.connection import Address, Database  # noqa: E402
from context_pack_adapters.postgres.copying import copy_packs  # noqa: E402
from context_pack_adapters.postgres.pack_store import PostgresPackStore  # noqa: E402
from context_pack_adapters.postgres.piece_index import PostgresIndex  # noqa: E402
from context_pack_adapters.postgres.schema import prepare  # noqa: E402
from context_pack_adapters.settings import read_settings  # noqa: E402
from context_pack_adapters.system import SystemClock, SystemIds  # noqa: E402
from context_pack_adapters.workspace import Workspace  # noqa: E402

TRIP = 0.020
ROUNDS = 10
PROJECT = "example.org/bench"
DIMENSION, PER_ENTRY, MODEL = 384, 10, "bench-384"
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

    def anew() -> None:
        PostgresPackStore(Database(Address(url), lambda: PROJECT), SystemIds()).all()

    measured(f"all, {packs:,} packs, by somebody who has none", anew, proxy)

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


def chunks(count: int) -> tuple[list[IndexEntry], Any]:
    """Entries of ten chunks of made-up words, and vectors around made-up subjects."""
    rng = np.random.default_rng(7)
    words = [f"w{number}" for number in range(20_000)]
    texts = [" ".join(words[at] for at in row) for row in rng.zipf(1.3, (count, 60)) % len(words)]
    entries = []
    for at in range(0, count, PER_ENTRY):
        corpus = "narrow" if at % (100 * PER_ENTRY) == 0 else "wide"
        pieces = tuple(Piece(text, names=f"e{at}") for text in texts[at : at + PER_ENTRY])
        entries.append(IndexEntry(corpus, f"e{at}", f"{at:064}", pieces=pieces))
    subjects = rng.standard_normal((count // 50, DIMENSION))
    vectors = subjects[rng.integers(0, len(subjects), count)] + 0.7 * rng.standard_normal((count, DIMENSION))
    return entries, (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype("<f4")


def filled(index: SearchIndex, entries: list[IndexEntry], vectors: Any, name: str) -> None:
    """Write everything, and print how long that took."""
    begun = time.perf_counter()
    index.replace(entries)
    texts = {piece.text: at for at, piece in enumerate(p for entry in entries for p in entry.pieces)}
    while lacking := index.lacking(MODEL, Scope(), 2000):
        index.keep(MODEL, {piece: vectors[texts[text]] for piece, text in lacking.items()})
    index.tend(lambda: False)
    print(f"{name:44} {time.perf_counter() - begun:6.1f} s to write")


def questions_near(vectors: Any, rounds: int) -> Any:
    """Vectors near some of these."""
    rng = np.random.default_rng(11)
    noise = 0.03 * rng.standard_normal((rounds, DIMENSION))
    return (vectors[rng.integers(0, len(vectors), rounds)] + noise).astype("<f4")


def asked(index: SearchIndex, vectors: Any, rounds: int, name: str) -> list[list[str]]:
    """Print the times of searches; what the nearest were, by text."""
    rng, nearest = np.random.default_rng(13), []
    questions = questions_near(vectors, rounds)
    words = [[f"w{number}" for number in row] for row in rng.zipf(1.3, (rounds, 4)) % 20_000]
    for scope, where in ((Scope(), "everything"), (Scope(corpora=("narrow",)), "1 %")):
        times: dict[str, list[float]] = {"words": [], "vectors": []}
        for some, question in zip(words, questions, strict=True):
            begun = time.perf_counter()
            with index.reading() as snapshot:
                snapshot.keyword(some, scope, 10)
            middle = time.perf_counter()
            with index.reading() as snapshot:
                hits = snapshot.nearest(MODEL, question, scope, 10)
                done = time.perf_counter()
                nearest.append([one.text for one in snapshot.found([piece for piece, _ in hits])])
            times["words"].append(middle - begun)
            times["vectors"].append(done - middle)
        for kind, taken in times.items():
            p95 = sorted(taken)[int(0.95 * (len(taken) - 1))] * 1000
            told = f"{name}: {kind} in {where}"
            print(f"{told:44} p50 {statistics.median(taken) * 1000:7.1f} ms  p95 {p95:7.1f} ms")
    return nearest


def documents(server: Server, count: int, folder: Path) -> None:
    """The index in the database beside the local one."""
    entries, vectors = chunks(count)
    database = Database(Address(server.address("ada")), lambda: PROJECT, 600.0)
    team, local = (
        PostgresIndex(database, ToyEmbedder()),
        SqliteIndex(folder / "local.sqlite3", ToyEmbedder(), chunker="bench"),
    )
    with psycopg.connect(server.url) as admin:  # a graph is made faster of what is there already
        admin.execute(f"DROP INDEX context_pack.cp_embeddings_{DIMENSION}".encode())
    print(f"an index of {count:,} chunks")
    filled(team, entries, vectors, "team")
    begun = time.perf_counter()
    prepare(Address(server.url), PROJECT)
    with psycopg.connect(server.url, autocommit=True) as admin:
        admin.execute("VACUUM ANALYZE")
    print(f"{'team: the graph':44} {time.perf_counter() - begun:6.1f} s to make")
    filled(local, entries, vectors, "local")
    rounds = 20 if count < 10_000 else 100
    found, expected = asked(team, vectors, rounds, "team"), asked(local, vectors, rounds, "local")
    exact = exact_nearest(vectors, entries, rounds)
    for name, result in (("team", found), ("local", expected)):
        shares = [len(set(a) & set(b)) / len(b) for a, b in zip(result[:rounds], exact, strict=True)]
        print(f"{name + ': recall@10 of exact, everything':44} {statistics.mean(shares):6.3f}")
    same = [
        len(set(a) & set(b)) / max(1, len(b)) for a, b in zip(found[rounds:], expected[rounds:], strict=True)
    ]
    print(f"{'team: recall@10 of the local index, 1 %':44} {statistics.mean(same):6.3f}")
    local.close()


def exact_nearest(vectors: Any, entries: list[IndexEntry], rounds: int) -> list[list[str]]:
    """The ten nearest of everything, by comparing all."""
    texts = [piece.text for entry in entries for piece in entry.pieces]
    questions = questions_near(vectors, rounds)
    return [[texts[at] for at in np.argsort(-(vectors @ one))[:10]] for one in questions]


def main() -> None:
    """Run everything once."""
    quick = "--quick" in sys.argv
    packs, count = (100, 1_200) if quick else (1000, 100_000)
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
        documents(server, count, Path(folder))


if __name__ == "__main__":
    main()
