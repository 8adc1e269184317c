"""What the background does for memory: index the code that changed, then embed what lacks a better vector.

Everything it does is remembered by the index alone, so that it can be killed at any moment and goes on with
the next run.
"""

from __future__ import annotations

from collections.abc import Callable

from context_pack_adapters.settings import Settings

MOST_ROUNDS = 5
"""A tree may change while it is indexed; one that always does must not keep the errand for ever."""


def run(settings: Settings, stop: Callable[[], bool]) -> int:
    """Index and embed until there is nothing to do, or until `stop` says so."""
    from context_pack.memory.domain.entries import CORPORA
    from context_pack.memory.usecases.indexing import CodeIndexer
    from context_pack.retrieval.model import Scope
    from context_pack.retrieval.ports import EmbedderFailed
    from context_pack_adapters.bootstrap import open_ports

    memory = open_ports(settings).memory
    assert memory is not None
    indexer = CodeIndexer.over(memory)
    for _ in range(MOST_ROUNDS):
        plan = indexer.plan()
        if stop() or not (plan.changed or plan.gone):
            break
        indexer.carry_out(plan, stop)
    try:
        if not stop():
            memory.searching.fill(Scope(CORPORA), stop, lambda _: None)
        memory.index.tend(stop)
    except EmbedderFailed:
        return 1  # whoever searches is told why; it is tried again later
    return 0
