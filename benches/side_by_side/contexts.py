"""What listing contexts costs, as ratios from one run: the first and the repeated list beside a bare walk.

python benches/side_by_side/contexts.py [--quick]

A generated project of 2 000 folders and 10 000 files (200 and 1 000 with --quick), every folder with a
context. The floor is the least that any list must do: `os.scandir` and `stat` of every entry that it may
enter. The first list is that of a server just started; it is measured where `contexts init` has been run, and
for a fresh clone, where every file has to be read as well. Repeated is the same server asked again, unchanged
and after one file changed.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters")]


from benches import context_tree  # noqa: E402
from context_pack.contexts.queries import ContextQueries  # noqa: E402
from context_pack.contexts.scan import is_entered  # noqa: E402
from context_pack.contexts.tools import build  # noqa: E402
from context_pack.kernel.paths import PathPolicy  # noqa: E402
from context_pack.toolkit.call import QuietCall  # noqa: E402
from context_pack.toolkit.registry import Registry  # noqa: E402
from context_pack_adapters.stores.context_projects import DiskProjects  # noqa: E402

MOST_FIRST, MOST_AGAIN = 6.0, 1.5


class Subject:
    """The tools over one project, as a server holds them."""

    def __init__(self, root: Path) -> None:
        made = build(ContextQueries(DiskProjects(str(root), [], PathPolicy(()))))
        self._registry = Registry({tool.name: tool for tool in made}, list, {}, time.monotonic)

    def list(self) -> dict[str, object]:
        """One `list_contexts`, with everything up to the text that is sent."""
        answer = self._registry.call("list_contexts", {}, QuietCall())
        assert not answer.is_error, answer.text[:500]
        return dict(answer.structured or {})


def walk(root: str) -> int:
    """The floor: every folder that may be entered is listed, every file's state is asked for."""
    count, waiting = 0, [root]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if is_entered(entry.name) and entry.name != "generated":
                        waiting.append(entry.path)
                else:
                    entry.stat(follow_symlinks=False)
                    count += 1
    return count


def took(act: Callable[[], object]) -> float:
    """How long one action takes, in milliseconds."""
    start = time.perf_counter()
    act()
    return (time.perf_counter() - start) * 1000


def shown(label: str, time_ms: float, floor: float, bound: str) -> None:
    """One line: a time and its ratio to the floor."""
    print(f"  {label:56}{time_ms:9.1f} ms   ratio {time_ms / floor:6.2f}   ({bound})")


def measure(folder: Path, folders: int, files: int, rounds: int) -> bool:
    """Make, measure, print; whether the bounds hold."""
    root, store = folder / "project", folder / "store"
    context_tree.plant(root, folders, files)
    print(f"a project of {folders} folders and {files} files, medians of {rounds} rounds")
    firsts: dict[str, float] = {}
    floors: list[float] = []
    for method in ("stat", "content"):
        context_tree.make_contexts(root, store, method)
        time.sleep(0.2)  # older than the timestamp grain, as files at rest are
        listed = Subject(root).list()
        assert all(entry["state"] == "fresh" for entry in listed["entries"])  # type: ignore[attr-defined]
        times = []
        for _ in range(rounds):
            floors.append(took(lambda: walk(str(root))))
            times.append(took(Subject(root).list))
        firsts[method] = statistics.median(times)
    subject = Subject(root)
    subject.list()
    again = []
    for _ in range(5 * rounds):
        floors.append(took(lambda: walk(str(root))))
        again.append(took(subject.list))
    edited = []
    for turn in range(rounds):
        (root / "new.py").write_text(f"x = {turn}\n")
        edited.append(took(subject.list))
    floor, repeated = statistics.median(floors), statistics.median(again)
    print(f"  {'the floor: scandir and stat of every entry':56}{floor:9.1f} ms")
    most = f"at most {MOST_FIRST:g}"
    shown("first list, contexts of contents, as init makes them", firsts["content"], floor, most)
    shown("first list, contexts of times and sizes", firsts["stat"], floor, most)
    shown("repeated list, nothing changed", repeated, floor, f"at most {MOST_AGAIN:g}")
    shown("repeated list after one change", statistics.median(edited), floor, "beside")
    slowest = max(firsts["content"], firsts["stat"])
    return slowest <= MOST_FIRST * floor and repeated <= MOST_AGAIN * floor


def main() -> int:
    """Measure in a folder of its own; a quick run shows and does not judge."""
    quick = "--quick" in sys.argv
    folder = Path(tempfile.mkdtemp(prefix="contexts-"))
    try:
        held = measure(folder, 200 if quick else 2_000, 1_000 if quick else 10_000, 3 if quick else 7)
    finally:
        shutil.rmtree(folder)
    return 0 if held or quick else 1


if __name__ == "__main__":
    sys.exit(main())
