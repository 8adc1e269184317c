"""Searching more vectors of the team's index than are compared one by one: by the graph, in any scope."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from index_entries import ToyEmbedder, make_entry

from context_pack.retrieval.model import Scope
from context_pack_adapters.postgres.connection import Database
from context_pack_adapters.postgres.piece_index import PostgresIndex
from context_pack_adapters.postgres.piece_rows import NEAR
from context_pack_adapters.postgres.piece_snapshot import NARROW

TOGETHER = 10
"""So many pieces has an entry; one entry in so many is in the narrow corpus."""


@pytest.mark.clause("TM-14")
def test_newly_written_pieces_are_found_by_vector_in_any_scope(
    new_database: Callable[[], Database],
) -> None:
    embedder = ToyEmbedder(min(NEAR))
    index = PostgresIndex(new_database(), embedder)
    texts = [f"word{number} other{number % 7} last{number % 90}" for number in range(NARROW + TOGETHER)]
    narrow = [text for at, text in enumerate(texts) if at // TOGETHER % TOGETHER == 0]
    index.replace(
        make_entry(f"{at:05}", *texts[at : at + TOGETHER], corpus="narrow" if texts[at] in narrow else "wide")
        for at in range(0, len(texts), TOGETHER)
    )
    with index.reading() as snapshot:
        for asked in (texts[0], texts[555], texts[-1]):
            vector = embedder.one(f"00000 > part 1 {asked}")
            everywhere = snapshot.nearest(embedder.id, vector, Scope(), 10)
            assert asked in [one.text for one in snapshot.found([piece for piece, _ in everywhere])]
            inside = snapshot.nearest(embedder.id, vector, Scope(corpora=("narrow",)), len(texts))
            found = snapshot.found([piece for piece, _ in inside])
            assert sorted(one.text for one in found) == sorted(narrow)
