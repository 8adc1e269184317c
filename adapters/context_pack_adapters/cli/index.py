"""The command `index`: index the code for `context_search` now, and count what became of each file.

A file that turns out to hold no text to index is kept in the index without pieces, so that it is not read
again before it changes. To people it is a skipped one, today and in every later run; here the two meet.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections import Counter
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from context_pack.kernel.text import counted
from context_pack.memory.entries import CODE, FAILED, NOTES, PLAIN, SKIPPED
from context_pack.memory.ports import CodeTree, MemoryPorts
from context_pack.memory.refresh import CodeIndexer
from context_pack.retrieval.model import KnownEntry, Progress, Scope
from context_pack.retrieval.ports import EmbedderFailed, SearchIndex
from context_pack.retrieval.upkeep import IndexPlan
from context_pack_adapters.cli.arguments import command, flag
from context_pack_adapters.cli.meter import Bar
from context_pack_adapters.cli.shell import Shell
from context_pack_adapters.private_places import open_places

MOST_NAMED = 100
"""How many paths are named for one reason; the counts are always whole."""


@command(flag("--dry-run", "only say what would be done"), flag("--json", "print the outcome as JSON"))
def index(options: Namespace, shell: Shell) -> int:
    """Index the project's code for context_search now, in the foreground.

    The server does this by itself, in the background, when it is first asked; here it can be watched. Only
    what has changed since the last time is read. Interrupt it at any time: the next run goes on from there.

    Examples:
      context-pack index
      context-pack index --dry-run                 what would be indexed, what is skipped, and why
      context-pack index --json
    """
    from context_pack_adapters.private_places import MEMORY_INDEX

    start = time.monotonic()
    memory = shell.cases().memory.ports
    indexer = CodeIndexer.over(memory)
    # Looking into an index makes one where there is none.
    fresh = options.dry_run and MEMORY_INDEX not in open_places(shell.settings).cache.names()
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
    embedded = f"{semantic.done} of {semantic.total} pieces embedded, " if semantic is not None else ""
    shell.tell(
        options,
        outcome,
        f"{counted(tally.files, 'file')}: {len(tally.index)} indexed, {len(tally.remove)} removed, "
        f"{tally.in_words}, {embedded}in {outcome['seconds']:.1f} s",
    )
    return 1 if trouble else 0


def _embed(memory: MemoryPorts, bar: Bar) -> Progress | None:
    """Give every snippet its vector of the semantic embedder, if there is one."""
    if memory.searching.semantic is None:
        return None
    bar.what = "embedding"
    return memory.searching.fill(Scope(NOTES), lambda: False, bar.show)


def _show_plan(tally: Tally, options: Namespace, shell: Shell) -> None:
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
        f"remove, {tally.in_words}"
    )


@frozen
class IndexState:
    """The indexed code: states of files, and facts of those that have some."""

    known: Mapping[str, KnownEntry] = field(factory=dict)
    facts: Mapping[str, Mapping[str, Any]] = field(factory=dict)

    @classmethod
    def of(cls, index: SearchIndex) -> IndexState:
        """The state of an index now."""
        return cls(index.known(CODE), index.facts(CODE))

    @property
    def retrying(self) -> dict[str, KnownEntry]:
        """The states without those of failed files, so that the command tries these again."""
        return {path: each for path, each in self.known.items() if not self.facts.get(path, {}).get(FAILED)}

    def with_fact(self, fact: str) -> dict[str, str]:
        """The files with a fact (`plain`, `skipped`) and its reason."""
        return {path: str(facts[fact]) for path, facts in self.facts.items() if fact in facts}


@frozen
class Tally:
    """Files by outcome, actual or expected; `files` counts those in the index afterwards."""

    files: int
    index: tuple[str, ...]
    remove: tuple[str, ...]
    skipped: Mapping[str, str]
    plain: Mapping[str, str] = field(factory=dict)
    failed: Mapping[str, str] = field(factory=dict)
    bytes: int = 0

    @property
    def reasons(self) -> dict[str, int]:
        """How many are skipped, by reason, the most frequent first."""
        return _counted(self.skipped)

    @property
    def plain_reasons(self) -> dict[str, int]:
        """How many were cut without being parsed, by reason, the most frequent first."""
        return _counted(self.plain)

    @property
    def in_words(self) -> str:
        """The skipped ones and the plain ones in words."""
        skipped = ", ".join(f"{count} {reason}" for reason, count in self.reasons.items())
        plain = ", ".join(f"{reason}: {count}" for reason, count in self.plain_reasons.items())
        return f"{len(self.skipped)} skipped{f' ({skipped})' if skipped else ''}" + (
            f", {len(self.plain)} as plain lines ({plain})" if plain else ""
        )


def named(files: Mapping[str, str]) -> list[dict[str, str]]:
    """Files with their reasons, a bounded number of each."""
    seen: Counter[str] = Counter()
    found = []
    for path, reason in files.items():
        seen[reason] += 1
        if seen[reason] <= MOST_NAMED:
            found.append({"path": path, "reason": reason})
    return found


def _counted(files: Mapping[str, str]) -> dict[str, int]:
    return dict(Counter(files.values()).most_common())


def expected(plan: IndexPlan, before: IndexState, tree: CodeTree) -> Tally:
    """The expected outcome of a plan; reads the files that it would index."""
    skipped = before.with_fact(SKIPPED)
    held = {path: why for path, why in skipped.items() if path not in plan.changed and path not in plan.gone}
    reasons = {path: tree.read(path).skipped for path in plan.changed}
    found = {path: why for path, why in reasons.items() if why is not None}
    index = tuple(path for path in plan.changed if path not in found)
    return Tally(
        plan.progress.total - len(held) - len(found),
        index,
        tuple(path for path in plan.gone if path not in skipped),
        _all_skipped(plan, {**held, **found}, tree),
        bytes=sum(plan.changed[path].size for path in index),
    )


def achieved(plan: IndexPlan, before: IndexState, after: IndexState, tree: CodeTree) -> Tally:
    """The outcome of a plan; a file that was read and found unchanged does not count as indexed."""
    held, held_before = after.with_fact(SKIPPED), before.with_fact(SKIPPED)
    index = tuple(
        path
        for path in plan.changed
        if path in after.known
        and path not in held
        and (path not in before.known or before.known[path].digest != after.known[path].digest)
    )
    plain = after.with_fact(PLAIN)
    return Tally(
        len(after.known) - len(held),
        index,
        tuple(path for path in plan.gone if path not in held_before),
        _all_skipped(plan, held, tree),
        plain,
        {path: why for path, why in {**plain, **held}.items() if after.facts[path].get(FAILED)},
    )


def _all_skipped(plan: IndexPlan, more: Mapping[str, str], tree: CodeTree) -> dict[str, str]:
    return dict(sorted({**plan.skipped, **more, **tree.left_out()}.items()))
