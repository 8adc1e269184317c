"""The command `index`: index the code for searches now, in the foreground."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from context_pack.kernel.text import counted
from context_pack.memory.entries import CODE, FAILED, NOTES, SKIPPED
from context_pack.memory.refresh import CodeIndexer
from context_pack.retrieval.model import Scope
from context_pack.retrieval.ports import EmbedderFailed
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command, flag


@command("index", walks=True)
@flag("--dry-run", "Only say what would be done, and what is skipped for which reason.")
def index(app: App, dry_run: bool) -> int:
    """Index the project's code for searches now, in the foreground.

    The server does this by itself, in the background, when it is first asked; here it can be watched. Only
    what has changed since the last time is read. Interrupt it at any time: the next run goes on from there.

    Examples:
      context-pack index
      context-pack index --dry-run                 what would be indexed, what is skipped, and why
    """
    start = time.monotonic()
    memory = app.cases.memory.ports
    indexer = CodeIndexer.over(memory)
    before, facts = memory.index.known(CODE), memory.index.facts(CODE)
    # What failed is tried again, and what turned out to be no text to index is skipped, now and later.
    plan = indexer.plan({path: each for path, each in before.items() if not facts.get(path, {}).get(FAILED)})
    left_out = {**plan.skipped, **memory.tree.left_out()}
    gone = [path for path in plan.gone if SKIPPED not in facts.get(path, {})]
    if dry_run:
        found = {path: memory.tree.read(path).skipped for path in plan.changed}
        kept = {path: str(facts[path][SKIPPED]) for path in before if SKIPPED in facts.get(path, {})}
        kept = {path: why for path, why in kept.items() if path not in plan.changed and path not in plan.gone}
        skipped = {**left_out, **kept, **{path: why for path, why in found.items() if why is not None}}
        todo = [path for path, why in found.items() if why is None]
        _show_plan(app, todo, gone, dict(sorted(skipped.items())))
        return 0
    trouble, semantic = None, None
    with output.progress("indexing") as report:
        indexer.carry_out(plan, report=lambda now: report(now.done, now.total))
        try:
            if memory.searching.semantic is not None:
                semantic = memory.searching.fill(
                    Scope(NOTES), lambda: False, lambda now: report(now.done, now.total, "embedding")
                )
        except EmbedderFailed as failed:
            trouble = str(failed)
    after, facts = memory.index.known(CODE), memory.index.facts(CODE)
    held = {path: str(each[SKIPPED]) for path, each in facts.items() if SKIPPED in each}
    changed = [path for path in plan.changed if path in after and path not in held]
    new = [path for path in changed if path not in before or before[path].digest != after[path].digest]
    body: dict[str, Any] = {
        "files": len(after) - len(held),
        "indexed": len(new),
        "removed": len(gone),
        "skipped": len(left_out | held),
        "reasons": _reasons(left_out | held),
        "failed": _named(indexer.failed()),
        "seconds": round(time.monotonic() - start, 3),
    }
    if semantic is not None:
        body["semantic"] = {"done": semantic.done, "total": semantic.total}
    for warning in filter(None, (trouble, memory.warning)):
        body["warning"] = warning
        output.complain(warning)
    for each in body["failed"]:
        output.complain(f"{each['path']}: {each['reason']}")
    for notice in memory.index.notices():
        output.note(notice)
    embedded = f"{semantic.done} of {semantic.total} pieces embedded, " if semantic is not None else ""
    counts = f"{len(new)} indexed, {len(gone)} removed, {body['skipped']} skipped"
    app.tell(body, f"{counted(body['files'], 'file')}: {counts}, {embedded}in {body['seconds']:.1f} s")
    return 1 if trouble else 0


def _show_plan(app: App, changed: list[str], gone: list[str], skipped: Mapping[str, str]) -> None:
    body: dict[str, Any] = {"dryRun": True, "index": changed, "remove": gone, "skip": _named(skipped)}
    body |= {"skipped": len(skipped), "reasons": _reasons(skipped)}
    lines = [f"index   {path}" for path in changed] + [f"remove  {path}" for path in gone]
    app.tell(body, *lines, *(f"skip    {path}: {reason}" for path, reason in skipped.items()))
    if not app.json:
        reasons = ", ".join(f"{count} {reason}" for reason, count in body["reasons"].items())
        output.note(f"{counted(len(changed), 'file')} to index, {len(gone)} to remove; skipped: {reasons}")


def _reasons(files: Mapping[str, str]) -> dict[str, int]:
    """How many there are of each reason, the most frequent first."""
    return dict(Counter(files.values()).most_common())


def _named(files: Mapping[str, str]) -> list[dict[str, str]]:
    """Files with their reasons."""
    return [{"path": path, "reason": reason} for path, reason in files.items()]
