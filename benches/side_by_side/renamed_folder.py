"""A renamed folder of 500 files with 200 refs, beside a bare walk that reads those files.

  python benches/side_by_side/renamed_folder.py

A pack is verified after its folder was renamed, by a workspace that knows nothing of any file; in turn with
it the same files are walked and read as text. Medians of processor time and their ratio are printed: at most
3 is wanted. With `--other-names` each file gets another name too.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters")]

from context_pack import open_workspace  # noqa: E402
from context_pack.packs.usecases.commands import UpsertRef  # noqa: E402

FILES, REFS, LINES, REF_LINES, ROUNDS = 500, 200, 250, 20, 9


def source(number: int) -> str:
    """A file of statements, each a little different."""
    return "".join(f"    value_{number}_{at} = compute({at}, 'text {at % 7}')\n" for at in range(LINES))


def refs() -> list[UpsertRef]:
    """Refs into the first files."""
    return [
        UpsertRef(
            section_key="main",
            ref_key=f"r{number}",
            path=f"old/module_{number}.py",
            line_start=40,
            line_end=40 + REF_LINES - 1,
        )
        for number in range(REFS)
    ]


def bare(folder: Path) -> int:
    """The floor: walk the folder and read every file as text."""
    read = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(place, name), encoding="utf-8") as file:
                read += len(file.read())
    return read


def median(work: Callable[[], object], times: list[float]) -> None:
    """Take the processor time of one go."""
    start = time.process_time()
    work()
    times.append(time.process_time() - start)


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as kept:
        root = Path(name)
        (root / "old").mkdir()
        for number in range(FILES):
            (root / "old" / f"module_{number}.py").write_text(source(number))
        store = Path(kept)
        packs = open_workspace(root, storage=store).packs
        pack = packs.create(ttl_minutes=600)
        pack = packs.upsert_section(pack, section_key="main", section_title="Main")
        for start in range(0, REFS, 100):
            pack = packs.apply(pack, *refs()[start : start + 100])
        (root / "old").rename(root / "new")
        if "--other-names" in sys.argv:
            for number in range(FILES):
                (root / "new" / f"module_{number}.py").rename(root / "new" / f"part_{number}.py")
        ours: list[float] = []
        floor: list[float] = []
        for _ in range(ROUNDS):
            fresh = open_workspace(root, storage=store).packs
            fresh.get(pack.id)
            median(lambda: bare(root / "new"), floor)
            median(lambda fresh=fresh: fresh.verify(pack.id), ours)  # type: ignore[misc]
        states = Counter(one.resolution.state.value for one in fresh.verify(pack.id).refs)
    followed, walked = statistics.median(ours), statistics.median(floor)
    print(f"{REFS} refs, {FILES} files: {dict(states)}")
    print(f"  bare walk {walked * 1000:.1f} ms, followed {followed * 1000:.1f} ms")
    print(f"  {followed / walked:.1f} times the walk (at most 3)")


if __name__ == "__main__":
    main()
