"""Repositories with annotated questions, in the format of semble's benchmark, and how well a ranking answers.

A folder holds `repos.json` (name, revision, `benchmark_root`), `annotations/NAME.json` (questions with the
files, or lines of files, that answer them) and `repos/NAME` with the code at that revision. A target counts
at the first hit that is in its file and touches its lines; one whose file is not there is not asked for.

`functions.txt` beside this module has questions of our own, whose answers are definitions: `checkouts` reads
them, for a folder that holds each repository, under the last part of its name, at the revision given there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from metrics import discounted

from context_pack.kernel.languages import language_of
from context_pack.kernel.syntax import Definition, Syntax, named

DEPTH = 10
FUNCTIONS = Path(__file__).with_name("functions.txt")
HELD_OUT = Path(__file__).with_name("functions-held-out.txt")
"""Questions by which no constant was ever chosen: they only judge."""


class Place(NamedTuple):
    """Lines of a file; without lines, all of it."""

    path: str
    start: int = 0
    end: int = 0

    def is_hit_by(self, hit: Place) -> bool:
        """Whether a hit is in this file and touches these lines; either path may begin further up."""
        shorter, longer = sorted((self.path, hit.path), key=len)
        if longer != shorter and not longer.endswith(f"/{shorter}"):
            return False
        return not self.end or not hit.end or (hit.start <= self.end and hit.end >= self.start)


class Task(NamedTuple):
    """A question and every place that answers it."""

    query: str
    targets: tuple[Place, ...]
    functions: tuple[Place, ...] = ()


class Repository(NamedTuple):
    """A folder of code and the questions about it."""

    name: str
    root: Path
    tasks: tuple[Task, ...]


class Score(NamedTuple):
    """nDCG@10 of files, how often the first hit and one of the first five is in a right file, then how often
    the first and one of the first five is a right definition, and the mean of 1 / its rank."""

    ndcg: float
    first: float
    five: float
    function_first: float
    function_five: float
    function_mrr: float


def repositories(folder: Path, names: Sequence[str] = ()) -> Iterator[Repository]:
    """The repositories of a folder that have code and annotations, or those of these names."""
    for spec in json.loads((folder / "repos.json").read_text(encoding="utf-8")):
        name = spec["name"]
        root = folder / "repos" / name / (spec.get("benchmark_root") or "")
        questions = folder / "annotations" / f"{name}.json"
        if (not names or name in names) and root.is_dir() and questions.is_file():
            files = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
            rows = json.loads(questions.read_text(encoding="utf-8"))
            yield Repository(name, root, tuple(_task(row, files) for row in rows))


def _task(row: dict[str, Any], files: Sequence[str]) -> Task:
    places = [_place(each) for each in (*row["relevant"], *row.get("secondary", ()))]
    there = tuple(place for place in places if any(place.is_hit_by(Place(file)) for file in files))
    return Task(row["query"], there)


def checkouts(file: Path, folder: Path, syntax: Syntax, names: Sequence[str] = ()) -> Iterator[Repository]:
    """The repositories of a file of questions that are in a folder, or those of these names."""
    for part in file.read_text(encoding="utf-8").split("\n[")[1:]:
        head, *lines = part.strip().splitlines()
        repository, _, below = head.rstrip("]").split()
        name = repository.rpartition("/")[2]
        root = folder / name / below
        if (not names or name in names) and root.is_dir():
            yield Repository(name, root, questions(lines, root, syntax))


def questions(lines: Sequence[str], root: Path, syntax: Syntax) -> tuple[Task, ...]:
    """The questions of lines `question | path#definition …`, without empty ones and comments."""
    tasks = []
    for line in lines:
        if line and not line.startswith("#"):
            query, answers = line.split(" | ")
            places = tuple(place for each in answers.split() for place in _definitions(each, root, syntax))
            tasks.append(Task(query, tuple({Place(place.path) for place in places}), places))
    return tuple(tasks)


def _definitions(answer: str, root: Path, syntax: Syntax) -> Iterator[Place]:
    """The lines of a definition, of a type its first: what stands in its methods is another answer."""
    path, _, name = answer.partition("#")
    name, _, kind = name.rstrip(")").partition("(")
    text = (root / path).read_text(encoding="utf-8")
    definitions = syntax.parse(language_of(path), text).definitions
    same = [each for each in named(definitions, name) if not kind or each.kind == kind]
    if not same:
        raise SystemExit(f"{root.name} has no {answer}")
    yield from (Place(path, each.line, _end(each)) for each in same)


def _end(definition: Definition) -> int:
    return definition.line if definition.kind.holds_members else definition.end


def _place(target: str | dict[str, Any]) -> Place:
    if isinstance(target, str):
        return Place(target)
    return Place(target["path"], target.get("start_line") or 0, target.get("end_line") or 0)


def score(tasks: Sequence[Task], answers: Sequence[Sequence[Place]]) -> Score:
    """The means over all questions; a question without targets counts 0, as in semble."""
    rows = []
    for task, hits in zip(tasks, answers, strict=True):
        ranks = {rank_of(target, hits[:DEPTH]) for target in task.targets} - {0}
        ideal = discounted([1.0] * min(len(task.targets), DEPTH))
        gained = discounted([float(rank in ranks) for rank in range(1, DEPTH + 1)])
        best, of_functions = (
            _best(task.targets, hits),
            _best(task.functions, [hit for hit in hits if hit.end]),
        )
        rows.append(
            (
                gained / ideal if ideal else 0.0,
                best == 1,
                best <= 5,
                of_functions == 1,
                of_functions <= 5,
                1 / of_functions if of_functions <= DEPTH else 0.0,
            )
        )
    return Score(*map(fmean, zip(*rows, strict=True)))


def _best(targets: Sequence[Place], hits: Sequence[Place]) -> int:
    """The best rank of any target, or one more than the last that counts."""
    return min({rank_of(target, hits[:DEPTH]) for target in targets} - {0}, default=DEPTH + 1)


def rank_of(target: Place, hits: Sequence[Place]) -> int:
    """Where the first hit on a target stands, from 1; 0 when none does."""
    return next((rank for rank, hit in enumerate(hits, 1) if target.is_hit_by(hit)), 0)
