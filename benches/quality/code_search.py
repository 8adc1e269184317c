"""How often `context_search` finds the right function.

    python benches/quality/code_search.py [--embedder fast|semantic] [--quick] [--misses]
    python benches/quality/code_search.py --functions FOLDER [--held-out] [--only NAME…] [--misses]
    python benches/quality/code_search.py --annotated FOLDER [--only NAME…] [--semble PYTHON [--model MODEL]]

Without a folder it asks the questions of `own.txt` about a copy of this project; with `--functions` those of
`functions.txt` about the checkouts in a folder; with `--annotated` those of repositories in the format of
semble's benchmark (see `annotated.py`). Prints nDCG@10 and how often the first hit and one of the first five
is in the right file, then how often each is the right definition, its MRR, the seconds of indexing and the
median milliseconds of a question: of `context_search`, of semble where a Python is given that has it, and of
ripgrep where it is installed (files by how often they have the words of the question).
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import fmean, median
from time import perf_counter
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT), str(ROOT / "adapters")]

from annotated import (  # noqa: E402
    DEPTH,
    FUNCTIONS,
    HELD_OUT,
    Place,
    Repository,
    checkouts,
    questions,
    rank_of,
    repositories,
    score,
)

from context_pack.app import build  # noqa: E402
from context_pack.memory.ports import MemoryPorts  # noqa: E402
from context_pack.memory.refresh import CodeIndexer  # noqa: E402
from context_pack.ports import Ports  # noqa: E402
from context_pack.retrieval.model import Scope  # noqa: E402
from context_pack.toolkit.call import QuietCall  # noqa: E402
from context_pack.toolkit.registry import Registry  # noqa: E402
from context_pack_adapters.disk_ports import open_ports  # noqa: E402
from context_pack_adapters.settings import read_settings  # noqa: E402
from context_pack_adapters.syntax.tree_sitter_syntax import TreeSitterSyntax  # noqa: E402

OWN = HERE / "own.txt"
SOURCES = ("context_pack", "adapters", "README.md", "pyproject.toml", "docs/contract", "tests")


def own_project(target: Path, quick: bool) -> Repository:
    """A copy of this project's tracked files, and the questions about it."""
    listed = subprocess.run(
        ["git", "ls-files", *SOURCES], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in listed.stdout.splitlines():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target / name)
    tasks = questions(OWN.read_text(encoding="utf-8").splitlines(), target, TreeSitterSyntax())
    return Repository("context-pack", target, tasks[:: 4 if quick else 1])


def ask(registry: Registry, question: str, limit: int) -> list[dict[str, Any]]:
    """The results of one call."""
    answer = registry.call("context_search", {"query": question, "limit": limit}, QuietCall())
    found = json.loads(answer.text)
    if answer.is_error:
        raise SystemExit(f"the search failed: {found}")
    results: list[dict[str, Any]] = found["results"]
    return results


def opened(project: Path, private: Path, embedder: str) -> Ports:
    """The ports of a project, with everything private in a folder of its own."""
    variables = {"CONTEXT_PACK_EMBEDDER": embedder, "CONTEXT_PACK_CACHE": str(private)}
    variables["CONTEXT_PACK_ROOT"] = str(private / "packs")
    return open_ports(read_settings(variables, str(project)))


def indexed_memory(ports: Ports) -> MemoryPorts:
    """What memory searches, with the code of the project indexed."""
    assert ports.memory is not None
    memory = ports.memory()
    indexer = CodeIndexer.over(memory)
    indexer.carry_out(indexer.plan())
    return memory


def indexed(project: Path, embedder: str, private: Path) -> tuple[Registry, float]:
    """Every tool over the project, and how long indexing took, with the vectors of a semantic embedder."""
    ports = opened(project, private, embedder)
    start = perf_counter()
    indexed_memory(ports).searching.fill(Scope(), lambda: False, lambda _: None)
    return build(ports), perf_counter() - start


class Run(NamedTuple):
    """What one system answered about one repository."""

    answers: list[list[Place]]
    seconds: float
    milliseconds: float


def compare(asked: Iterable[Repository], options: argparse.Namespace) -> None:
    """Ask every system about every repository, and print a line for each and the means."""
    systems: dict[str, Callable[[Repository], Run]] = {
        f"context-pack ({options.embedder})": lambda each: own_run(each, options.embedder)
    }
    if options.semble:
        systems["semble"] = lambda each: semble_run(each, options.semble, options.model)
    if shutil.which("rg"):
        systems["ripgrep"] = ripgrep_run
    lines: dict[str, list[tuple[float, ...]]] = {name: [] for name in systems}
    print(f"{'':<16}{'':<24}nDCG@10  top 1  top 5  function 1  of 5   MRR  index s   ms")
    for repository in asked:
        for name, system in systems.items():
            run = system(repository)
            lines[name].append((*score(repository.tasks, run.answers), run.seconds, run.milliseconds))
            show(repository.name, name, lines[name][-1])
            if options.misses and name.startswith("context-pack"):
                show_misses(repository, run)
    for name, rows in lines.items():
        show("mean", name, [fmean(column) for column in zip(*rows, strict=True)])


