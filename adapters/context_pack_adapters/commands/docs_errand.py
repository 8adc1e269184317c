"""What a server's worker does for documents: index what is on this disk, then embed the rest; never fetch."""

from __future__ import annotations

from collections.abc import Callable

from context_pack_adapters.settings import Settings

DONE, FAILED = 0, 1


def run(settings: Settings, stop: Callable[[], bool]) -> int:
    """Do the work until it is done or `stop` says so; 1 tells the starter not to try again at once."""
    from context_pack.retrieval.model import Scope
    from context_pack.retrieval.ports import EmbedderFailed
    from context_pack_adapters.bootstrap import open_ports
    from context_pack_adapters.workspace.documents import Documents

    documents = Documents(open_ports(settings))
    shelf = documents.shelf
    for collection in shelf.chosen(()):
        if stop():
            return DONE
        shelf.syncing.sync(collection, fetch=False, stop=stop)
        shelf.currency.forget(collection)
    corpora = tuple(collection.id for collection in shelf.chosen(()))
    if not corpora:
        return DONE
    try:
        if shelf.ports.semantic is not None:
            documents.finder.fill(Scope(corpora=corpora), stop)
    except EmbedderFailed:
        return FAILED
    shelf.ports.index.tend(stop)
    return DONE
