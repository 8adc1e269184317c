"""Rendering a pack of 200 refs over 100 files, beside reading those files.

  python benches/side_by_side/render.py [--quick]

The floor opens, reads and decodes the same hundred files. Medians and the ratio are printed, for refs whose
lines stand where they were and for refs whose lines have all moved.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters")]

from context_pack import open_workspace  # noqa: E402

FILES, REFS_PER_FILE, REF_LINES = 100, 2, 20


def source(number: int, lines: int) -> str:
    """A file of functions, each a little different."""
    return "".join(
        f"    value_{number}_{line} = compute({line}, 'text {line % 7}')\n" for line in range(lines)
    )


def median_ms(work: Callable[[], object], rounds: int) -> float:
    """The median time of some rounds, in milliseconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


def main() -> None:
    """Measure and print."""
    quick = "--quick" in sys.argv
    rounds, lines = (5, 1_000) if quick else (25, 4_000)
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"module_{number}.py" for number in range(FILES)]
        for number, path in enumerate(files):
            path.write_text(source(number, lines))
        packs = open_workspace(root=Path(folder) / ".packs", source_root=folder).packs
        pack = packs.create(ttl_minutes=60)
        pack = packs.upsert_section(pack, section_key="main", section_title="Main")
        for number, path in enumerate(files):
            for place in range(REFS_PER_FILE):
                start = 100 + place * 300
                pack = packs.upsert_ref(
                    pack,
                    section_key="main",
                    ref_key=f"r{number}-{place}",
                    path=path.name,
                    line_start=start,
                    line_end=start + REF_LINES - 1,
                )

        def read() -> int:
            return sum(len(path.read_text("utf-8")) for path in files)

        refs = FILES * REFS_PER_FILE
        print(f"{refs} refs of {REF_LINES} lines over {FILES} files of {read() // FILES} characters")
        for title in ("exact", "moved"):
            floor, mine = median_ms(read, rounds), median_ms(lambda: packs.document(pack), rounds)
            floor = min(floor, median_ms(read, rounds))
            print(
                f"  {title:6} render {mine:8.1f} ms   reading {floor:7.1f} ms   ratio {mine / floor:5.1f}",
                end="",
            )
            print("   (must be at most 3)")
            for path in files:
                path.write_text("# a new line\n" + path.read_text("utf-8"))


if __name__ == "__main__":
    main()