def show(repository: str, system: str, row: Sequence[float]) -> None:
    """One line of the table."""
    ndcg, first, five, function, of_five, mrr, seconds, milliseconds = row
    print(
        f"{repository:<16}{system:<24}{ndcg:7.3f}{first:7.2f}{five:7.2f}"
        f"{function:12.2f}{of_five:6.2f}{mrr:6.3f}{seconds:9.2f}{milliseconds:5.0f}",
        flush=True,
    )


def show_misses(repository: Repository, run: Run) -> None:
    """The questions whose first hit is wrong, where their targets stand, and what came first."""
    for task, hits in zip(repository.tasks, run.answers, strict=True):
        targets = task.functions or task.targets
        ranks = [rank_of(target, hits) for target in targets]
        if 1 not in ranks:
            print(
                f"    {ranks}  {task.query}  ({', '.join(f'{each.path}:{each.start}' for each in targets)})"
            )
            print("".join(f"        {hit.path}:{hit.start}-{hit.end}\n" for hit in hits[:3]), end="")


def own_run(repository: Repository, embedder: str) -> Run:
    """`context_search` of this project."""
    with tempfile.TemporaryDirectory() as folder:
        registry, seconds = indexed(repository.root, embedder, Path(folder))
        ask(registry, "anything at all", 1)
        answers, times = [], []
        for task in repository.tasks:
            start = perf_counter()
            results = ask(registry, task.query, DEPTH)
            times.append(perf_counter() - start)
            found = [each for each in results if each["source"] == "code"]
            answers.append([Place(each["path"], each["startLine"], each["endLine"]) for each in found])
    return Run(answers, seconds, median(times) * 1000)


def semble_run(repository: Repository, python: str, model: str | None) -> Run:
    """Semble, in a process of its own."""
    done = subprocess.run(
        [python, str(HERE / "semble_peer.py"), str(repository.root), *filter(None, [model])],
        input=json.dumps([task.query for task in repository.tasks]),
        capture_output=True,
        text=True,
        check=True,
    )
    told = json.loads(done.stdout)
    answers = [[Place(*hit) for hit in each["hits"]] for each in told["asked"]]
    return Run(answers, told["seconds"], median(each["ms"] for each in told["asked"]))


def ripgrep_run(repository: Repository) -> Run:
    """Plain ripgrep for the words of the question; the file with most matches first."""
    answers, times = [], []
    for task in repository.tasks:
        words = [word for word in re.findall(r"\w+", task.query) if len(word) > 2]
        wanted = [part for word in words for part in ("-e", word)]
        start = perf_counter()
        done = subprocess.run(
            ["rg", "--ignore-case", "--count-matches", "--with-filename", "--fixed-strings", *wanted, "."],
            cwd=repository.root,
            capture_output=True,
            text=True,
            check=False,
        )
        times.append(perf_counter() - start)
        counts = [line.removeprefix("./").rpartition(":") for line in done.stdout.splitlines()]
        counts.sort(key=lambda each: (-int(each[2]), each[0]))
        answers.append([Place(path) for path, _, __ in counts[:DEPTH]])
    return Run(answers, 0.0, median(times) * 1000)


def main() -> None:
    """Index, ask, count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--embedder", default="fast", help="auto, fast, semantic or a URL (default: fast)")
    parser.add_argument("--quick", action="store_true", help="few questions, no judgement")
    parser.add_argument("--misses", action="store_true", help="show what came instead of the right answer")
    parser.add_argument("--annotated", type=Path, help="a folder of repositories with annotated questions")
    parser.add_argument("--functions", type=Path, help="a folder with the checkouts of functions.txt")
    parser.add_argument("--held-out", action="store_true", help="with --functions: the questions that judge")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="these repositories alone")
    parser.add_argument("--semble", metavar="PYTHON", help="a Python that has semble, to compare with")
    parser.add_argument("--model", help="the folder of a model for semble; without, it has words alone")
    options = parser.parse_args()
    if options.functions:
        file = HELD_OUT if options.held_out else FUNCTIONS
        compare(checkouts(file, options.functions, TreeSitterSyntax(), options.only), options)
    elif options.annotated:
        compare(repositories(options.annotated, options.only), options)
    else:
        with tempfile.TemporaryDirectory() as folder:
            compare([own_project(Path(folder) / "project", options.quick)], options)


if __name__ == "__main__":
    main()
