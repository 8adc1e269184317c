"""How well documents are found: the product's own `documents_search`, over judged items of one file each.

  python benches/quality/documents.py [--data FOLDER] [--quick] [--tier TIER] [--judge]

Printed for each collection and tier: nDCG@10, MRR@10 and Recall@10, the seconds of indexing and the median of
a query, by vectors and words, by vectors alone and by words alone; and plain FTS5 (its own tokenizer, stemmer
and BM25) in the same run. `--judge` ends with 1 when a floor is missed or both searches together are worse
than one alone.

A collection is a folder: `corpus.jsonl.gz` with {id, text, title?}, `queries.jsonl` with {id, text}, and
`qrels.tsv` with query id, document id and gain below a header line.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters"), str(Path(__file__).resolve().parent)]
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from metrics import quality  # noqa: E402

from context_pack.retrieval.model import Progress, Scope  # noqa: E402
from context_pack.retrieval.words import tokens  # noqa: E402
from context_pack_adapters.disk_ports import open_ports  # noqa: E402
from context_pack_adapters.library import Workspace  # noqa: E402
from context_pack_adapters.settings import read_settings  # noqa: E402

DATA = ROOT.parent / "shared" / "data" / "retrieval"
LIMIT = 30
"""Passages asked for: two of one document count once."""
FLOORS = {("cosqa-dev", "fast"): 0.39, ("scifact-train", "fast"): 0.70}
FLOORS |= {("cosqa-dev", "semantic"): 0.62, ("scifact-train", "semantic"): 0.76}
TOLERANCE = 0.005
"""How far both searches together may stay below one alone."""
QUICK_QUERIES = 60
QUICK_DOCUMENTS = 600


class Judged(NamedTuple):
    """One collection: documents and queries by id, and the gains of documents for each query."""

    name: str
    documents: Mapping[str, str]
    queries: Mapping[str, str]
    gains: Mapping[str, Mapping[str, float]]


def collections(folder: Path, quick: bool = False) -> Iterator[Judged]:
    """The collections below a folder, or of each a sample that has all answers to its queries."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if (path / "corpus.jsonl.gz").is_file():
            found = _read(path)
            yield _sample(found) if quick else found


