"""The embedder behind an HTTP endpoint that speaks the OpenAI embeddings shape.

`POST url {"input": […], "model"?: …}` answers `{"data": [{"index", "embedding"}, …]}`. What is busy or
broken for a moment (429, 5xx, a lost connection) is asked again a bounded number of times; what somebody
waits for is given up sooner than documents. Redirects are not followed: they would carry the key
elsewhere. No message and no repr holds the key.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

import numpy as np
from attrs import define
from numpy.typing import NDArray

from context_pack.retrieval.ports import EmbedderFailed, Kind, TextRefused

MOST_TEXTS = 64
MOST_CHARACTERS = 200_000
LONGEST_TEXT = 24_000
"""In characters; endpoints refuse texts that are longer than their model reads, about 8 000 tokens."""
LARGEST_ANSWER = 64 * 1024 * 1024
TIMEOUTS: Mapping[Kind, float] = {"query": 3, "passage": 3, "document": 60}
WAITS: Mapping[Kind, tuple[float, ...]] = {"query": (0.5,), "passage": (0.5,), "document": (0.5, 1, 2, 4)}
"""The pauses in seconds before each time that a failed request is repeated."""
REST = 30.0
"""For so many seconds after a query had no answer in time the next ones fail at once."""


@define
class _Refused(Exception):
    """Why there is no answer, in words, and whether asking again may help."""

    words: str
    passing: bool = False
    late: bool = False
    of_text: bool = False
    """Whether it may be one text that is refused, as longer than the model reads."""


class HttpEmbedder:
    """Vectors from an endpoint; their dimension is known after the first answer."""

    weight = 0.7

    def __init__(
        self,
        url: str,
        key: str | None = None,
        model: str | None = None,
        *,
        pause: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._url, self._key, self._model, self._pause = url, key, model, pause
        self._monotonic = monotonic
        self._late = -math.inf
        self.dimension = 0
        # The URL may hold what should not be shown, and an id is written into indexes.
        self.id = f"http-{sha256(url.encode()).hexdigest()[:16]}/{model or 'default'}"

    def __repr__(self) -> str:
        return f"HttpEmbedder({self.id!r})"

    def embed(self, texts: Sequence[str], kind: Kind) -> Any:
        """One unit vector per text, as the rows of one array.

        Raises:
            EmbedderFailed: the endpoint refuses, is not there, or answers with something else.
        """
        # Whoever asks compares with what is stored and sees a change; documents of one run are never mixed.
        expected = self.dimension if kind == "document" else 0
        batches: list[NDArray[np.float32]] = []
        for batch in batched(texts):
            batches.append(vectors_in(self._ask(batch, kind), len(batch)))
            dimension = batches[-1].shape[1]
            if expected not in (0, dimension):
                words = f"answered with vectors of {dimension} dimensions after {expected}"
                raise EmbedderFailed(f"{self._place()} {words}")
            self.dimension = expected = dimension
        return np.concatenate(batches) if batches else np.empty((0, self.dimension), np.float32)

    def _ask(self, texts: list[str], kind: Kind) -> bytes:
        """The endpoint's answer, with retries while they may help."""
        is_awaited = kind != "document"
        if is_awaited and self._monotonic() - self._late < REST:
            raise EmbedderFailed(f"{self._place()} did not answer in time a moment ago")
        waits = list(WAITS[kind])
        while True:
            try:
                return self._post(texts, TIMEOUTS[kind])
            except _Refused as refused:
                if refused.late and is_awaited:
                    self._late, waits = self._monotonic(), []
                if refused.of_text:  # some servers answer 500 to a text that is too long
                    waits = waits[:1]
                if not waits or not refused.passing:
                    failure = TextRefused if refused.of_text else EmbedderFailed
                    raise failure(f"{self._place()} {refused.words}") from None
            self._pause(waits.pop(0))

    def _post(self, texts: list[str], timeout: float) -> bytes:
        """One request: the body of a 200."""
        body: dict[str, Any] = {"input": texts} | ({"model": self._model} if self._model else {})
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        try:
            if "@" in urlsplit(self._url).netloc:
                raise ValueError("the key belongs into CONTEXT_PACK_EMBEDDER_KEY, not into the URL")
            request = Request(self._url, json.dumps(body).encode(), headers, method="POST")
            with _opener(self._url).open(request, timeout=timeout) as answer:
                content: bytes = answer.read(LARGEST_ANSWER + 1)
        except HTTPError as error:
            with error:
                raise self._refusal(error) from None
        except (OSError, HTTPException, ValueError) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, TimeoutError):
                raise _Refused(f"did not answer in {timeout:g} s", passing=True, late=True) from None
            words = self._clean(getattr(reason, "strerror", None) or reason)
            # A ValueError is a URL that is none: asking again changes nothing.
            raise _Refused(f"cannot be asked: {words}", passing=not isinstance(error, ValueError)) from None
        if len(content) > LARGEST_ANSWER:
            raise _Refused("answered with more than 64 MB")
        return content

    def _refusal(self, error: HTTPError) -> _Refused:
        """What an HTTP status other than 200 says."""
        status = error.code
        if status in (401, 403):
            return _Refused(f"refused the key ({status}): set CONTEXT_PACK_EMBEDDER_KEY")
        if 300 <= status < 400:
            return _Refused(f"redirects ({status}): set CONTEXT_PACK_EMBEDDER to where it leads")
        try:
            words = ": " + self._clean(json.loads(error.read(10_000))["error"]["message"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            words = ""
        passing = status in (408, 409, 425, 429) or status >= 500
        of_text = status in (400, 413, 422, 500)
        return _Refused(f"answered with status {status}{words}", passing, of_text=of_text)

    def _place(self) -> str:
        """The endpoint as it may be shown: a path may hold secrets."""
        host = self._url.partition("://")[2].partition("/")[0].partition("?")[0].rpartition("@")[2]
        return f"the embedder at {self._clean(host)}"

    def _clean(self, message: object) -> str:
        """An endpoint's message in one short line, without the API key."""
        line = " ".join(str(message).split())
        return (line.replace(self._key, "…") if self._key else line)[:200]


def batched(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts in requests of bounded size, each cut to what a model reads; an empty one is a blank."""
    batch: list[str] = []
    size = 0
    for text in texts:
        # Endpoints refuse an empty text, and half a character is no JSON for them.
        sent = text[:LONGEST_TEXT].encode("utf-8", "replace").decode() or " "
        if batch and (len(batch) == MOST_TEXTS or size + len(sent) > MOST_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(sent)
        size += len(sent)
    if batch:
        yield batch


def vectors_in(body: bytes, count: int) -> NDArray[np.float32]:
    """The vectors of an answer in the order of their `index`, made unit vectors.

    Raises:
        EmbedderFailed: it is no such answer.
    """
    try:
        items = json.loads(body)["data"]
        placed = {item["index"]: item["embedding"] for item in items}
        vectors = np.array([placed[index] for index in range(count)], np.float64)
        if len(items) != count or vectors.ndim != 2 or not vectors.shape[1]:
            raise ValueError("shape")
    except (ValueError, KeyError, TypeError, RecursionError):
        raise EmbedderFailed("the embedder's answer is not in the OpenAI embeddings shape") from None
    sizes = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(sizes).all() or not sizes.all():
        raise TextRefused("the embedder answered with a vector that has no direction")
    made: NDArray[np.float32] = (vectors / sizes).astype(np.float32)
    return made


def _opener(url: str) -> Any:
    """The URL opener: without redirects, and without a proxy for local addresses."""

    is_local = (urlsplit(url).hostname or "") in ("localhost", "127.0.0.1", "::1")
    return build_opener(_Stay, ProxyHandler({})) if is_local else build_opener(_Stay)


class _Stay(HTTPRedirectHandler):
    """Does not follow redirects: a redirect is an HTTP error."""

    def redirect_request(self, *_: Any) -> None:
        return None
