"""How much of our code one call runs through: distinct functions and modules, counted in-process.

  python benches/walks.py [--base FOLDER] [--list]

Five calls over a small project, each made once before so that nothing is loaded or indexed for the first
time: an `upsert_ref`, an `output` after the code of a ref moved, a `documents_search` after a document
changed, a second `grep_codebase`, a second `list_contexts`. With `--base` the same calls are counted in
another checkout too; `--list` names the functions, by module.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

HERE = Path(__file__).resolve()
ROOT = HERE.parents[1]
LOOKED_SECONDS = 2.1
"""Longer than an answer relies on the last look at a collection."""
Walk = dict[str, list[str]]
"""The functions that ran, by module."""
Ask = Callable[..., dict[str, Any]]


class Counter:
    """Notes the functions of a checkout that run, in whichever thread."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._ours = (f"{root}{os.sep}context_pack{os.sep}", f"{root}{os.sep}adapters{os.sep}")
        self._seen: set[tuple[str, str]] | None = None
        # From the start: a thread that is running already could not be told later.
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        code, seen = frame.f_code, self._seen
        if seen is None or event != "call" or code.co_name.startswith("<"):
            return
        if code.co_filename.startswith(self._ours):
            seen.add((os.path.relpath(code.co_filename, self._root), code.co_qualname))

    def walk(self, act: Callable[[], object]) -> Walk:
        """What runs while `act` does."""
        seen = self._seen = set[tuple[str, str]]()
        act()
        self._seen = None
        walk: Walk = {}
        for module, function in sorted(seen):
            walk.setdefault(module, []).append(function)
        return walk


def plant(project: Path) -> None:
    """A few sources and documents."""
    (project / "docs").mkdir(parents=True)
    (project / "context.json").write_text(json.dumps({"collections": {"docs": {"url": "./docs"}}}))
    for number in range(20):
        (project / f"module_{number}.py").write_text(f"def handler_{number}():\n    return {number}\n" * 40)
        (project / "docs" / f"page_{number}.md").write_text(f"# Page {number}\n\nHow a handler works.\n")


def asking(project: Path, private: Path) -> Ask:
    """Calls of the tools of a project."""
    from context_pack.toolkit.call import QuietCall
    from context_pack_adapters.bootstrap import load_registry
    from context_pack_adapters.logs import Log
    from context_pack_adapters.settings import read_settings

    places = {"HOME": private, "XDG_CACHE_HOME": private / "cache", "XDG_STATE_HOME": private / "state"}
    os.environ.update({name: str(place) for name, place in places.items()})
    registry = load_registry(read_settings({}, str(project)), Log("off"))
    registry.describe()  # loads every feature

    def ask(tool: str, **arguments: Any) -> dict[str, Any]:
        call = QuietCall()
        answer = registry.call(tool, arguments, call)
        call.settle()
        if answer.is_error:
            raise SystemExit(f"{tool} failed: {answer.text[:500]}")
        return json.loads(answer.text) if answer.text.startswith("{") else {}

    return ask


def walks(root: Path) -> dict[str, Walk]:
    """The walk of each call."""
    counter, found = Counter(root), dict[str, Walk]()
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder, "project")
        plant(project)
        ask = asking(project, Path(folder, "private"))
        pack = ask("input", action="create", ttl_minutes=60)["payload"]["id"]
        section = {"section_key": "main", "section_title": "Main"}
        ask("input", action="upsert_section", id=pack, expected_revision=1, **section)
        ref = {"action": "upsert_ref", "id": pack, "section_key": "main", "line_start": 1, "line_end": 2}
        ask("input", **ref, ref_key="one", path="module_1.py", expected_revision=2)
        found["upsert_ref"] = counter.walk(
            lambda: ask("input", **ref, ref_key="two", path="module_2.py", ref_why="why", expected_revision=3)
        )
        ask("output", id=pack)
        moved = project / "module_1.py"
        moved.write_text("# first\n" + moved.read_text())
        found["output"] = counter.walk(lambda: ask("output", id=pack))
        ask("documents_search", query="how a handler works")
        time.sleep(LOOKED_SECONDS)
        (project / "docs" / "page_3.md").write_text("# Page three\n\nHow a handler is replaced.\n")
        found["documents_search"] = counter.walk(lambda: ask("documents_search", query="is it replaced"))
        ask("grep_codebase", pattern=r"handler_\d+")
        found["grep_codebase"] = counter.walk(lambda: ask("grep_codebase", pattern=r"handler_1\d"))
        ask("list_contexts")
        found["list_contexts"] = counter.walk(lambda: ask("list_contexts"))
    return found


def measured(root: Path) -> dict[str, Walk]:
    """The walks in a checkout, in a process of its own."""
    command = [sys.executable, str(HERE), "--inside", str(root)]
    path = os.pathsep.join([str(root), str(root / "adapters")])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    found: dict[str, Walk] = json.loads(done.stdout)
    return found


def size(walk: Walk) -> tuple[int, int]:
    """How many functions and modules a walk passes."""
    return sum(map(len, walk.values())), len(walk)


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--base", type=Path, help="another checkout to compare with")
    parser.add_argument("--list", action="store_true", help="name the functions")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside is not None:
        print(json.dumps(walks(options.inside)))
        return
    now = measured(ROOT)
    base = measured(options.base.resolve()) if options.base is not None else {}
    for call, walk in now.items():
        functions, modules = size(walk)
        line = f"{call:18} {functions:4} functions in {modules:3} modules"
        if call in base:
            before, places = size(base[call])
            line += f"   base {before:4} in {places:3}"
            line += f"   ({functions / before - 1:+.0%} and {modules / places - 1:+.0%})"
        print(line)
        for module, names in walk.items() if options.list else ():
            print(f"    {module}: {', '.join(names)}")


if __name__ == "__main__":
    main()
