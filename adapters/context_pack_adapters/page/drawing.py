"""Mermaid sources drawn to SVG by another process, which may crash, hang or run out of memory.

One process draws all sources; the one it dies on is left undrawn and the rest is given to the next process.
The whole has a time limit, so that no pack can keep an export busy.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Sequence

from attrs import frozen

from context_pack_adapters.about import install_command
from context_pack_adapters.page.engine import NOT_INSTALLED
from context_pack_adapters.page.mermaid import light
from context_pack_adapters.system import python_command, python_environment

MOST_SECONDS = 60.0
CHECK_SECONDS = 10.0
INSTALL = f"to have diagrams drawn, run {install_command('html')}, and export again"
ENGINE = python_command("from context_pack_adapters.page.engine import main; raise SystemExit(main())")


@frozen
class Undrawn:
    """Why a diagram has no picture, and whether its source is at fault."""

    reason: str
    at_fault: bool = False


class DrawnDiagrams:
    """Says of Mermaid sources whether they can be drawn, by drawing them; knows nothing without `mmdr`."""

    def faults(self, sources: Sequence[str], /) -> Sequence[str | None]:
        """Why each cannot be drawn; None for one that can, and where that is not known."""
        answers = draw([light(source) for source in sources], CHECK_SECONDS)
        return [each.reason if isinstance(each, Undrawn) and each.at_fault else None for each in answers]


def draw(
    sources: Sequence[str], seconds: float = MOST_SECONDS, engine: Sequence[str] = ENGINE
) -> list[str | Undrawn]:
    """The SVG of every source, which is not to be trusted, or the reason why there is none, in order."""
    deadline = time.monotonic() + seconds
    done: list[str | Undrawn] = []
    while len(done) < len(sources):
        left = deadline - time.monotonic()
        if left <= 0:
            done += [Undrawn("drawing the pack's diagrams took too long")] * (len(sources) - len(done))
            break
        code, answers = _run(engine, sources[len(done) :], left)
        if code == NOT_INSTALLED:
            return [Undrawn(INSTALL)] * len(sources)
        done += answers
        if len(done) < len(sources):
            done.append(Undrawn("the drawing program failed on it, or needed too much time or memory"))
    return done


def _run(engine: Sequence[str], sources: Sequence[str], seconds: float) -> tuple[int, list[str | Undrawn]]:
    """The exit code of one drawing process and the answers it gave."""
    try:
        child = subprocess.run(
            engine,
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


def _answer(answer: dict[str, str]) -> str | Undrawn:
    if "svg" in answer:
        return answer["svg"]
    first = answer.get("fault", answer.get("error", "")).strip().partition("\n")[0]
    return Undrawn(first if len(first) <= 300 else f"{first[:300]}…", "fault" in answer)
