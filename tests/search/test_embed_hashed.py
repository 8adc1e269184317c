"""The fast embedder: unit vectors of hashed words and n-grams, the same everywhere."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_pack_adapters.embed.hashed import HashedEmbedder


def cosine(first: str, second: str) -> float:
    one, two = HashedEmbedder().embed([first, second], "document")
    return float(one @ two)


@pytest.mark.clause("EM-02")
def test_words_names_and_their_parts_are_near_and_others_are_far() -> None:
    assert cosine("parse the http header", "def parseHTTPHeader(text):") > 0.5
    assert cosine("tokenise", "tokenised") > 0.5
    assert cosine("café", "CAFE") == pytest.approx(1)
    assert abs(cosine("parse the http header", "zebra migration")) < 0.25


@pytest.mark.clause("EM-02")
def test_repeating_a_word_counts_less_each_time() -> None:
    once = cosine("lock", "lock file")
    twice = cosine("lock", "lock lock file")
    often = cosine("lock", "lock " * 8 + "file")
    assert once < twice < often < 1
    assert twice - once > (often - twice) / 6


@pytest.mark.clause("EM-02")
def test_earlier_words_weigh_more_in_a_hashed_vector() -> None:
    filler = "something quite different follows here " * 5
    assert cosine("zebra", f"zebra {filler}") > cosine("zebra", f"{filler} zebra") + 0.1


@pytest.mark.clause("EM-02")
def test_common_words_count_less() -> None:
    assert cosine("zebra", "return zebra") > cosine("return", "return zebra") + 0.3


@pytest.mark.clause("EM-02")
@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=4))
def test_every_text_has_a_unit_vector_that_does_not_depend_on_its_neighbours(texts: list[str]) -> None:
    together = HashedEmbedder().embed(texts, "document")
    assert together.shape == (len(texts), 512)
    assert together.dtype == np.float32
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    for text, vector in zip(texts, together, strict=True):
        assert np.array_equal(HashedEmbedder().embed([text], "query")[0], vector)


@pytest.mark.clause("EM-02")
def test_texts_without_a_word_share_one_vector() -> None:
    vectors = HashedEmbedder().embed(["", " \n", "...", "\ud800"], "document")
    assert np.all(vectors == vectors[0])


@pytest.mark.clause("EM-02")
def test_threads_share_an_embedder() -> None:
    texts = [f"thread {n} writes file_{n}.py and reads column{n}" for n in range(200)]
    expected = HashedEmbedder().embed(texts, "document")
    shared = HashedEmbedder()
    with ThreadPoolExecutor(4) as pool:
        for vectors in pool.map(lambda _: shared.embed(texts, "document"), range(8)):
            assert np.array_equal(vectors, expected)
