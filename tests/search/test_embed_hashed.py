"""The fast embedder: unit vectors of hashed words and n-grams, the same everywhere."""

from __future__ import annotations

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
def test_repeated_and_common_words_count_less_and_the_first_ones_more() -> None:
    once = cosine("lock", "lock file")
    twice = cosine("lock", "lock lock file")
    often = cosine("lock", "lock " * 8 + "file")
    assert once < twice < often < 1
    assert twice - once > (often - twice) / 6
    filler = "something quite different follows here " * 5
    assert cosine("zebra", f"zebra {filler}") > cosine("zebra", f"{filler} zebra") + 0.05
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
