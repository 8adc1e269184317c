"""How often `context_search` finds the right function: forty questions over this project's own source.

    python benches/quality/code_search.py [--embedder fast|semantic] [--quick] [--misses]

Indexes a copy of the tracked files, asks every question with limit 5, and prints the rank of the first right
answer. Exit code 1 if fewer than 80 % are found among the first five. The measured times are whole calls of
the tool, the look for changed files included.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT), str(ROOT / "adapters")]

from code_questions import QUESTIONS, Question  # noqa: E402

from context_pack.app import build  # noqa: E402
from context_pack.memory.usecases.indexing import CodeIndexer  # noqa: E402
from context_pack.retrieval.model import Scope  # noqa: E402
from context_pack.toolkit.call import QuietCall  # noqa: E402
from context_pack.toolkit.registry import Registry  # noqa: E402
from context_pack_adapters.bootstrap import open_ports  # noqa: E402
from context_pack_adapters.settings import read_settings  # noqa: E402

LIMIT = 5
WANTED = 0.8
SOURCES = ("context_pack", "adapters", "tests", "benches", "README.md", "CONTRACT.md", "pyproject.toml")


def copied(target: Path) -> None:
    """The project's own files, without what is not tracked where that can be told."""
    done = subprocess.run(
        ["git", "ls-files", *SOURCES], cwd=ROOT, capture_output=True, text=True, check=False
    )
    names = done.stdout.splitlines()
    if done.returncode or not names:
        names = [str(p.relative_to(ROOT)) for name in SOURCES for p in (ROOT / name).rglob("*.py")]
    for name in names:
        # The questions themselves would be the best answer to every question.
        if name.startswith("benches/quality/") or not (ROOT / name).is_file():
            continue
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, place)


def is_right(result: dict[str, Any], question: Question) -> bool:
    """Whether a result is one of the functions that answer."""
    if result.get("path") != question.path:
        return False
    symbol = result.get("symbol", "")
    return "*" in question.symbols or symbol.rpartition(".")[2] in question.symbols


def ask(registry: Registry, question: str, limit: int) -> list[dict[str, Any]]:
    """The results of one call."""
    answer = registry.call("context_search", {"query": question, "limit": limit}, QuietCall())
    found = json.loads(answer.text)
    if answer.is_error:
        raise SystemExit(f"the search failed: {found}")
    results: list[dict[str, Any]] = found["results"]
    return results


def indexed(project: Path, embedder: str) -> tuple[Registry, float]:
    """Every tool over the project, and how long indexing took, with the vectors of a semantic embedder."""
    variables = {"CONTEXT_PACK_EMBEDDER": embedder, "CONTEXT_PACK_CACHE": str(project.parent / "private")}
    ports = open_ports(read_settings(variables, str(project)))
    assert ports.memory is not None
    start = perf_counter()
    indexer = CodeIndexer.over(ports.memory)
    indexer.carry_out(indexer.plan())
    ports.memory.searching.fill(Scope(), lambda: False, lambda _: None)
    return build(ports), perf_counter() - start


def main() -> int:
    """Index, ask, count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--embedder", default="fast", help="auto, fast, semantic or a URL (default: fast)")
    parser.add_argument("--quick", action="store_true", help="ten questions, and no judgement")
    parser.add_argument("--misses", action="store_true", help="show what came instead of the right answer")
    options = parser.parse_args()
    questions = QUESTIONS[::4] if options.quick else QUESTIONS
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        copied(project)
        registry, built = indexed(project, options.embedder)
        ask(registry, "anything at all", 1)
        ranks, times = [], []
        for question in questions:
            start = perf_counter()
            results = ask(registry, question.text, LIMIT)
            times.append(perf_counter() - start)
            rank = next((n for n, each in enumerate(results, 1) if is_right(each, question)), 0)
            ranks.append(rank)
            print(f"{rank or '-':>2}  {question.text[:70]:<70}  {question.path.rpartition('/')[2]}")
            if options.misses and not rank:
                for each in results:
                    print(f"        {each['score']:.3f}  {each['id']}  {each.get('symbol', '')}")
    found = sum(map(bool, ranks))
    share, first = found / len(ranks), sum(rank == 1 for rank in ranks) / len(ranks)
    mrr = sum(1 / rank for rank in ranks if rank) / len(ranks)
    print(
        f"\n{options.embedder}: top 5 {share:.0%} ({found}/{len(ranks)}), top 1 {first:.0%}, MRR {mrr:.3f}; "
        f"indexing {built:.1f} s, median call {median(times) * 1000:.0f} ms"
    )
    return 0 if options.quick or share >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
