"""Which pack a caller means: by id or name, or by the beginning of one that was typed.

The id wins over the name, and a name may stand in the id's place. What a person may mean is always answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.text import close, is_pack_id
from context_pack.packs.domain.listing import Filter, chosen
from context_pack.packs.domain.model import Listed, Pack
from context_pack.packs.ports import PackStore, last_expired
from context_pack.packs.usecases.commands import NamedPack
from context_pack.toolkit.offers import best_first


def handle_of(named: NamedPack) -> str:
    """The id or name that the call gives.

    Raises:
        Failure: `invalid_data` when it gives neither.
    """
    for value in (named.id, named.name):
        if value is not None:
            return value.strip()
    raise invalid("'id' or 'name' is required; list the packs to see them", "id")


def located(store: PackStore, named: NamedPack) -> Pack:
    """The live pack that the call means; what has the shape of an id is never tried as a name."""
    return _found(store, handle_of(named))


def id_of(store: PackStore, handle: str) -> str:
    """The id of that pack; an id is taken at its word, so that a change reads one file once."""
    return handle if is_pack_id(handle) else _found(store, handle).id


def _found(store: PackStore, handle: str) -> Pack:
    """The live pack with that id or name.

    Raises:
        Failure: `not_found`; it says how an expired one comes back, or which names are near.
    """
    try:
        return store.get(handle) if is_pack_id(handle) else store.find(handle)
    except Failure as failure:
        if failure.code is not Code.NOT_FOUND:
            raise
        message, details = failure.message, dict(failure.details)
    if (expired := _expired_id(store, handle)) is not None:
        message = f"that pack has expired: {message}"
        way = f"'context-pack packs restore {expired}' brings it back"
        details["hint"] = f"{way}, 'packs list --expired' shows all"
    elif not is_pack_id(handle) and (near := close(handle, names(store, ""))):
        message = f"no live pack is called {handle!r}; did you mean {' or '.join(map(repr, near))}?"
        details["near"] = near
    raise Failure(Code.NOT_FOUND, message, details)


def _expired_id(store: PackStore, handle: str) -> str | None:
    """The id of the pack with that id or name that expired last; None when the store cannot say."""
    try:
        found = last_expired(store.expired(), handle)
    except Failure:
        return None
    return None if found is None else found.id


def live_packs(store: PackStore) -> Sequence[Listed]:
    """Every live pack, the last changed first; none when the store cannot say."""
    try:
        packs = store.summaries()
    except Failure:
        return ()
    return chosen(packs, Filter(limit=max(1, len(packs)))).items


def handles(store: PackStore, typed: str) -> Iterator[str]:
    """Ids, then names, that begin with what was typed; then names that hold it."""
    packs = live_packs(store)
    yield from (pack.id for pack in packs if pack.id.startswith(typed))
    yield from best_first([pack.name for pack in packs if pack.name is not None], typed)


def names(store: PackStore, typed: str) -> Sequence[str]:
    """What packs are called, the id standing for one without a name; the best match first."""
    return best_first([pack.name or pack.id for pack in live_packs(store)], typed)
