"""Makes the stored history of `tests/fixtures/history`: `python tests/support/history_maker.py FILE`.

A small service grows over forty commits: functions are added, edited, moved within their file and to other
places in it, duplicated and removed, blocks are re-indented, files are renamed (with the same name and with
another), split and deleted, line endings change back and forth. Always the same history, from one seed.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

COMMITS = 44
VERBS = [
    "load",
    "save",
    "merge",
    "split",
    "check",
    "parse",
    "render",
    "index",
    "store",
    "fetch",
    "drop",
    "count",
    "sort",
    "join",
]
NOUNS = [
    "order",
    "rider",
    "route",
    "price",
    "token",
    "ledger",
    "zone",
    "fleet",
    "report",
    "batch",
    "queue",
    "shift",
    "invoice",
    "meter",
]
STEMS = ["app", "store", "billing", "routes", "report", "index"]
SHAPES = {".py": ("def {name}({args}):", "    ", ""), ".js": ("function {name}({args}) {{", "  ", "}")}

Function = list[str]


class Maker:
    """A history in the making: files as lists of functions, and the steps of each commit."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.files: dict[str, list[str]] = {}
        self.commits: list[list[Any]] = []

    def function(self, suffix: str) -> Function:
        """A new function of five to thirty lines, with lines that others have too."""
        rng = self.rng
        head, pad, end = SHAPES[suffix]
        name = f"{rng.choice(VERBS)}_{rng.choice(NOUNS)}" + rng.choice(["", "", f"_{rng.randrange(9)}"])
        args = ", ".join(rng.sample(NOUNS, rng.randrange(1, 4)))
        body = []
        for _ in range(rng.randrange(3, 28)):
            noun, verb = rng.choice(NOUNS), rng.choice(VERBS)
            body.append(
                pad * rng.choice([1, 1, 1, 2, 2, 3])
                + rng.choice(
                    [
                        f"{noun} = {verb}({rng.choice(NOUNS)}, {rng.randrange(100)})",
                        f"{noun}.{verb}({rng.randrange(10)})",
                        f"if {noun} > {rng.randrange(50)}:" if suffix == ".py" else f"if ({noun}) {{",
                        "return None" if suffix == ".py" else "return null;",
                        f'log("{verb} {noun}")',
                        "",
                    ]
                ).rstrip()
            )
        return [head.format(name=name, args=args), *body, *([end] if end else []), ""]

    def edit(self, path: str, at: int, drop: int, lines: list[str]) -> None:
        """One step: lines in place of others."""
        self.files.setdefault(path, [])[at : at + drop] = lines
        self.commits[-1].append([path, at, drop, lines])

    def heads(self, path: str) -> list[int]:
        """Where functions begin."""
        return [at for at, line in enumerate(self.files[path]) if line.startswith(("def ", "function "))]

    def span(self, path: str) -> tuple[int, int]:
        """Where some function of the file begins, and how many lines it has."""
        heads = self.heads(path)
        at = self.rng.choice(heads)
        return at, min([head for head in heads if head > at], default=len(self.files[path])) - at

    def grow(self, path: str) -> None:
        """Add a function somewhere."""
        at = self.rng.choice([*self.heads(path), len(self.files[path])])
        self.edit(path, at, 0, self.function(Path(path).suffix))

    def tweak(self, path: str) -> None:
        """Change, add or remove a line or two inside a function."""
        at, size = self.span(path)
        line = at + self.rng.randrange(1, max(2, size - 1))
        new = self.function(Path(path).suffix)[1 : 1 + self.rng.randrange(3)]
        self.edit(path, line, self.rng.randrange(2), new)

    def move(self, path: str) -> None:
        """Take a function and put it where another begins."""
        at, size = self.span(path)
        lines = self.files[path][at : at + size]
        self.edit(path, at, size, [])
        self.edit(path, self.rng.choice([*self.heads(path), len(self.files[path])]), 0, lines)

    def copy(self, path: str) -> None:
        """Write a function twice."""
        at, size = self.span(path)
        self.edit(path, self.rng.choice(self.heads(path)), 0, self.files[path][at : at + size])

    def indent(self, path: str) -> None:
        """Push a function one level in."""
        at, size = self.span(path)
        self.edit(path, at, size, [f"  {line}" if line else "" for line in self.files[path][at : at + size]])

    def cut(self, path: str) -> None:
        """Remove a function, if enough are left."""
        if len(self.heads(path)) > 4:
            self.edit(path, *self.span(path), [])

    def rename(self, path: str, other: str) -> None:
        """Give a file another path."""
        if other not in self.files:
            self.files[other] = self.files.pop(path)
            self.commits[-1].append([path, other])

    def begin(self) -> None:
        """The first commit."""
        self.commits.append([])
        for stem in STEMS:
            path = f"src/{stem}.{self.rng.choice(['py', 'js'])}"
            self.edit(path, 0, 0, ["# licence", "", "import os", ""])
            for _ in range(self.rng.randrange(5, 9)):
                self.grow(path)

    def commit(self, number: int) -> None:
        """One more commit: some edits, and now and then something larger."""
        self.commits.append([])
        paths = sorted(self.files)
        for _ in range(self.rng.randrange(1, 5)):
            change = self.rng.choice(
                [self.grow, self.tweak, self.tweak, self.move, self.copy, self.cut, self.indent]
            )
            change(self.rng.choice(paths))
        path = self.rng.choice(paths)
        if number % 9 == 4:
            self.rename(path, f"lib/{path.split('/', 1)[1]}")
        if number % 13 == 6:
            self.rename(path, path.replace(".", f"_{number}."))
        if number % 7 == 5:
            self.commits[-1].append([path, self.rng.choice(["\r\n", "\n"])])
        if number == 30:
            self.files.pop(path, None)
            self.commits[-1].append([path])


def main() -> None:
    """Write the history to the file that is named."""
    maker = Maker(20261116)
    maker.begin()
    for number in range(1, COMMITS):
        maker.commit(number)
    rows = ",\n".join(json.dumps(commit, separators=(",", ":")) for commit in maker.commits)
    Path(sys.argv[1]).write_text(f"[\n{rows}\n]\n", "utf-8")


if __name__ == "__main__":
    main()
