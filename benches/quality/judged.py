"""Judged collections on disk: documents, queries, and which documents answer which query.

One folder each: `corpus.jsonl.gz` with {id, text, title?}, `queries.jsonl` with {id, text}, and `qrels.tsv`
with query id, document id and gain below a header line.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

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
