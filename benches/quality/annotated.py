"""Repositories with annotated questions, in the format of semble's benchmark, and how well a ranking answers.

A folder holds `repos.json` (name, revision, `benchmark_root`), `annotations/NAME.json` (questions with the
files, or lines of files, that answer them) and `repos/NAME` with the code at that revision. A target counts
at the first hit that is in its file and touches its lines; one whose file is not there is not asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from metrics import discounted

DEPTH = 10


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
    category: str = ""


class Repository(NamedTuple):
    """A folder of code and the questions about it."""

    name: str
    root: Path
    tasks: tuple[Task, ...]


class Score(NamedTuple):
    """nDCG@10, and how often the first hit and one of the first five is right."""

    ndcg: float
    first: float
    five: float


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
    return Task(row["query"], there, row.get("category", ""))


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
        best = min(ranks, default=DEPTH + 1)
        rows.append((gained / ideal if ideal else 0.0, best == 1, best <= 5))
    return Score(*map(fmean, zip(*rows, strict=True)))


def rank_of(target: Place, hits: Sequence[Place]) -> int:
    """Where the first hit on a target stands, from 1; 0 when none does."""
    return next((rank for rank, hit in enumerate(hits, 1) if target.is_hit_by(hit)), 0)
