"""Rendering a pack of 200 refs over 100 files, beside reading those files.

  python benches/side_by_side/render.py [--quick]

Two floors open, stat and read the same hundred files, in turn with what is measured: as bytes, and as text.
A pack is rendered again (nothing has changed since), with one file of the hundred edited, for the first time
(nothing is known of any file), in a fresh process' place (the pack's own file has to be parsed too), and
again through a spawned server. Medians and ratios are printed, of processor time where there is one process:
for refs whose lines stand where they were, for refs whose lines have all moved, and for a mixture.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters"), str(Path(__file__).resolve().parent)]

from wire import OURS, Server, line  # noqa: E402

from context_pack import open_workspace  # noqa: E402
from context_pack.packs.usecases.commands import UpsertRef  # noqa: E402

FILES, REFS_PER_FILE, REF_LINES = 100, 2, 20
BATCH = 100
OLD_ENOUGH = 0.05
"""Seconds after which a file's time stamp can be trusted."""
Work = Callable[[], object]
Clock = Callable[[], float]


def source(number: int, lines: int) -> str:
    """A file of functions, each a little different."""
    return "".join(f"    value_{number}_{at} = compute({at}, 'text {at % 7}')\n" for at in range(lines))


def edited(text: str, number: int, state: str) -> str:
    """The file after an edit: a line above everything, or, in half of the files, some between the refs."""
    if state == "moved":
        return "# a new line\n" + text
    if state == "mixed" and number % 2:
        lines = text.split("\n")
        middle = len(lines) // 4
        return "\n".join([*lines[:middle], *["# new"] * (number % 7), *lines[middle:]])
    return text


def medians(works: Mapping[str, tuple[Work, Work]], rounds: int, clock: Clock) -> dict[str, float]:
    """The median time of each work in milliseconds; they take turns, each after its own preparation."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, (prepare, work) in works.items():
            prepare()
            start = clock()
            work()
            times[name].append(clock() - start)
    return {name: statistics.median(taken) * 1000 for name, taken in times.items()}


def nothing() -> None:
    """No preparation."""


class Case:
    """A source root with its files, and a pack over them."""

    def __init__(self, folder: Path, lines: int, state: str) -> None:
        self.folder, self.store = folder, folder / ".packs"
        self.files = [folder / f"module_{number}.py" for number in range(FILES)]
        texts = [source(number, lines) for number in range(FILES)]
        for path, text in zip(self.files, texts, strict=True):
            path.write_text(text)
        self.packs = open_workspace(folder, storage=self.store).packs
        pack = self.packs.create(ttl_minutes=600)
        pack = self.packs.upsert_section(pack, section_key="main", section_title="Main")
        refs = self._refs(lines)
        for start in range(0, len(refs), BATCH):
            pack = self.packs.apply(pack, *refs[start : start + BATCH])
        self.pack_id = pack.id
        for number, (path, text) in enumerate(zip(self.files, texts, strict=True)):
            path.write_text(edited(text, number, state))
        self.server = Server(OURS, folder, self._environment())
        self.request = self._output()
        time.sleep(OLD_ENOUGH)

    def _refs(self, lines: int) -> Sequence[UpsertRef]:
        return [
            UpsertRef(
                section_key="main",
                ref_key=f"r{number}-{place}",
                path=path.name,
                line_start=(start := lines // 10 + place * lines // 3),
                line_end=start + REF_LINES - 1,
            )
            for number, path in enumerate(self.files)
            for place in range(REFS_PER_FILE)
        ]

    def _environment(self) -> dict[str, str]:
        path = os.pathsep.join([str(ROOT), str(ROOT / "adapters")])
        return {**os.environ, "PYTHONPATH": path, "CONTEXT_PACK_ROOT": str(self.store)}

    def _output(self) -> bytes:
        arguments = {"id": self.pack_id, "max_tokens": 200_000}
        params = {"name": "output", "arguments": arguments}
        return line({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})

    def read_bytes(self) -> int:
        """The floor: every file once, as bytes."""
        return sum(len(path.read_bytes()) for path in self.files)

    def read_text(self) -> int:
        """The floor: every file once, as text."""
        return sum(len(path.read_text("utf-8")) for path in self.files)

    def again(self) -> str:
        """The pack, by the workspace that has rendered it before."""
        return self.packs.document(self.pack_id)

    def edit_one(self) -> None:
        """Write a file anew; its time stamp is too young to be trusted."""
        self.files[7].write_text(self.files[7].read_text())

    def forget(self) -> None:
        """Take a workspace that knows the pack and no file."""
        self.fresh = open_workspace(self.folder, storage=self.store).packs
        self.fresh.get(self.pack_id)

    def first(self) -> str:
        """The pack, by that workspace."""
        return self.fresh.document(self.pack_id)

    def newcomer(self) -> str:
        """The pack, by a workspace that knows nothing."""
        return open_workspace(self.folder, storage=self.store).packs.document(self.pack_id)

    def served(self) -> bytes:
        """The pack, by a spawned server, as a reply on its stdout."""
        return self.server.ask(self.request)

    def close(self) -> None:
        """End the server."""
        self.server.stdin.close()
        self.server.process.wait()


def measure(lines: int, state: str, rounds: int) -> None:
    """Measure one case and print a line of ratios."""
    with tempfile.TemporaryDirectory() as folder:
        case = Case(Path(folder), lines, state)
        try:
            assert json.loads(case.served())["result"]["content"][0]["text"] == case.again()
            floors: dict[str, tuple[Work, Work]] = {
                "bytes": (nothing, case.read_bytes),
                "text": (nothing, case.read_text),
            }
            warm = {"again": (nothing, case.again)}
            cold = {
                "one edited": (case.edit_one, case.again),
                "first": (case.forget, case.first),
                "fresh": (nothing, case.newcomer),
            }
            served = {"served": (nothing, case.served)}
            # Apart, because a file that was just edited is not trusted for a while; and a server's time can
            # only be told by the wall clock, which other processes blur.
            groups = [
                ("processor", medians({**floors, **warm}, rounds, time.process_time)),
                ("wall", medians({**floors, **served}, rounds, time.perf_counter)),
                ("processor", medians({**floors, **cold}, rounds, time.process_time)),
            ]
        finally:
            case.close()
        size = case.read_bytes() // FILES
    print(f"{state}, files of {size} bytes")
    for clock, found in groups:
        print(
            f"  reading    {found['bytes']:7.1f} ms as bytes, {found['text']:.1f} ms as text ({clock} time)"
        )
        for name in [name for name in found if name not in floors]:
            to_bytes, to_text = (found[name] / found[floor] for floor in floors)
            print(f"  {name:10} {found[name]:7.1f} ms   {to_bytes:5.1f} x bytes {to_text:5.1f} x text")


def main() -> None:
    """Measure and print."""
    quick = "--quick" in sys.argv
    print(f"{FILES * REFS_PER_FILE} refs of {REF_LINES} lines over {FILES} files; at most 3 is wanted")
    for lines in (1_000,) if quick else (250, 1_000, 4_000):
        for state in ("exact", "moved", "mixed"):
            measure(lines, state, 5 if quick else 15)


if __name__ == "__main__":
    main()
