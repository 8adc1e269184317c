"""Makes a project like a large one that keeps contexts: 2 000 folders, 10 000 files, always the same.

Every folder has five sources and, at the default threshold, is worth a context; a few have what real trees
have too (ignored folders, hidden ones, names beyond ASCII). Contexts are made by the product itself. Run as a
script to make one: `python benches/context_tree.py FOLDER [FOLDERS] [FILES]`.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters")]

FOLDERS = 2_000
FILES = 10_000
DEEPEST = 7
SUFFIXES = (".py", ".ts", ".go", ".rs", ".md")
_WORDS = ("ledger", "route", "parse", "account", "window", "signal", "branch", "value", "queue", "token")
_ODD = ("größe", "données", "数据")


def plant(root: Path, folders: int = FOLDERS, files: int = FILES, seed: int = 11) -> list[Path]:
    """Make the tree in `root`, without contexts; every folder that was made, the root first."""
    chance = random.Random(seed)
    made = _folders(root, chance, folders)
    for number in range(files):
        folder = made[number % len(made)]
        suffix = SUFFIXES[number // len(made) % len(SUFFIXES)]
        (folder / f"{chance.choice(_WORDS)}_{number}{suffix}").write_text(_text(chance, suffix, number))
    (root / ".gitignore").write_text("*.log\ngenerated/\n")
    for name in ("generated", "node_modules/lib", ".cache"):
        (root / name).mkdir(parents=True)
        for number in range(20):
            (root / name / f"made{number}.js").write_text("export const made = 1;\n")
    return made


def make_contexts(root: Path, store: Path, method: str) -> int:
    """Give every folder that is worth one its context, with that kind of fingerprint; how many were made."""
    from context_pack.contexts.fingerprint import Method
    from context_pack.contexts.queries import RefusedQuery
    from context_pack.contexts.refresh import ContextRefresher, RefreshRequest
    from context_pack.kernel.ports import Reason
    from context_pack_adapters.bootstrap import open_ports
    from context_pack_adapters.settings import Settings

    ports = open_ports(Settings(str(store), str(root), cache=str(store)))
    assert ports.contexts is not None
    project = ports.contexts.open(None)
    assert not isinstance(project, Reason)
    refresher = ContextRefresher(ports.clock, ports.syntax)
    outcomes = refresher.refresh(project, RefreshRequest(method=Method(method)))
    assert not isinstance(outcomes, RefusedQuery)
    return len([outcome for outcome in outcomes if outcome.result in ("made", "updated")])


def _folders(root: Path, chance: random.Random, count: int) -> list[Path]:
    made = [root]
    root.mkdir(parents=True, exist_ok=True)
    while len(made) < count:
        parent = chance.choice(made)
        if len(parent.relative_to(root).parts) >= DEEPEST:
            continue
        word = _ODD[len(made) % 3] if len(made) % 100 == 0 else chance.choice(_WORDS)
        folder = parent / f"{word}{len(made)}"
        folder.mkdir()
        made.append(folder)
    return made


def _text(chance: random.Random, suffix: str, number: int) -> str:
    """About 3.5 KB: five of them are a little more than the default threshold."""
    first, second = chance.choices(_WORDS, k=2)
    doc = f"Handles the {first} of a {second}."
    head = {
        ".py": f'"""{doc}"""\n\n\ndef {first}(count: int) -> int:\n    return {number}\n',
        ".ts": f"/** {doc} */\nexport function {first}(count: number): number {{ return {number}; }}\n",
        ".go": f"// {doc}\npackage {second}\n\nfunc Do(count int) int {{ return {number} }}\n",
        ".rs": f"//! {doc}\npub fn {first}(count: u8) -> bool {{ true }}\n",
        ".md": f"# The {first}\n\n{doc}\n",
    }[suffix]
    mark = {".py": "#", ".md": ">"}.get(suffix, "//")
    lines = [f"{mark} {' '.join(chance.choices(_WORDS, k=9))}" for _ in range(58)]
    return head + "\n".join(lines) + "\n"


if __name__ == "__main__":
    where = Path(sys.argv[1])
    counts = [int(word) for word in sys.argv[2:4]]
    print(f"{len(plant(where, *counts))} folders in {where}")