def _read(path: Path) -> Judged:
    with gzip.open(path / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        documents = {row["id"]: _markdown(row) for row in map(json.loads, lines)}
    queries = [json.loads(line) for line in (path / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    gains: dict[str, dict[str, float]] = {}
    for line in (path / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, gain = line.split("\t")
        gains.setdefault(query, {})[document] = float(gain)
    asked = {row["id"]: row["text"] for row in queries if row["id"] in gains}
    return Judged(path.name, documents, asked, {query: gains[query] for query in asked})


def _markdown(row: Mapping[str, str]) -> str:
    """An item as the file that a person would keep it in."""
    title = row.get("title", "").strip()
    return f"# {title}\n\n{row['text']}\n" if title else f"{row['text']}\n"


def _sample(whole: Judged) -> Judged:
    queries = dict(list(whole.queries.items())[:QUICK_QUERIES])
    gains = {query: whole.gains[query] for query in queries}
    answers = [document for judged in gains.values() for document in judged if document in whole.documents]
    kept = dict.fromkeys([*answers, *whole.documents])
    documents = {document: whole.documents[document] for document in list(kept)[:QUICK_DOCUMENTS]}
    return Judged(f"{whole.name} (sample)", documents, queries, gains)


class Row(NamedTuple):
    """One line of the table."""

    name: str
    run: Mapping[str, Sequence[str]]
    seconds: float
    median: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and with `--judge` say by the exit code whether it is good enough."""
    wanted = _options().parse_args(arguments)
    found = list(collections(Path(wanted.data), wanted.quick))
    if not found:
        print(f"no judged collections in {wanted.data}: nothing is measured")
        return 0
    good = True
    for judged in found:
        print(f"\n{judged.name}: {len(judged.documents)} documents, {len(judged.queries)} queries")
        print(f"{'':24}{'nDCG@10':>9}{'MRR@10':>9}{'Recall@10':>11}{'index s':>9}{'query ms':>10}")
        _print(judged, _fts5(judged))
        for tier in wanted.tier or ("fast", "semantic"):
            with tempfile.TemporaryDirectory() as folder:
                rows = _product(judged, tier, Path(folder))
                scores = {row.name: _print(judged, row) for row in rows}
            good &= _is_good(judged.name, tier, scores)
    return 0 if good or not wanted.judge else 1


def _options() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description="how well documents are found")
    made.add_argument("--data", default=DATA, help="folder with judged collections")
    made.add_argument("--quick", action="store_true", help="a sample of each collection")
    made.add_argument("--tier", action="append", choices=["fast", "semantic"], help="only this tier")
    made.add_argument("--judge", action="store_true", help="exit with 1 when a floor is missed")
    return made


def _product(judged: Judged, tier: str, folder: Path) -> Iterator[Row]:
    """The product's search by words and vectors, and by each alone."""
    (folder / "items").mkdir()
    for name, text in judged.documents.items():
        (folder / "items" / f"{name}.md").write_text(text, encoding="utf-8")
    config = {"collections": {judged.name: {"url": "./items"}}}
    (folder / "context.json").write_text(json.dumps(config), encoding="utf-8")
    given = {"CONTEXT_PACK_EMBEDDER": tier, "CONTEXT_PACK_CACHE": str(folder / "private")}
    settings = read_settings(given, str(folder))
    with Workspace(open_ports(settings), settings.max_source_bytes) as workspace:
        begun = time.perf_counter()
        workspace.documents.sync()
        if tier == "semantic":
            _fill(workspace)
        seconds = time.perf_counter() - begun
        for name, more in (("both searches", {}), ("vectors alone", {"hybridSearch": False})):
            run, median = _timed(judged, partial(_search, workspace, more))
            yield Row(f"{tier}: {name}", run, seconds, median)
        run, median = _timed(judged, partial(_words, workspace))
        yield Row(f"{tier}: words alone", run, seconds, median)


def _search(workspace: Workspace, more: Mapping[str, Any], query: str) -> list[str]:
    """The documents that `documents_search` names."""
    answer = workspace.call("documents_search", {"query": query, "limit": LIMIT, **more})
    if answer.is_error or answer.structured is None:
        raise SystemExit(f"documents_search failed: {answer}")
    return [hit["documentId"].removesuffix(".md") for hit in answer.structured["results"]]


def _words(workspace: Workspace, query: str) -> list[str]:
    """The documents that the keyword search finds."""
    with workspace.documents.shelf.ports.index.reading() as snapshot:
        hits = snapshot.keyword(tokens(query), Scope(), LIMIT)
        return [one.key.removesuffix(".md") for one in snapshot.found([piece for piece, _ in hits])]


def _fill(workspace: Workspace) -> None:
    """Embed everything, as `docs sync` does."""
    if workspace.documents.shelf.ports.semantic is None:
        raise SystemExit("the semantic tier is not installed")
    workspace.documents.finder.fill(Scope(), lambda: False, _tell)


def _tell(progress: Progress) -> None:
    print(f"  {progress.done}/{progress.total}", end="\r", file=sys.stderr, flush=True)


def _fts5(judged: Judged) -> Row:
    """FTS5 as it comes: unicode61 with its Porter stemmer, its BM25, an OR of the query's words."""
    begun = time.perf_counter()
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE items USING fts5(name UNINDEXED, body, tokenize='porter unicode61')"
    )
    connection.executemany("INSERT INTO items VALUES (?, ?)", judged.documents.items())
    seconds = time.perf_counter() - begun

    def ask(query: str) -> list[str]:
        words = ["".join(filter(str.isalnum, word)) for word in query.split()]
        match = " OR ".join(f'"{word}"' for word in words if word)
        if not match:
            return []
        rows = connection.execute(
            "SELECT name FROM items WHERE items MATCH ? ORDER BY bm25(items), rowid LIMIT ?", (match, LIMIT)
        )
        return [row[0] for row in rows]

    run, median = _timed(judged, ask)
    return Row("plain FTS5", run, seconds, median)


def _timed(judged: Judged, ask: Callable[[str], list[str]]) -> tuple[dict[str, list[str]], float]:
    """The answer to every query, and the median of the milliseconds that one took."""
    run: dict[str, list[str]] = {}
    taken: list[float] = []
    for name, query in judged.queries.items():
        begun = time.perf_counter()
        run[name] = ask(query)
        taken.append(time.perf_counter() - begun)
    return run, statistics.median(taken) * 1000


def _print(judged: Judged, row: Row) -> float:
    """Print a line; its nDCG."""
    found = quality(row.run, judged.gains)
    scores = f"{found.ndcg:9.4f}{found.mrr:9.4f}{found.recall:11.4f}"
    print(f"{row.name:24}{scores}{row.seconds:9.1f}{row.median:10.1f}", flush=True)
    return found.ndcg


def _is_good(name: str, tier: str, scores: Mapping[str, float]) -> bool:
    """Whether the floor is reached and both searches are not worse than one alone; says so if not."""
    both = scores[f"{tier}: both searches"]
    good = True
    if both < FLOORS.get((name, tier), 0.0):
        print(f"  below the floor of {FLOORS[name, tier]}")
        good = False
    for row, score in scores.items():
        if both < score - TOLERANCE:
            print(f"  both searches are worse than {row} by {score - both:.4f}")
            good = False
    return good


if __name__ == "__main__":
    sys.exit(main())
