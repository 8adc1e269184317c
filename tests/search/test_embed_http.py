"""The embedder behind an endpoint, over a real socket: shape, batches, patience, refusals, no key told."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from embedding_endpoint import Answer, Asked, Endpoint, serving, vector, vectors
from inmemory.search_index import MemoryIndex

from context_pack.retrieval.model import IndexEntry, Piece, Progress, Scope
from context_pack.retrieval.ports import EmbedderFailed, Kind, TextRefused
from context_pack.retrieval.searching import fill
from context_pack_adapters.embed.hashed import HashedEmbedder
from context_pack_adapters.embed.http import TIMEOUTS, HttpEmbedder

KEY = "sk-very-secret-0123456789"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as started:
        yield started


class Pauses(list[float]):
    """Waits that are noted instead of waited."""

    def embedder(self, endpoint: Endpoint, **more: Any) -> HttpEmbedder:
        return HttpEmbedder(endpoint.url, KEY, pause=self.append, **more)


def unit(text: str) -> Any:
    made = np.array(vector(text))
    return made / np.linalg.norm(made)


def body(*embeddings: Any, indexes: Any = None) -> bytes:
    numbers = range(len(embeddings)) if indexes is None else indexes
    data = [{"index": index, "embedding": made} for index, made in zip(numbers, embeddings, strict=True)]
    return json.dumps({"data": data}).encode()


@pytest.mark.clause("EM-06")
def test_vectors_come_in_the_order_of_the_texts_and_normalised(endpoint: Endpoint) -> None:
    embedder = HttpEmbedder(endpoint.url, KEY, "small")
    made = embedder.embed(["one", "two", "größe 検索"], "document")
    assert made.dtype == np.float32
    assert np.allclose(made, [unit("one"), unit("two"), unit("größe 検索")], atol=1e-6)
    assert embedder.dimension == 8
    (asked,) = endpoint.asked
    assert asked.path == "/v1/embeddings"
    assert asked.body == {"input": ["one", "two", "größe 検索"], "model": "small"}
    assert asked.headers["Authorization"] == f"Bearer {KEY}"
    assert asked.headers["Content-Type"] == "application/json"
    HttpEmbedder(endpoint.url).embed(["", "half \ud800"], "query")
    assert "Authorization" not in endpoint.asked[1].headers
    assert endpoint.asked[1].body == {"input": [" ", "half ?"]}


@pytest.mark.clause("EM-06")
def test_requests_are_bounded_in_texts_and_characters(endpoint: Endpoint) -> None:
    many = [f"text {number}" for number in range(150)]
    large = ["x" * 20_000] * 12 + ["y" * 100_000]
    embedder = HttpEmbedder(endpoint.url)
    assert np.allclose(embedder.embed(many, "document"), [unit(text) for text in many], atol=1e-6)
    assert [len(asked.body["input"]) for asked in endpoint.asked] == [64, 64, 22]
    endpoint.asked.clear()
    assert len(embedder.embed(large, "document")) == 13
    assert [len(asked.body["input"]) for asked in endpoint.asked] == [10, 3]
    assert len(endpoint.asked[1].body["input"][-1]) == 24_000


@pytest.mark.clause("EM-06")
@pytest.mark.parametrize("status", [0, 408, 429, 502, 503])
@pytest.mark.parametrize(("kind", "waits"), [("query", [0.5]), ("document", [0.5, 1, 2, 4])])
def test_what_passes_is_asked_again_a_bounded_number_of_times(
    endpoint: Endpoint, status: int, kind: Kind, waits: list[float]
) -> None:
    endpoint.answers = [Answer(status)] * len(waits)
    pauses = Pauses()
    assert np.allclose(pauses.embedder(endpoint).embed(["one"], kind), [unit("one")], atol=1e-6)
    assert pauses == waits
    endpoint.answers = [Answer(status)] * 9
    with pytest.raises(EmbedderFailed):
        pauses.embedder(endpoint).embed(["one"], kind)
    assert pauses == waits * 2


@pytest.mark.clause("EM-06")
@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_a_refusal_fails_at_once_and_never_shows_the_key(endpoint: Endpoint, status: int) -> None:
    said = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}\n see docs" * 40}}).encode()
    endpoint.answers = [Answer(status, said)]
    pauses = Pauses()
    embedder = pauses.embedder(endpoint)
    with pytest.raises(EmbedderFailed) as failure:
        embedder.embed(["one"], "document")
    assert pauses == []
    words = str(failure.value)
    assert KEY not in words
    assert str(status) in words
    assert "\n" not in words
    assert len(words) < 350
    assert KEY not in repr(embedder) + embedder.id
    assert failure.value.__cause__ is None


@pytest.mark.clause("EM-06")
def test_a_redirect_is_not_followed(endpoint: Endpoint) -> None:
    with serving() as elsewhere:
        endpoint.answers = [Answer(307, headers={"Location": elsewhere.url})]
        with pytest.raises(EmbedderFailed, match="redirects"):
            Pauses().embedder(endpoint).embed(["one"], "document")
        assert elsewhere.asked == []


@pytest.mark.clause("EM-06")
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html>busy</html>",
        b"[]",
        b'{"data": 3}',
        b'{"data": [3]}',
        b"[" * 100_000,
        body([1.0, 2.0]),
        body([1.0, 2.0], [1.0, 2.0], [1.0, 2.0]),
        body([1.0, 2.0], [1.0, 2.0], indexes=[0, 0]),
        body([1.0, 2.0], [1.0, 2.0], indexes=[1, 2]),
        body([1.0, 2.0], [1.0, 2.0, 3.0]),
        body([], []),
        body("AACAPwAAAEA=", "AACAPwAAAEA="),
        body([[1.0]], [[1.0]]),
        body([1.0, 2.0], [float("nan"), 1.0]),
        body([1.0, 2.0], [float("inf"), 1.0]),
        body([1.0, 2.0], [0.0, 0.0]),
        body([1.0, 2.0], [None, 1.0]),
    ],
    ids=lambda content: repr(content[:30]),
)
def test_an_answer_of_another_shape_is_a_failure(endpoint: Endpoint, content: bytes) -> None:
    endpoint.answers = [Answer(body=content)]
    with pytest.raises(EmbedderFailed, match="answer"):
        Pauses().embedder(endpoint).embed(["one", "two"], "document")


@pytest.mark.clause("EM-06")
@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/v1",
        "http://",
        "https://[::1",
        "http://user:pa55@127.0.0.1:1/",
        "http://127.0.0.1:x/",
    ],
)
def test_an_endpoint_that_is_not_there_or_no_url_is_a_failure(url: str) -> None:
    pauses = Pauses()
    with pytest.raises(EmbedderFailed) as failure:
        HttpEmbedder(url, KEY, pause=pauses.append).embed(["one"], "query")
    assert "pa55" not in str(failure.value)
    assert len(pauses) <= 1


@pytest.mark.clause("EM-06")
def test_an_endpoint_that_does_not_answer_in_time_is_left_alone_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [100.0]
    monkeypatch.setitem(TIMEOUTS, "query", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        embedder = HttpEmbedder(url, KEY, pause=lambda _: None, monotonic=lambda: now[0])
        with pytest.raises(EmbedderFailed, match=r"did not answer in 0.1 s"):
            embedder.embed(["one"], "query")
        with pytest.raises(EmbedderFailed, match="a moment ago"):
            embedder.embed(["two"], "passage")
        now[0] += 31
    with pytest.raises(EmbedderFailed, match="cannot be asked"):
        embedder.embed(["three"], "query")


@pytest.mark.clause("EM-06", "RT-29")
@pytest.mark.parametrize("status", [400, 413, 500])
def test_an_endpoint_that_refuses_long_texts_embeds_the_rest(endpoint: Endpoint, status: int) -> None:
    def short_only(asked: Asked) -> Answer:
        endpoint.answers.append(short_only)
        is_long = any(len(text) > 150 for text in asked.body["input"])
        return Answer(status, b'{"error": {"message": "too many tokens"}}') if is_long else vectors(asked)

    endpoint.answers.append(short_only)
    index, embedder = MemoryIndex(HashedEmbedder()), Pauses().embedder(endpoint)
    texts = [f"passage number {number}" for number in range(70)] + ["long " * 100]
    index.replace([IndexEntry("docs", "a.md", "1", pieces=tuple(map(Piece, texts)))])
    assert fill(index, embedder, Scope(), lambda: False) == Progress(71, 71)
    with pytest.raises(TextRefused, match=f"{status}: too many"):
        embedder.embed(["long " * 100], "query")
