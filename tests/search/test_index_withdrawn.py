"""Calls that nobody waits for any more: nothing computes without end, and the file stays as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hanging import never_hanging
from index_entries import ToyEmbedder, make_entry

from context_pack.toolkit.call import CHECK, Cancelled
from context_pack_adapters.index.database import IndexFile, connect
from context_pack_adapters.index.sqlite_index import SqliteIndex

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n"


class Withdrawn:
    """A call that somebody withdraws after it was looked at a few times."""

    def __init__(self, looks: int) -> None:
        self.left = looks

    def __call__(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Cancelled("withdrawn")


@contextmanager
def withdrawn_after(looks: int) -> Iterator[None]:
    """Serve such a call in this thread."""
    begun = CHECK.set(Withdrawn(looks))
    try:
        yield
    finally:
        CHECK.reset(begun)


@pytest.mark.clause("IX-06")
def test_a_cancelled_call_stops_an_endless_query_and_keeps_the_file(tmp_path: Path) -> None:
    with closing(IndexFile(tmp_path / "derived" / "things.sqlite3", "test", 5.0)) as file:
        insert = "INSERT INTO corpora VALUES (x'00', '{}')"
        file.write(lambda connection: connection.execute(insert))
        with never_hanging(), withdrawn_after(20), pytest.raises(Cancelled):
            file.read(lambda connection: connection.execute(ENDLESS).fetchall())
        with never_hanging(), withdrawn_after(20), pytest.raises(Cancelled):
            file.write(lambda connection: connection.execute(f"DELETE FROM corpora WHERE ({ENDLESS})"))
        count = "SELECT COUNT(*) FROM corpora"
        assert file.read(lambda connection: connection.execute(count).fetchone()) == (1,)
        assert file.notices() == []


@pytest.mark.clause("IX-06")
def test_a_cancelled_call_stops_waiting_for_the_index_lock(tmp_path: Path) -> None:
    path = tmp_path / "derived" / "things.sqlite3"
    with closing(SqliteIndex(path, ToyEmbedder(), chunker="test/1", timeout=3600)) as index, never_hanging():
        index.replace([make_entry("fruit", "apples are red")])
        with closing(connect(str(path))) as other:
            other.execute("BEGIN IMMEDIATE")
            with withdrawn_after(3), pytest.raises(Cancelled):
                index.note("docs", {"noted": True})
            other.execute("ROLLBACK")
        index.note("docs", {"noted": True})
        with index.reading() as snapshot:
            assert snapshot.corpus_facts("docs") == {"noted": True}
