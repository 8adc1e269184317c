"""Whether anything grows: 4 agents, each with its own server, work for N minutes in one changing project.

  python benches/soak.py --minutes N [--quick]

Files are edited, added and removed, packs are made, changed and deleted, documents synced, discoveries
recorded, and tools of every family called. Each minute prints, for all servers with their children: resident
memory, open descriptors, threads, children, and the calls so far. At the end the last third is compared with
the middle third; the exit code is 1 where one of the numbers still grows. `--quick` works for seconds and
judges nothing.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters"), str(ROOT / "benches/side_by_side")]

from wire import ENV, OURS, Server, plant, tool_call  # noqa: E402

CLIENTS, FILES = 4, 400
PAUSE = 0.01
GROWTH = {"memory": 1.05, "descriptors": 1.10, "threads": 1.10, "children": 1.10}
"""How much more the last third may have than the middle third, and still count as level."""
PAGE = os.sysconf("SC_PAGE_SIZE")


class Sample(NamedTuple):
    """What the servers and their children have at one moment."""

    memory: int
    descriptors: int
    threads: int
    children: int


class Agent(threading.Thread):
    """One client with its server: calls tools, in an order of its own, until told to stop."""

    def __init__(self, project: Path, number: int, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self.server = Server(OURS, project)
        self.calls: Counter[tuple[str, bool]] = Counter()
        self.failure: str | None = None
        self._project, self._stop_asked = project, stop
        self._chance = random.Random(number)
        self._name = f"agent-{number}"

    def run(self) -> None:
        """Work until told to stop; whatever goes wrong is kept for the end."""
        try:
            while not self._stop_asked.is_set():
                for tool, arguments in self._errands():
                    self._call(tool, arguments)
                    time.sleep(PAUSE)
        except Exception as error:
            self.failure = repr(error)

    def _call(self, tool: str, arguments: dict[str, Any]) -> Any:
        reply = json.loads(self.server.ask(tool_call(tool, **arguments)))
        if "result" not in reply:
            raise RuntimeError(f"{tool}: {reply}")
        self.calls[tool, bool(reply["result"].get("isError"))] += 1
        return reply["result"].get("structuredContent", {})

    def _errands(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Some calls that belong together."""
        chance = self._chance
        file = chance.choice(sorted(self._project.rglob("*_*.py"))).relative_to(self._project).as_posix()
        word = chance.choice(("ledger", "route", "account", "window", "signal"))
        entity = {"entityType": "Requirement", "id": "REQ-001"}
        simple: list[tuple[str, dict[str, Any]]] = [
            ("read_file", {"path": file, "includeDeps": True}),
            ("grep_codebase", {"pattern": f"def {word}"}),
            ("code_outline", {"path": os.path.dirname(file)}),
            ("find_usages", {"name": word}),
            ("list_contexts", {}),
            ("check_freshness", {"scope": os.path.dirname(file)}),
            ("documents_sync", {}),
            ("documents_search", {"query": f"the {word} of a window"}),
            ("context_search", {"query": f"handles the {word}"}),
            ("context_record", {"type": "rule", "content": f"Rule {chance.randrange(50)} about the {word}"}),
            ("get_context", entity),
            ("export_context", {"targets": [{"entityType": "Requirement", "entityId": "REQ-001"}]}),
            ("output", {}),
        ]
        if chance.random() < 0.2:
            self._pack(file)
        yield from chance.sample(simple, 5)

    def _pack(self, file: str) -> None:
        """Write a pack, verify it, read it, and delete it."""
        text = f"# Soak\n\n## Main\n\nIt begins here: {file}:1-3.\n"
        name = {"name": self._name}
        made = self._call("input", {"action": "write", "text": text, "ttl_minutes": 60, **name})
        self._call("input", {"action": "verify", **name})
        self._call("output", name)
        revision = made["payload"]["revision"]
        self._call("input", {"action": "delete_pack", "expected_revision": revision, **name})


def disturb(project: Path, folders: list[Path], stop: threading.Event) -> None:
    """Edit, add and remove files, so that there is always about as much."""
    chance = random.Random(7)
    for number in itertools.count():
        edited, added = chance.choice(folders), chance.choice(folders)
        text = f"# Edit {number}\n\nThe route of a window, again.\n" * 20
        (edited / "page.md").write_text(text)
        (added / f"added_{number % 50}.py").write_text(f"def added_{number}():\n    return {number}\n")
        for old in project.rglob(f"added_{(number + 25) % 50}.py"):
            old.unlink()
        if stop.wait(0.3):
            return


