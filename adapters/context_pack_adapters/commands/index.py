"""Index the project's code for context_search now, in the foreground.

The server does this by itself, in the background, when it is first asked; here it can be watched. Only what
has changed since the last time is read. Interrupt it at any time: the next run goes on from there.

Examples:
  context-pack index
  context-pack index --dry-run                 what would be indexed, what is skipped, and why
  context-pack index --json
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from typing import TYPE_CHECKING, Any

from context_pack_adapters.commands.shell import Shell

if TYPE_CHECKING:
    from context_pack.memory.ports import MemoryPorts
    from context_pack.memory.usecases.refresh import CodePlan
    from context_pack.retrieval.model import Progress

WIDTH = 30


def configure(parser: ArgumentParser) -> None:
    """How much to do."""
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def run(options: Namespace, shell: Shell) -> int:
    """Index what has changed, or say what would be."""
    import time

    from context_pack.memory.usecases.refresh import CodeIndexer
    from context_pack.retrieval.ports import EmbedderFailed
    from context_pack_adapters.bootstrap import open_ports
    from context_pack_adapters.memory_ports import INDEX
    from context_pack_adapters.search_ports import derived_folder

    memory = open_ports(shell.settings).memory
    assert memory is not None
    start = time.monotonic()
    indexer = CodeIndexer(memory.tree, memory.index)
    if options.dry_run:
        # Looking into an index makes one where there is none.
        fresh = not (derived_folder(shell.settings) / INDEX).exists()
        _show_plan(_looked_into(indexer.plan({} if fresh else None), memory), options, shell)
        return 0
    plan = indexer.plan()
    bar = Bar("indexing")
    done = indexer.carry_out(plan, report=bar.show)
    try:
        semantic, trouble = _embed(memory, bar), None
    except EmbedderFailed as failed:
        semantic, trouble = None, str(failed)
    bar.end()
    outcome: dict[str, Any] = {
        "files": done.total,
        "indexed": len(plan.changed),
        "removed": len(plan.gone),
        "skipped": len(plan.skipped),
        "seconds": round(time.monotonic() - start, 3),
    }
    if semantic is not None:
        outcome["semantic"] = {"done": semantic.done, "total": semantic.total}
    for warning in filter(None, (trouble, memory.warning)):
        outcome["warning"] = warning
        shell.terminal.complain(warning)
    for notice in memory.index.notices():
        shell.terminal.note(notice)
    if options.json:
        shell.terminal.json(outcome)
    else:
        shell.terminal.line(
            f"{done.total} files: {len(plan.changed)} indexed, {len(plan.gone)} removed, "
            f"{len(plan.skipped)} skipped, in {outcome['seconds']:.1f} s"
        )
    return 1 if trouble else 0


def _embed(memory: MemoryPorts, bar: Bar) -> Progress | None:
    """Give every snippet its vector of the semantic embedder, if there is one."""
    from context_pack.memory.domain.entries import CORPORA
    from context_pack.retrieval.model import Scope

    if memory.searching.semantic is None:
        return None
    bar.what = "embedding"
    return memory.searching.fill(Scope(CORPORA), lambda: False, bar.show)


def _looked_into(plan: CodePlan, memory: MemoryPorts) -> CodePlan:
    """The plan with what only a look into the files tells: which of them hold no text to index."""
    from attrs import evolve

    reasons = {path: memory.tree.read(path).skipped for path in plan.changed}
    more = {path: reason for path, reason in reasons.items() if reason is not None}
    changed = tuple(path for path in plan.changed if path not in more)
    return evolve(plan, changed=changed, skipped=dict(sorted({**plan.skipped, **more}.items())))


def _show_plan(plan: CodePlan, options: Namespace, shell: Shell) -> None:
    if options.json:
        shell.terminal.json(
            {
                "dryRun": True,
                "files": plan.total,
                "bytes": plan.bytes,
                "index": list(plan.changed),
                "remove": list(plan.gone),
                "skip": [{"path": path, "reason": reason} for path, reason in plan.skipped.items()],
            }
        )
        return
    for path in plan.changed:
        shell.terminal.line(f"index   {path}")
    for path in plan.gone:
        shell.terminal.line(f"remove  {path}")
    for path, reason in plan.skipped.items():
        shell.terminal.line(f"skip    {path}: {reason}")
    reasons = ", ".join(f"{count} {reason}" for reason, count in Counter(plan.skipped.values()).items())
    shell.terminal.note(
        f"{len(plan.changed)} of {plan.total} files to index ({plan.bytes} bytes), {len(plan.gone)} to "
        f"remove, {len(plan.skipped)} skipped{f' ({reasons})' if reasons else ''}"
    )


class Bar:
    """A progress bar on stderr, where that is a terminal."""

    def __init__(self, what: str) -> None:
        self.what = what
        self._live = sys.stderr is not None and sys.stderr.isatty()
        self._shown = ""

    def show(self, progress: Progress) -> None:
        """Draw how far it is."""
        if not self._live or not progress.total:
            return
        filled = WIDTH * progress.done // progress.total
        bar = "█" * filled + "░" * (WIDTH - filled)
        line = f"\r{self.what} {bar} {progress.done}/{progress.total}"
        if line != self._shown:
            sys.stderr.write(line + " " * max(0, len(self._shown) - len(line)))
            sys.stderr.flush()
            self._shown = line

    def end(self) -> None:
        """Clear it."""
        if self._shown:
            sys.stderr.write("\r" + " " * len(self._shown) + "\r")
            sys.stderr.flush()
