"""What every `PackHistory` keeps beside its store: one suite, run on files and on Postgres."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import attrs
import pytest
from inmemory import FixedClock, SeededIds
from sample_packs import maker

from context_pack.packs.model import Pack
from context_pack.packs.ports import KEPT_REVISIONS, PackHistory, PackStore
from context_pack_adapters.files.folder import PrivateFolder
from context_pack_adapters.packs.history import FilePackHistory
from context_pack_adapters.packs.store import FilePackStore

CLOCK = FixedClock()


class Kept(NamedTuple):
    """A store, and the history that it keeps."""

    store: PackStore
    history: PackHistory


@pytest.fixture(params=["disk", "postgres"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Kept:
    store: PackStore
    history: PackHistory
    if request.param == "disk":
        history = files = FilePackHistory(PrivateFolder(str(tmp_path / "history")))
        store = FilePackStore(tmp_path / "root", CLOCK, SeededIds(), history=files)
    else:
        database = request.getfixturevalue("new_database")()
        from context_pack_adapters.postgres.packs import PostgresPackHistory, PostgresPackStore

        store = PostgresPackStore(database, SeededIds(), clock=CLOCK)
        history = PostgresPackHistory(database)
    return Kept(store, history)


def raised(pack: Pack) -> Pack:
    """A change that counts."""
    return attrs.evolve(pack, revision=pack.revision + 1, title=f"T{pack.revision + 1}")


@pytest.mark.clause("ST-66", "TM-01")
def test_the_last_revisions_are_kept_and_the_oldest_go(kept: Kept) -> None:
    pack, other = (kept.store.create(maker(CLOCK.now()), None) for _ in range(2))
    for _ in range(KEPT_REVISIONS + 2):
        last = kept.store.update(pack.id, raised)
    assert list(kept.history.revisions(pack.id)) == list(range(4, KEPT_REVISIONS + 4))
    assert kept.history.get(pack.id, 3) is None
    assert kept.history.get(pack.id, 7) == attrs.evolve(pack, revision=7, title="T7")
    assert kept.history.get(pack.id, last.revision) == last
    kept.store.delete(pack.id, lambda _: None)
    assert list(kept.history.revisions(pack.id)) == []
    assert list(kept.history.revisions(other.id)) == [1]
