"""What a person may mean who has typed the beginning of a pack's id or name; lists always answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from context_pack.kernel.errors import Failure
from context_pack.packs.domain.listing import Filter, chosen
from context_pack.packs.domain.model import Pack
from context_pack.packs.ports import PackStore


def live_packs(store: PackStore) -> Sequence[Pack]:
    """Every live pack, the last changed first; none when the store cannot say."""
    try:
        packs = store.all()
    except Failure:
        return ()
    return chosen(packs, Filter(limit=max(1, len(packs)))).items


def handles(store: PackStore, typed: str) -> Iterator[str]:
    """Ids, then names, that begin with what was typed; then names that hold it."""
    packs = live_packs(store)
    yield from (pack.id for pack in packs if pack.id.startswith(typed))
    yield from _best_first([pack.name for pack in packs if pack.name is not None], typed)


def names(store: PackStore, typed: str) -> Iterator[str]:
    """What packs are called, the id standing for one without a name; the best match first."""
    return _best_first([pack.name or pack.id for pack in live_packs(store)], typed)


def _best_first(called: Sequence[str], typed: str) -> Iterator[str]:
    """Those that begin with what was typed, then those that hold it; case does not matter."""
    start = typed.casefold()
    yield from (name for name in called if name.casefold().startswith(start))
    yield from (name for name in called if start in name.casefold() and not name.casefold().startswith(start))
