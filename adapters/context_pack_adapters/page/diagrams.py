"""Mermaid sources drawn to SVG by another process, which may crash, hang or run out of memory.

One process draws all sources; the one it dies on is left undrawn and the rest is given to the next process.
The whole has a time limit, so that no pack can keep an export busy. What comes out is not to be trusted: it
is shown as an image in a `data:` address only, in which browsers run no script and load nothing.

Protocol: the process gets a JSON list of sources and answers each with one JSON line, in order and at once:
`{"svg": …}`, `{"fault": …}` of the source, or `{"error": …}`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from base64 import b64encode
from collections.abc import Sequence

from attrs import frozen

from context_pack_adapters.about import install_command
from context_pack_adapters.child_limits import limit_memory, limit_time
from context_pack_adapters.system import python_command, python_environment

MOST_SECONDS, CHECK_SECONDS, SECONDS_EACH = 60.0, 10.0, 5
MOST_SVG = 2 * 1024**2
NOT_INSTALLED = 3
INSTALL = f"to have diagrams drawn, run {install_command('html')}, and export again"
PROCESS = python_command("from context_pack_adapters.page.diagrams import main; raise SystemExit(main())")
_VIEW_BOX = re.compile(r'viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"')


@frozen
class Drawing:
    """An SVG and its natural size in CSS pixels, 0 where it does not say."""

    svg: str

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the view box: mmdr draws as wide as the page, which an image is not."""
        box = _VIEW_BOX.search(self.svg[:2_000])
        return (round(float(box[1])), round(float(box[2]))) if box else (0, 0)

    @property
    def address(self) -> str:
        """The drawing as an address of its own."""
        return f"data:image/svg+xml;base64,{b64encode(self.svg.encode()).decode('ascii')}"


@frozen
class Undrawn:
    """Why a diagram has no picture, and whether its source is at fault."""

    reason: str
    at_fault: bool = False


class DrawnDiagrams:
    """Says of Mermaid sources whether they can be drawn, by drawing them; knows nothing without `mmdr`."""

    def faults(self, sources: Sequence[str], /) -> Sequence[str | None]:
        """Why each cannot be drawn; None for one that can, and where that is not known."""
        drawings = draw(sources, CHECK_SECONDS)
        return [each.reason if isinstance(each, Undrawn) and each.at_fault else None for each in drawings]


def draw(
    sources: Sequence[str], seconds: float = MOST_SECONDS, process: Sequence[str] = PROCESS
) -> list[Drawing | Undrawn]:
    """The drawing of every source, or the reason why there is none, in order."""
    deadline = time.monotonic() + seconds
    drawings: list[Drawing | Undrawn] = []
    while len(drawings) < len(sources):
        left = deadline - time.monotonic()
        if left <= 0:
            late = Undrawn("drawing the pack's diagrams took too long")
            return drawings + [late] * (len(sources) - len(drawings))
        code, answers = _run(process, sources[len(drawings) :], left)
        if code == NOT_INSTALLED:
            return [Undrawn(INSTALL)] * len(sources)
        drawings += answers
        if len(drawings) < len(sources):
            drawings.append(Undrawn("the drawing program failed on it, or needed too much time or memory"))
    return drawings


def _run(
    process: Sequence[str], sources: Sequence[str], seconds: float
) -> tuple[int, list[Drawing | Undrawn]]:
    """The exit code of one drawing process and the answers it gave."""
    try:
        child = subprocess.run(
            process,
            input=json.dumps(sources).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=python_environment(),
            timeout=seconds,
            check=False,
        )
        code, out = child.returncode, child.stdout
    except subprocess.TimeoutExpired as slow:
        code, out = -1, slow.stdout or b""
    except OSError:
        return -1, [Undrawn("no process could be started to draw it")] * len(sources)
    whole = out[: out.rfind(b"\n") + 1]
    return code, [_answer(json.loads(line)) for line in whole.splitlines()]


def _answer(answer: dict[str, str]) -> Drawing | Undrawn:
    if "svg" in answer:
        return Drawing(answer["svg"])
    first = answer.get("fault", answer.get("error", "")).strip().partition("\n")[0]
    return Undrawn(first if len(first) <= 300 else f"{first[:300]}…", "fault" in answer)


def main() -> int:
    """The drawing process: a source that takes too much time or memory ends it."""
    try:
        import mmdr
    except ImportError:
        return NOT_INSTALLED
    limit_memory()
    for source in json.load(sys.stdin):
        limit_time(SECONDS_EACH)
        try:
            svg = mmdr.render(source).svg()
        except ValueError as error:  # how the package reports sources it cannot draw
            answer = {"fault": str(error)}
        else:
            answer = {"svg": svg} if len(svg) <= MOST_SVG else {"error": "the drawing is too large"}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    return 0
