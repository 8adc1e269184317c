"""How well refs follow their code: precision and recall of `moved` over real history.

  python benches/side_by_side/moved.py [--quick] [REPOSITORY]

Refs are anchored at old commits and read at newer ones, over the stored history of the tests and over the
git history of a repository (this one by default). Brute force over lines says what is right: `moved` must be
right always, and must be said of at least 95 of 100 refs whose code still stands exactly once in its file.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters"), str(ROOT / "tests/support")]

from pack_history import Tally, judge, replayed  # noqa: E402

STORED = ROOT / "tests/fixtures/history/service.json"
TEXTS = (".py", ".md", ".toml", ".txt", ".js", ".ts", ".rs", ".go", ".c", ".h", ".java", ".yaml", ".json")
MOST_CHARS = 400_000


class GitHistory:
    """The trees of a repository, each file of which is read once."""

    def __init__(self, repository: Path) -> None:
        self.repository = repository
        self.blobs: dict[str, str | None] = {}

    def git(self, *arguments: str, given: str = "") -> bytes:
        """What git says."""
        command = ["git", "-C", str(self.repository), *arguments]
        return subprocess.run(command, input=given.encode(), capture_output=True, check=True).stdout

    def commits(self) -> list[str]:
        """The commits, oldest first."""
        return self.git("rev-list", "--first-parent", "--reverse", "HEAD").decode().split()

    def tree(self, commit: str) -> dict[str, str]:
        """The text files of a commit."""
        rows = self.git("ls-tree", "-r", "-z", commit).decode("utf-8", "replace").split("\0")
        named = [(row.split("\t", 1)[1], row.split()[2]) for row in rows if row.startswith("100")]
        wanted = {path: blob for path, blob in named if path.endswith(TEXTS)}
        self._load([blob for blob in wanted.values() if blob not in self.blobs])
        return {path: text for path, blob in wanted.items() if (text := self.blobs[blob]) is not None}

    def _load(self, blobs: list[str]) -> None:
        data = self.git("cat-file", "--batch", given="".join(f"{blob}\n" for blob in blobs))
        at = 0
        for blob in blobs:
            head, at = data[at : data.index(b"\n", at)], data.index(b"\n", at) + 1
            size = int(head.split()[2])
            try:
                text = data[at : at + size].decode("utf-8")
            except UnicodeDecodeError:
                text = "\0"
            self.blobs[blob] = None if "\0" in text or len(text) > MOST_CHARS else text
            at += size + 1


def told(title: str, tally: Tally, seconds: float) -> None:
    """Print what was counted."""
    states = ", ".join(f"{count} {state.value}" for state, count in tally.states.most_common())
    print(f"{title}: {sum(tally.states.values())} refs ({states}), {seconds:.1f} s")
    print(f"  precision of moved {tally.precision:.4%} (must be 100), other mistakes {len(tally.wrong)} (0)")
    print(f"  recall {tally.recall:.4%} of {tally.once} refs whose code stands once elsewhere (at least 95)")
    for mistake in [*tally.wrong, *tally.missed][:5]:
        print(f"    {mistake}")


def main() -> None:
    """Measure both histories and print."""
    quick = "--quick" in sys.argv
    named = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    rng, pairs = random.Random(1), 40 if quick else 400
    trees = list(replayed(STORED))
    start, tally = time.perf_counter(), Tally()
    for old, new in rng.sample(list(combinations(range(len(trees)), 2)), pairs):
        judge(trees[old], trees[new], rng, 5, tally)
    told("stored history", tally, time.perf_counter() - start)
    repository = Path(named[0]) if named else ROOT
    if not (repository / ".git").exists():
        print(f"{repository} has no git history")
        return
    history, start, tally = GitHistory(repository), time.perf_counter(), Tally()
    commits = history.commits()
    for _ in range(min(len(commits) - 1, 8 if quick else 60)):
        old, new = sorted(rng.sample(range(len(commits)), 2))
        judge(history.tree(commits[old]), history.tree(commits[new]), rng, 2, tally)
    told(f"git history of {len(commits)} commits", tally, time.perf_counter() - start)


if __name__ == "__main__":
    main()
