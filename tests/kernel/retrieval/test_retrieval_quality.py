"""The quality bench: its measures, and what it says where there is nothing to measure."""

from __future__ import annotations

import gzip
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from runpy import run_path

import pytest


def run_bench(
    checkout: Path, *arguments: str, bench: str = "documents.py"
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(checkout / "benches" / "quality" / bench), *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, env=dict(os.environ)
    )


def test_the_bench_searches_through_the_product_and_prints_each_way(checkout: Path, tmp_path: Path) -> None:
    folder = tmp_path / "toy"
    folder.mkdir()
    items = {"a": "the retry policy backs off", "b": "the cache evicts", "c": "users sign in"}
    with gzip.open(folder / "corpus.jsonl.gz", "wt", encoding="utf-8") as corpus:
        for name, text in items.items():
            corpus.write(json.dumps({"id": name, "text": text, "title": name.upper()}) + "\n")
    queries = [{"id": "1", "text": "retry policies"}, {"id": "2", "text": "nobody judged this"}]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)), encoding="utf-8")
    (folder / "qrels.tsv").write_text("query_id\tcorpus_id\tscore\n1\ta\t1\n", encoding="utf-8")
    done = run_bench(checkout, "--data", str(tmp_path), "--tier", "fast", "--judge")
    assert done.returncode == 0, done.stderr
    rows = {line[:24].strip(): line[24:].split() for line in done.stdout.splitlines() if "." in line[24:]}
    assert rows.keys() == {"plain FTS5", "fast: both searches", "fast: vectors alone", "fast: words alone"}
    assert all(scores[:3] == ["1.0000"] * 3 for scores in rows.values())
    assert "3 documents, 1 queries" in done.stdout


def test_ndcg_and_mrr_match_hand_computed_values(checkout: Path) -> None:
    quality = run_path(str(checkout / "benches" / "quality" / "metrics.py"))["quality"]
    run = {"1": ["x", "a", "x", "b"], "2": ["z"]}
    judged = {"1": {"a": 1.0, "b": 1.0, "c": 1.0}, "2": {"z": 2.0}, "3": {"q": 1.0}}
    found = quality(run, judged)
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    first = (1 / math.log2(3) + 1 / math.log2(4)) / ideal
    assert found.ndcg == pytest.approx((first + 1 + 0) / 3)
    assert found.mrr == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert found.recall == pytest.approx((2 / 3 + 1 + 0) / 3)
    late = {"1": [*(f"n{number}" for number in range(10)), "a"]}
    assert quality(late, {"1": {"a": 1.0}}) == (0.0, 0.0, 0.0), "the eleventh counts for nothing"


def test_annotated_repositories_are_asked_in_the_format_of_semble(checkout: Path, tmp_path: Path) -> None:
    specs = [
        {"name": "shop", "revision": "0", "benchmark_root": "src"},
        {"name": "absent", "revision": "0", "benchmark_root": None},
    ]
    (tmp_path / "repos.json").write_text(json.dumps(specs), encoding="utf-8")
    source = tmp_path / "repos" / "shop" / "src"
    source.mkdir(parents=True)
    (source / "carts.py").write_text("def empty_cart(cart):\n    cart.clear()\n", encoding="utf-8")
    (source / "taxes.py").write_text("def value_added_tax(price):\n    return price / 5\n", encoding="utf-8")
    questions = [
        {"query": "empty_cart", "relevant": [{"path": "src/carts.py", "start_line": 1, "end_line": 2}]},
        {"query": "value added tax", "relevant": ["src/taxes.py"], "secondary": ["src/gone.py"]},
    ]
    (tmp_path / "annotations").mkdir()
    (tmp_path / "annotations" / "shop.json").write_text(json.dumps(questions), encoding="utf-8")
    done = run_bench(checkout, "--annotated", str(tmp_path), bench="code_search.py")
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if "context-pack" in line]
    assert [row[:1] + row[3:6] for row in rows] == [
        ["shop", "1.000", "1.00", "1.00"],
        ["mean", "1.000", "1.00", "1.00"],
    ]
