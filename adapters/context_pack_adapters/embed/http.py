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
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

import numpy as np
from numpy.typing import NDArray

from context_pack.retrieval.ports import EmbedderFailed, Kind, TextRefused

MOST_TEXTS = 64
MOST_CHARACTERS = 200_000
LONGEST_TEXT = 24_000
"""In characters; endpoints refuse texts that are longer than their model reads, about 8 000 tokens."""
LARGEST_ANSWER = 64 * 1024 * 1024


class RetryLimits(NamedTuple):
    """How long one answer may take, how often a failed request is repeated, and the longest wait between.

    Whoever waits for a query has waited long enough once an answer was late: that is not repeated, and for
    `rest` seconds the next queries fail at once instead of waiting too.
    """

    timeout: float
    repeats: int
    longest_wait: float
    rest: float = 0.0


AWAITED = RetryLimits(3, 1, 1, 30)
PATIENCE: Mapping[Kind, RetryLimits] = {
    "query": AWAITED,
    "passage": AWAITED,
    "document": RetryLimits(60, 4, 20),
}
FIRST_WAIT = 0.5


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
        known = self.dimension if kind == "document" else 0
        batches: list[NDArray[np.float32]] = []
        for batch in batched(texts):
            batches.append(vectors_in(self._ask(batch, PATIENCE[kind]), len(batch)))
            made = batches[-1].shape[1]
            if known not in (0, made):
                raise EmbedderFailed(
                    f"{self._place()} answered with vectors of {made} dimensions after {known}"
                )
            self.dimension = known = made
        return np.concatenate(batches) if batches else np.empty((0, self.dimension), np.float32)

    def _ask(self, texts: list[str], patience: RetryLimits) -> bytes:
        """The endpoint's answer, with retries while they may help."""
        if self._monotonic() - self._late < patience.rest:
            raise EmbedderFailed(f"{self._place()} did not answer in time a moment ago")
        wait, left = FIRST_WAIT, patience.repeats
        while isinstance(outcome := self._post(texts, patience.timeout), EndpointRefusal):
            pause = wait if outcome.wait is None else outcome.wait
            if outcome.late and patience.rest:
                self._late, left = self._monotonic(), 0
            if outcome.of_text:  # some servers answer 500 to a text that is too long
                left = min(left, 1)
            if not left or not outcome.passing or pause > patience.longest_wait:
                raise (TextRefused if outcome.of_text else EmbedderFailed)(f"{self._place()} {outcome.words}")
            self._pause(pause)
            wait, left = min(wait * 2, patience.longest_wait), left - 1
        return outcome

    def _post(self, texts: list[str], timeout: float) -> bytes | EndpointRefusal:
        """One request: the body of a 200, or why there is none."""
        body: dict[str, Any] = {"input": texts}
        if self._model:
            body["model"] = self._model
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        try:
            if "@" in urlsplit(self._url).netloc:
                raise ValueError("the key belongs into CONTEXT_PACK_EMBEDDER_KEY, not into the URL")
            request = Request(self._url, json.dumps(body).encode(), headers, method="POST")
            with _opener(self._url).open(request, timeout=timeout) as answer:
                content = _content(answer, self._monotonic() + timeout, self._monotonic)
        except HTTPError as error:
            with error:
                return self._refusal(error)
        except (OSError, HTTPException, ValueError) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, TimeoutError):
                return _late(timeout)
            said = getattr(reason, "strerror", None) or reason
            # A ValueError is a URL that is none: asking again changes nothing.
            return EndpointRefusal(
                f"cannot be asked: {self._clean(said)}", passing=not isinstance(error, ValueError)
            )
        if len(content) > LARGEST_ANSWER:
            return EndpointRefusal("answered with more than 64 MB", passing=False)
        return content

    def _refusal(self, error: Any) -> EndpointRefusal:
        """The refusal for an HTTP status other than 200."""
        status: int = error.code
        if status in (401, 403):
            return EndpointRefusal(
                f"refused the key ({status}): set CONTEXT_PACK_EMBEDDER_KEY", passing=False
            )
        if 300 <= status < 400:
            return EndpointRefusal(
                f"redirects ({status}): set CONTEXT_PACK_EMBEDDER to where it leads", passing=False
            )
        try:
            said = self._clean(json.loads(error.read(10_000))["error"]["message"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            said = ""
        words = f"answered with status {status}" + (f": {said}" if said else "")
        passing = status in (408, 409, 425, 429) or status >= 500
        wait = _seconds(error.headers.get("Retry-After"))
        return EndpointRefusal(words, passing, wait, of_text=status in (400, 413, 422, 500))

    def _place(self) -> str:
        """The endpoint as it may be shown: a path may hold secrets."""
        host = self._url.partition("://")[2].partition("/")[0].partition("?")[0].rpartition("@")[2]
        return f"the embedder at {self._clean(host)}"

    def _clean(self, said: object) -> str:
        """An endpoint's message in one short line, without the API key."""
        line = " ".join(str(said).split())
        return (line.replace(self._key, "…") if self._key else line)[:200]


class EndpointRefusal(NamedTuple):
    """Why there is no answer, whether asking again may help, and when; `late` if none came in time.

    `of_text` if it may be one text that is refused, as longer than the model reads.
    """

    words: str
    passing: bool
    wait: float | None = None
    late: bool = False
    of_text: bool = False


def _late(timeout: float) -> EndpointRefusal:
    return EndpointRefusal(f"did not answer in {timeout:g} s", passing=True, late=True)


def _content(answer: Any, deadline: float, monotonic: Callable[[], float]) -> bytes:
    """The body of an answer, read up to just past its limit; TimeoutError after the deadline."""
    content = bytearray()
    while len(content) <= LARGEST_ANSWER and (portion := answer.read1(1 << 20)):
        if monotonic() > deadline:
            raise TimeoutError
        content += portion
    return bytes(content)


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
        rows = [placed[index] for index in range(count)]
        if len(items) != count or len({len(row) for row in rows}) > 1:
            raise ValueError("count")
        vectors = np.array(rows, np.float64)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise EmbedderFailed("the embedder's answer is not in the OpenAI embeddings shape") from None
    if vectors.ndim != 2 or not vectors.shape[1]:
        raise EmbedderFailed("the embedder's answer is not in the OpenAI embeddings shape")
    sizes = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(sizes).all() or not sizes.all():
        raise TextRefused("the embedder answered with a vector that has no direction")
    made: NDArray[np.float32] = (vectors / sizes).astype(np.float32)
    return made


def _seconds(header: str | None) -> float | None:
    """A Retry-After in seconds; a date counts as "not now"."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        return math.inf
    return max(0.0, seconds) if math.isfinite(seconds) else math.inf


def _opener(url: str) -> Any:
    """The URL opener: without redirects, and without a proxy for local addresses."""

    class Stay(HTTPRedirectHandler):
        """Does not follow redirects: a redirect is an HTTP error."""

        def redirect_request(self, *_: Any) -> None:
            return None

    local = (urlsplit(url).hostname or "") in ("localhost", "127.0.0.1", "::1")
    return build_opener(Stay, ProxyHandler({})) if local else build_opener(Stay)
