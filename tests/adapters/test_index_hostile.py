"""An index file that somebody prepared, and calls that nobody waits for: nothing computes without end."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hanging import never_hanging
from index_entries import ToyEmbedder, make_entry

from context_pack.retrieval.model import Scope
from context_pack.toolkit.call import Cancelled
from context_pack_adapters.index.connections import connect, pieces_in
from context_pack_adapters.index.file import IndexFile
from context_pack_adapters.index.schema import IndexRecipe
from context_pack_adapters.index.sqlite_index import SqliteIndex
from context_pack_adapters.serving import CHECK

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n"
ADDED = {
    "a view": f"CREATE VIEW more AS {ENDLESS}",
    "a trigger": f"CREATE TRIGGER more AFTER INSERT ON wanted BEGIN {ENDLESS}; END",
    "a table": "CREATE TABLE more (a)",
    "an index": "CREATE INDEX more ON entries (title)",
    "a column": "ALTER TABLE wanted ADD COLUMN more INTEGER DEFAULT 1",
    "a table less": "DROP TABLE wanted",
    "vectors of nobody": "CREATE TABLE vectors_9 (seq, piece, vector)",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "derived" / "things.sqlite3"


@pytest.fixture
def index(path: Path) -> Iterator[SqliteIndex]:
    """An index with an entry in it."""
    with closing(open_index(path)) as made:
        made.replace([make_entry("fruit", "apples are red")])
        yield made


def open_index(path: Path, timeout: float = 5.0) -> SqliteIndex:
    return SqliteIndex(path, ToyEmbedder(), chunker="test/1", timeout=timeout)


def rebuilt(path: Path) -> None:
    """The file is set aside, and an empty index serves."""
    with never_hanging(), closing(open_index(path)) as index:
        assert index.known("docs") == {}
        (notice,) = index.notices()
        assert "built anew" in notice
        index.replace([make_entry("trees", "oaks are old")])
        with index.reading() as snapshot:
            assert len(snapshot.keyword(["oak"], Scope(), 5)) == 1


@pytest.mark.clause("IX-22")
@pytest.mark.parametrize("what", ADDED)
def test_a_file_with_any_other_schema_than_ours_is_set_aside(
    index: SqliteIndex, path: Path, what: str
) -> None:
    index.close()
    with closing(sqlite3.connect(path)) as other:
        other.execute(ADDED[what])
        other.commit()
    assert pieces_in(path) == 0
    rebuilt(path)


@pytest.mark.clause("IX-22")
def test_an_index_with_a_view_for_its_state_table_is_rebuilt_unread(index: SqliteIndex, path: Path) -> None:
    index.close()
    with closing(sqlite3.connect(path)) as other:
        other.execute("DROP TABLE state")
        other.execute(f"CREATE VIEW state AS {ENDLESS}")
        other.commit()
    rebuilt(path)


@pytest.mark.clause("IX-22")
def test_an_index_with_any_number_of_embedders_is_recognised(index: SqliteIndex, path: Path) -> None:
    with index.reading() as snapshot:
        (hit,) = snapshot.keyword(["appl"], Scope(), 5)
    index.keep("another", {hit[0]: [1.0, 0.0]})
    index.keep("a third", {hit[0]: [1.0, 0.0, 0.0]})
    index.renew("another", 5)
    index.close()
    assert pieces_in(path) == 1
    with closing(open_index(path)) as again:
        assert list(again.known("docs")) == ["fruit"]
        assert again.notices() == []


@pytest.mark.clause("IX-22")
@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize("what", ["pipe", "link", "folder"])
def test_a_write_ahead_log_that_is_no_regular_file_is_never_opened(
    index: SqliteIndex, path: Path, tmp_path: Path, suffix: str, what: str
) -> None:
    index.close()
    decoy = tmp_path / "decoy"
    decoy.write_bytes(b"somebody's file")
    log = path.with_name(path.name + suffix)
    log.unlink(missing_ok=True)
    {"pipe": os.mkfifo, "link": lambda log: os.symlink(decoy, log), "folder": os.mkdir}[what](log)
    assert pieces_in(path) == 0
    rebuilt(path)
    assert decoy.read_bytes() == b"somebody's file"


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


@pytest.mark.clause("IX-23")
def test_a_cancelled_call_stops_an_endless_query_and_keeps_the_file(index: SqliteIndex, path: Path) -> None:
    embedder = ToyEmbedder()
    file = IndexFile(path, IndexRecipe(embedder.id, embedder.dimension, "test/1"), 5.0)
    with never_hanging(), withdrawn_after(20), pytest.raises(Cancelled):
        file.read(lambda connection: connection.execute(ENDLESS).fetchall())
    with never_hanging(), withdrawn_after(20), pytest.raises(Cancelled):
        file.write(lambda connection: connection.execute(ENDLESS).fetchall())
    assert file.read(lambda connection: connection.execute("SELECT COUNT(*) FROM pieces").fetchone()) == (1,)
    file.write(lambda connection: connection.execute("DELETE FROM wanted"))
    assert file.notices() == []
    file.close()


@pytest.mark.clause("IX-23")
def test_a_cancelled_call_stops_waiting_for_the_index_lock(path: Path) -> None:
    with closing(open_index(path, timeout=3600)) as index, never_hanging():
        index.note("docs", {})
        with closing(connect(str(path), 5.0)) as other:
            other.execute("BEGIN IMMEDIATE")
            with withdrawn_after(3), pytest.raises(Cancelled):
                index.note("docs", {"noted": True})
            other.execute("ROLLBACK")
        index.note("docs", {"noted": True})
        with index.reading() as snapshot:
            assert snapshot.corpus_facts("docs") == {"noted": True}


@pytest.mark.clause("IX-22")
def test_index_connections_disable_trusted_schema(index: SqliteIndex, path: Path) -> None:
    with closing(connect(str(path), 5.0)) as connection:
        assert connection.execute("PRAGMA trusted_schema").fetchone() == (0,)
        assert connection.execute("PRAGMA cell_size_check").fetchone() == (1,)
