"""A real HTTP server for tests that answers in the OpenAI embeddings shape, or as it is told to."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import MappingProxyType
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class Answer(NamedTuple):
    """What is sent back."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = MappingProxyType({})


def vectors(asked: Asked, dimension: int = 8) -> Answer:
    """A made-up vector for each text, in reverse order, as an endpoint may send them."""
    data = [
        {"object": "embedding", "index": index, "embedding": vector(text, dimension)}
        for index, text in enumerate(asked.body["input"])
    ]
    return Answer(body=json.dumps({"object": "list", "data": data[::-1], "model": "m"}).encode())


def vector(text: str, dimension: int = 8) -> list[float]:
    """A vector that depends on the text, not of length 1."""
    return [1.0 + (sum(text.encode()) + place * len(text)) % 11 for place in range(dimension)]


class Endpoint:
    """The server's address, what it was asked, and how it answers next (then always as `vectors`)."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[Asked] = []
        self.answers: list[Answer | Callable[[Asked], Answer]] = []

    def answer(self, asked: Asked) -> Answer:
        """The next answer."""
        self.asked.append(asked)
        planned = self.answers.pop(0) if self.answers else vectors
        return planned if isinstance(planned, Answer) else planned(asked)


@contextmanager
def serving() -> Iterator[Endpoint]:
    """A server on a free port of this machine, until the context ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            body = json.loads(self.rfile.read(size))
            answer = endpoint.answer(Asked(self.path, dict(self.headers.items()), body))
            if not answer.status:
                self.close_connection = True
                self.connection.close()
                return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, *_: Any) -> None:
            """Tests are quiet."""

        def finish(self) -> None:
            try:
                super().finish()
            except (OSError, ValueError):
                return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    endpoint = Endpoint(f"http://127.0.0.1:{server.server_port}/v1/embeddings")
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
