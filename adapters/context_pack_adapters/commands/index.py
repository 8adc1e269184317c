"""Index the project's code for context_search now, in the foreground.

The server does this by itself, in the background, when it is first asked; here it can be watched. Only what
has changed since the last time is read. Interrupt it at any time: the next run goes on from there.

Examples:
  context-pack index
  context-pack index --dry-run                 what would be indexed, what is skipped, and why
  context-pack index --json
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from context_pack_adapters.commands.shell import Shell
from context_pack_adapters.commands.terminal import counted

if TYPE_CHECKING:
    from context_pack.memory.ports import MemoryPorts
    from context_pack.retrieval.model import Progress
    from context_pack_adapters.commands.index_tally import Tally
    from context_pack_adapters.commands.meter import Bar


def configure(parser: ArgumentParser) -> None:
    """How much to do."""
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def run(options: Namespace, shell: Shell) -> int:
    """Index what has changed, or say what would be."""
    import time

    from context_pack.memory.usecases.indexing import CodeIndexer
    from context_pack.retrieval.ports import EmbedderFailed
    from context_pack_adapters.bootstrap import open_ports
    from context_pack_adapters.commands.index_tally import IndexState, achieved, expected, named
    from context_pack_adapters.commands.meter import Bar
    from context_pack_adapters.memory_ports import INDEX
    from context_pack_adapters.private_places import open_places

    memory = open_ports(shell.settings).memory
    assert memory is not None
    start = time.monotonic()
    indexer = CodeIndexer.over(memory)
    # Looking into an index makes one where there is none.
    fresh = options.dry_run and INDEX not in open_places(shell.settings).cache.names()
    before = IndexState() if fresh else IndexState.of(memory.index)
    plan = indexer.plan(before.retrying)
    if options.dry_run:
        _show_plan(expected(plan, before, memory.tree), options, shell)
        return 0
    with Bar("indexing") as bar:
        indexer.carry_out(plan, report=bar.show)
        try:
            semantic, trouble = _embed(memory, bar), None
        except EmbedderFailed as failed:
            semantic, trouble = None, str(failed)
    tally = achieved(plan, before, IndexState.of(memory.index), memory.tree)
    outcome: dict[str, Any] = {
        "files": tally.files,
        "indexed": len(tally.index),
        "removed": len(tally.remove),
        "skipped": len(tally.skipped),
        "reasons": tally.reasons,
        "plain": len(tally.plain),
        "plainReasons": tally.plain_reasons,
        "plainFiles": named(tally.plain),
        "failed": named(tally.failed),
        "seconds": round(time.monotonic() - start, 3),
    }
    if semantic is not None:
        outcome["semantic"] = {"done": semantic.done, "total": semantic.total}
    for warning in filter(None, (trouble, memory.warning)):
        outcome["warning"] = warning
        shell.terminal.complain(warning)
    for each in outcome["failed"]:
        shell.terminal.complain(f"{each['path']}: {each['reason']}")
    for notice in memory.index.notices():
        shell.terminal.note(notice)
    if options.json:
        shell.terminal.json(outcome)
    else:
        shell.terminal.line(
            f"{counted(tally.files, 'file')}: {len(tally.index)} indexed, {len(tally.remove)} removed, "
            f"{tally.told}, in {outcome['seconds']:.1f} s"
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


def _show_plan(tally: Tally, options: Namespace, shell: Shell) -> None:
    from context_pack_adapters.commands.index_tally import named

    if options.json:
        shell.terminal.json(
            {
                "dryRun": True,
                "files": tally.files,
                "bytes": tally.bytes,
                "index": list(tally.index),
                "remove": list(tally.remove),
                "skip": named(tally.skipped),
                "skipped": len(tally.skipped),
                "reasons": tally.reasons,
            }
        )
        return
    for path in tally.index:
        shell.terminal.line(f"index   {path}")
    for path in tally.remove:
        shell.terminal.line(f"remove  {path}")
    skipped = named(tally.skipped)
    for each in skipped:
        shell.terminal.line(f"skip    {each['path']}: {each['reason']}")
    unnamed = len(tally.skipped) - len(skipped)
    if unnamed:
        shell.terminal.line(f"skip    and {unnamed} more")
    shell.terminal.note(
        f"{len(tally.index)} of {tally.files} files to index ({tally.bytes} bytes), {len(tally.remove)} to "
        f"remove, {tally.told}"
    )
