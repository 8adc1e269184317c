"""Makes a source tree like a large project's: 7 000 text files and 1.1 million lines, always the same.

Words follow a steep frequency curve, as identifiers do, so that a search may be common or rare at will:
`NEEDLE` stands in three files, `COMMON` in most. A few files are what real trees have too: Unicode, CRLF,
binaries, ignored folders. Run as a script to make one: `python benches/source_tree.py FOLDER [FILES]`.
"""

from __future__ import annotations

import random
import sys
from itertools import accumulate
from pathlib import Path

FILES = 7_000
LINES = 1_100_000
NEEDLE = "quarterlyReconciliation"
COMMON = "return"
WORDS = 4_000
SUFFIXES = (".py", ".py", ".py", ".ts", ".ts", ".go", ".java", ".md", ".json", ".yml")
_SYLLABLES = (
    "ba",
    "con",
    "der",
    "el",
    "fi",
    "gra",
    "ho",
    "in",
    "jun",
    "ka",
    "lo",
    "mi",
    "nor",
    "pre",
    "qui",
    "val",
)
_ACCENTED = "größe déjà naïve über señal 数据 поиск"


def plant(root: Path, files: int = FILES, seed: int = 7) -> int:
    """Make the tree in `root` and return how many lines it has."""
    chance = random.Random(seed)
    words = _vocabulary(chance)
    weights = list(accumulate(1 / (rank + 3) for rank in range(WORDS)))
    folders = _folders(root, chance, words, max(4, files // 10))
    rare = set(chance.sample(range(files), min(3, files)))
    total = 0
    for number in range(files):
        lines = _lines(chance, words, weights, max(5, int(chance.lognormvariate(4.55, 1.0))))
        if number in rare:
            lines.insert(len(lines) // 2, f"    value = {NEEDLE}(ledger, period)")
        total += len(lines)
        name = f"{words[chance.randrange(WORDS)]}_{number}{chance.choice(SUFFIXES)}"
        ending = "\r\n" if number % 40 == 39 else "\n"
        data = ending.join(lines) + ending
        (folders[chance.randrange(len(folders))] / name).write_bytes(data.encode())
    _oddities(root, chance)
    return total


def _vocabulary(chance: random.Random) -> list[str]:
    """Identifiers, the most frequent first."""
    known: dict[str, None] = dict.fromkeys(
        ["self", "import", COMMON, "value", "if", "for", "def", "class", "error"]
    )
    while len(known) < WORDS:
        parts = chance.choices(_SYLLABLES, k=chance.randint(2, 5))
        style = chance.random()
        if style < 0.5:
            known["".join(parts)] = None
        elif style < 0.8:
            known["_".join(["".join(parts[:2]), "".join(parts[2:]) or "id"])] = None
        else:
            known["".join(part.title() for part in parts)] = None
    return list(known)


def _folders(root: Path, chance: random.Random, words: list[str], count: int) -> list[Path]:
    made = [root]
    root.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        parent = made[chance.randrange(max(0, len(made) - 200), len(made))]
        folder = parent / f"{words[chance.randrange(200, WORDS)]}{number}"
        if len(folder.relative_to(root).parts) > 8:
            folder = root / folder.name
        folder.mkdir(parents=True, exist_ok=True)
        made.append(folder)
    return made


def _lines(chance: random.Random, words: list[str], weights: list[float], count: int) -> list[str]:
    picked = iter(chance.choices(words, cum_weights=weights, k=count * 5))
    lines = []
    for _ in range(count):
        kind = chance.random()
        indent = "    " * chance.randrange(4)
        if kind < 0.12:
            lines.append("")
        elif kind < 0.2:
            lines.append(f"def {next(picked)}_{next(picked)}({next(picked)}, {next(picked)}):")
        elif kind < 0.3:
            lines.append(f"{indent}# {next(picked)} {next(picked)} the {next(picked)} of {next(picked)}")
        elif kind < 0.4:
            lines.append(f"{indent}return {next(picked)}.{next(picked)}({next(picked)})")
        elif kind < 0.402:
            lines.append(f"{indent}# TODO {next(picked)} {chance.choice(_ACCENTED.split())}")
        else:
            lines.append(f"{indent}{next(picked)} = {next(picked)}({next(picked)}, {chance.randrange(1000)})")
    return lines


def _oddities(root: Path, chance: random.Random) -> None:
    """Ignored folders, a nested ignore file that takes back, binaries, a text in another encoding."""
    (root / ".gitignore").write_text("*.log\nout/\n!keep.log\n")
    for folder in ("out", "node_modules/lib", "dist"):
        (root / folder).mkdir(parents=True, exist_ok=True)
        for number in range(50):
            (root / folder / f"made{number}.js").write_text(f"return {NEEDLE};\n" * 40)
    (root / "noise.log").write_text(f"{NEEDLE}\n")
    (root / "keep.log").write_text(f"{COMMON} kept\n")
    for number in range(20):
        (root / f"picture{number}.png").write_bytes(b"\x89PNG\r\n\0" + chance.randbytes(20_000))
    (root / "latin1.txt").write_bytes("größe return\n".encode("latin-1"))


if __name__ == "__main__":
    where = Path(sys.argv[1])
    print(f"{plant(where, int(sys.argv[2]) if len(sys.argv) > 2 else FILES)} lines in {where}")
