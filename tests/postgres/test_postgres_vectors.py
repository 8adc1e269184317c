"""A text is embedded once for the whole team."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from postgres_server import Server

from context_pack.cases import compose
from context_pack.retrieval.ports import Kind
from context_pack_adapters.commands.task import TASKS
from context_pack_adapters.disk_ports import DiskPorts
from context_pack_adapters.embed import Embedders, HashedEmbedder
from context_pack_adapters.postgres.connection import Address, Database
from context_pack_adapters.postgres.vectors import SharedVectors
from context_pack_adapters.settings import read_settings

TEXTS = ["one text", "another text", "one text", "größe \ud800 \0", ""]


class Counting(HashedEmbedder):
    """Remembers what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.id = "counting/1"
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], kind: Kind) -> Any:
        """The vectors, noted."""
        self.asked += texts
        return super().embed(texts, kind)


@pytest.mark.clause("TM-12")
def test_a_text_embedded_by_one_member_is_not_embedded_by_another(
    new_database: Callable[[], Database],
) -> None:
    database = new_database()
    first, second = Counting(), Counting()
    made = np.asarray(SharedVectors(first, database).embed(TEXTS, "document"))
    assert sorted(first.asked) == sorted(set(TEXTS))
    shared = SharedVectors(second, database)
    assert np.array_equal(np.asarray(shared.embed(TEXTS, "document")), made)
    assert second.asked == []
    shared.embed(["one text", "a new text"], "document")
    assert second.asked == ["a new text"]
    shared.embed(["a question"], "query")
    SharedVectors(third := Counting(), database).embed(["a question"], "query")
    assert third.asked == ["a question"]


@pytest.mark.clause("TM-12")
def test_a_second_clone_of_a_project_embeds_nothing(
    new_database: Callable[[], Database], tmp_path: Path
) -> None:
    database, embedders = new_database(), (Counting(), Counting())
    for name, embedder in zip(("ada", "ben"), embedders, strict=True):
        folder = tmp_path / name
        folder.mkdir()
        for number in range(5):
            (folder / f"part{number}.py").write_text(f"def part{number}():\n    return 'badger {number}'\n")
        settings = read_settings({"CONTEXT_PACK_CACHE": str(folder / "cache")}, str(folder))
        ports = DiskPorts(settings)
        fast = HashedEmbedder()
        vars(ports)["embedders"] = Embedders(fast, SharedVectors(embedder, database), None)
        assert TASKS["memory"](compose(ports), lambda: False) == 0
    first, second = embedders
    assert len(first.asked) >= 5
    assert second.asked == []


@pytest.mark.clause("TM-12")
def test_a_malformed_vector_row_is_embedded_again(
    postgres: Server, new_database: Callable[[], Database]
) -> None:
    database = new_database()
    SharedVectors(Counting(), database).embed(["one", "two"], "document")
    with psycopg.connect(postgres.url) as admin:
        admin.execute(
            "UPDATE context_pack.cp_vectors SET vector = 'abc' WHERE project = %s", [database.project]
        )
    again = Counting()
    SharedVectors(again, database).embed(["one", "two"], "document")
    assert again.asked == ["one", "two"]
    last = Counting()
    SharedVectors(last, database).embed(["one", "two"], "document")
    assert last.asked == []


@pytest.mark.clause("TM-12")
def test_without_the_database_everything_is_embedded_here() -> None:
    embedder = Counting()
    shared = SharedVectors(embedder, nowhere())
    assert np.array_equal(
        np.asarray(shared.embed(["one", "two"], "document")),
        np.asarray(HashedEmbedder().embed(["one", "two"], "document")),
    )
    assert embedder.asked == ["one", "two"]


def nowhere() -> Database:
    """A database that no server has."""
    return Database(Address("postgresql://ada@127.0.0.1:1/team"), lambda: "example.org/shop")