def planted(folder: Path) -> tuple[Path, list[Path]]:
    """A project with code, contexts, documents and a bundle; and its folders."""
    project = folder / "project"
    plant(project, FILES)
    made = [each for each in project.glob("part*") if each.is_dir()]
    for each in made:
        (each / "page.md").write_text("# Page\n")
    subprocess.run([*OURS, "contexts", "refresh"], cwd=project, env=ENV, check=True, capture_output=True)
    (project / "context.json").write_text('{"collections": {"all": {"url": "."}}}')
    shutil.copytree(ROOT / "tests/fixtures/bundles/sample", project / "sample")
    return project, made


def sample(agents: list[Agent]) -> Sample:
    """What all servers have now, with their children."""
    totals = Counter[str]()
    for agent in agents:
        family = [agent.server.process.pid, *children(agent.server.process.pid)]
        totals["children"] += len(family) - 1
        for process in family:
            try:
                totals["memory"] += int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE
                totals["descriptors"] += len(os.listdir(f"/proc/{process}/fd"))
                totals["threads"] += len(os.listdir(f"/proc/{process}/task"))
            except OSError:  # it ended meanwhile
                continue
    return Sample(*(totals[name] for name in Sample._fields))


def children(process: int) -> Iterator[int]:
    """All processes below one."""
    try:
        tasks = list(Path(f"/proc/{process}/task").iterdir())
        found = " ".join((task / "children").read_text() for task in tasks).split()
    except OSError:
        return
    for child in map(int, found):
        yield child
        yield from children(child)


def told(agents: list[Agent], minute: float, samples: list[Sample]) -> str:
    """One line: the medians of what was sampled since the last one."""
    middle = Sample(*(int(statistics.median(each)) for each in zip(*samples, strict=True)))
    counts = f"{middle.descriptors} descriptors, {middle.threads} threads, {middle.children} children"
    calls = sum(agent.calls.total() for agent in agents)
    return f"minute {minute:.1f}: {middle.memory / 1e6:.1f} MB, {counts}, {calls} calls"


def judged(samples: list[Sample]) -> bool:
    """Print the last third against the middle third; whether everything is level."""
    third = len(samples) // 3
    level = True
    for number, (name, most) in enumerate(GROWTH.items()):
        middle = statistics.mean(each[number] for each in samples[third : 2 * third])
        last = statistics.mean(each[number] for each in samples[2 * third :])
        ratio = last / middle if middle else 1.0
        level &= ratio <= most
        print(f"{name:12} last third / middle third {ratio:5.3f}   {'level' if ratio <= most else 'GROWS'}")
    return level


def main() -> int:
    """Work, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--quick", action="store_true", help="some seconds, and no judgement")
    options = parser.parse_args()
    seconds = 4.0 if options.quick else options.minutes * 60
    every = seconds / 2 if options.quick else 60.0
    stop = threading.Event()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        project, folders = planted(Path(folder))
        agents = [Agent(project, number, stop) for number in range(CLIENTS)]
        workers = [*agents, threading.Thread(target=disturb, args=(project, folders, stop), daemon=True)]
        for worker in workers:
            worker.start()
        samples: list[Sample] = []
        begun, since = time.monotonic(), 0
        while (spent := time.monotonic() - begun) < seconds and not any(agent.failure for agent in agents):
            time.sleep(min(1.0, every / 2))
            samples.append(sample(agents))
            if time.monotonic() - begun >= every * (spent // every + 1):
                print(told(agents, (time.monotonic() - begun) / 60, samples[since:]), flush=True)
                since = len(samples)
        stop.set()
        for worker in workers:
            worker.join()
        for agent in agents:
            agent.server.close()
        return result(agents, samples, options.quick)


def result(agents: list[Agent], samples: list[Sample], quick: bool) -> int:
    """Print the calls and the verdict; the exit code."""
    calls = sum((agent.calls for agent in agents), Counter[tuple[str, bool]]())
    for words, which in (("calls", False), ("refused", True)):
        print(
            f"{words}:", ", ".join(f"{tool} {calls[tool, no]}" for tool, no in sorted(calls) if no is which)
        )
    failures = [agent.failure for agent in agents if agent.failure]
    if failures:
        print("failed:", *failures)
    return 1 if failures or (not quick and not judged(samples)) else 0


if __name__ == "__main__":
    sys.exit(main())
