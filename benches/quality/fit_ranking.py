"""Fits the weights of `context_pack/memory/ranking.py` to annotated questions.

    python benches/quality/fit_ranking.py CHECKOUTS ANNOTATED

CHECKOUTS holds the repositories of `functions.txt`, ANNOTATED those with questions in semble's format (see
`annotated.py`); of the first a definition is right, of the second a file. The probability of a hit is the
softmax of its score among the hits of its question, where a file is right, among the best hits of all files.
The weights are those under which the right ones are likeliest, less a penalty for large ones. A question for
a file counts a quarter of one for a definition: with more, definitions lose first places; with less, files.

Each repository is judged by weights that were fitted without it. The last line has those fitted with all:
rounded, they are the table of the module.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from annotated import FUNCTIONS, HELD_OUT, Place, Repository, checkouts, repositories
from code_search import indexed_memory, opened

from context_pack.memory.question_words import QuestionWords
from context_pack.memory.ranking import WEIGHTS, signs_of
from context_pack.memory.search import WEIGHED
from context_pack.retrieval.model import Question, Scope
from context_pack_adapters.syntax.tree_sitter_syntax import TreeSitterSyntax

SIGNS = list(WEIGHTS)
PENALTY, STEPS, SHARE_OF_FILES = 0.03, 300, 0.25


class Asked(NamedTuple):
    """A question: the signs of its hits, a row each, which of them are right, and the files they are in."""

    repository: str
    signs: Any
    right: Any
    files: Sequence[str]
    is_about_file: bool


def asked(repository: Repository) -> list[Asked]:
    """The hits of every question about a repository."""
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        searching = indexed_memory(opened(repository.root, Path(cache), "fast")).searching
        for task in repository.tasks:
            words = QuestionWords.of(task.query)
            question = Question(task.query, Scope(("code",)), WEIGHED, plain=True, names=tuple(words.names))
            hits = searching.ask([question])[0].hits
            places = [Place(hit.found.key, hit.found.start, hit.found.end) for hit in hits]
            targets = task.functions or task.targets
            right = [any(target.is_hit_by(place) for target in targets) for place in places]
            signs = [[row.get(sign, 0.0) for sign in SIGNS] for row in signs_of(hits, words)]
            table = np.array(signs, float).reshape(-1, len(SIGNS))
            files = [place.path for place in places]
            rows.append(Asked(repository.name, table, np.array(right, bool), files, not task.functions))
    return rows


def fitted(questions: Sequence[Asked]) -> Any:
    """The weights that are best for these questions, by accelerated gradient ascent over scaled signs."""
    able = [each for each in questions if each.right.any()]
    scale = np.vstack([each.signs for each in able]).std(axis=0) + 1e-6
    total = sum(SHARE_OF_FILES if each.is_about_file else 1.0 for each in able)
    before = weights = np.zeros(len(SIGNS))
    for step in range(STEPS):
        ahead = weights + step / (step + 3) * (weights - before)
        slope = -2 * PENALTY * ahead
        for each in able:
            scores = each.signs / scale @ ahead
            at = _best_of_files(each, scores) if each.is_about_file else np.arange(len(scores))
            shares = np.exp(scores[at] - scores.max())
            right = np.where(each.right[at], shares, 0.0)
            pull = right / max(right.sum(), 1e-12) - shares / shares.sum()
            slope += (
                (SHARE_OF_FILES if each.is_about_file else 1.0) / total * (each.signs[at] / scale).T @ pull
            )
        before, weights = weights, ahead + 0.5 * slope
    return weights / scale


def _best_of_files(each: Asked, scores: Any) -> Any:
    """The places of the best hit of every file."""
    best: dict[str, int] = {}
    for at in np.argsort(-scores, kind="stable"):
        best.setdefault(each.files[at], int(at))
    return np.array(sorted(best.values()))


def counted(name: str, questions: Sequence[Asked], weights: Any) -> tuple[int, int]:
    """Print how often the right answer is first, and among the first five; these numbers."""
    ranks = []
    for each in questions:
        order = each.right[np.argsort(-(each.signs @ weights), kind="stable")]
        ranks.append(int(np.argmax(order)) + 1 if order.any() else 0)
    first, five = ranks.count(1), sum(1 for rank in ranks if 1 <= rank <= 5)
    if questions:
        print(f"{name:<26}{first:4} first{five:5} of five{len(ranks):6} questions", flush=True)
    return first, five


def main() -> None:
    """Fit, and say how well it does where it has not looked."""
    folder, annotated, syntax = Path(sys.argv[1]), Path(sys.argv[2]), TreeSitterSyntax()
    definitions = [row for each in checkouts(FUNCTIONS, folder, syntax) for row in asked(each)]
    files = [row for each in repositories(annotated) for row in asked(each)]
    unseen = np.zeros((2, 2), int)
    for name in dict.fromkeys(each.repository for each in (*definitions, *files)):
        weights = fitted([each for each in (*definitions, *files) if each.repository != name])
        for kind, rows in enumerate((definitions, files)):
            mine = [each for each in rows if each.repository == name]
            unseen[kind] += counted(f"{name}: {('definitions', 'files')[kind]}", mine, weights)
    print("unseen: definitions first, of five; files first, of five:", *unseen.ravel())
    weights = fitted([*definitions, *files])
    counted("seen: definitions", definitions, weights)
    counted("seen: files", files, weights)
    counted("held out", [row for one in checkouts(HELD_OUT, folder, syntax) for row in asked(one)], weights)
    print(", ".join(f'"{sign}": {weight:.2f}' for sign, weight in zip(SIGNS, weights, strict=True)))


if __name__ == "__main__":
    main()
