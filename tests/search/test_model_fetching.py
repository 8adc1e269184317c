"""Fetching a known model, from a hub on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from command_line import CommandLine

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.embed import fetching
from context_pack_adapters.embed.fetching import KnownModel, fetch_model

FILES = {"tokenizer.json": b"{}", "onnx/model.onnx": b"weights" * 300_000}
DIGESTS = {name: sha256(data).hexdigest() for name, data in FILES.items()}
KNOWN = {"tiny": KnownModel("owner/tiny", "0123abc", "onnx", DIGESTS)}


class Hub(ThreadingHTTPServer):
    """A hub that serves `files` by path, each behind a redirect, and notes what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.files = {f"/owner/tiny/resolve/0123abc/{name}": data for name, data in FILES.items()}
        self.asked: list[str] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Answering(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        path = self.path.removeprefix("/elsewhere")
        self.server.asked.append(self.path)
        if (data := self.server.files.get(path)) is None:
            self.send_error(404)
        elif path == self.path:
            self.send_response(302)
            self.send_header("Location", f"{self.server.url}/elsewhere{path}")
            self.end_headers()
        else:
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.mark.clause("EM-10")
def test_a_model_is_fetched_once_and_again_when_it_is_damaged(hub: Hub, tmp_path: Path) -> None:
    model = fetch_model("tiny", tmp_path, hub=f"{hub.url}/", known=KNOWN)
    assert {name: (model / name).read_bytes() for name in FILES} == FILES
    assert [path.name for path in tmp_path.iterdir()] == ["tiny"]
    asked = len(hub.asked)
    assert fetch_model("tiny", tmp_path, hub=hub.url, known=KNOWN) == model
    assert len(hub.asked) == asked
    (model / "tokenizer.json").write_bytes(b"[]")
    fetch_model("tiny", tmp_path, hub=hub.url, known=KNOWN)
    assert (model / "tokenizer.json").read_bytes() == b"{}"


@pytest.mark.clause("EM-10")
@pytest.mark.parametrize("served", [b"other weights", b"", None])
def test_another_file_than_the_pinned_one_leaves_nothing(
    hub: Hub, tmp_path: Path, served: bytes | None
) -> None:
    path = "/owner/tiny/resolve/0123abc/onnx/model.onnx"
    hub.files.pop(path) if served is None else hub.files.update({path: served})
    with pytest.raises(Failure) as caught:
        fetch_model("tiny", tmp_path, hub=hub.url, known=KNOWN)
    assert caught.value.code is Code.IO_ERROR
    assert (
        "Not Found" in str(caught.value)
        if served is None
        else DIGESTS["onnx/model.onnx"] in str(caught.value)
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.clause("EM-10")
def test_a_name_that_is_not_known_and_a_hub_that_is_not_there_are_told(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(Failure, match="only tiny"):
        fetch_model("tyni", tmp_path, hub=hub.url, known=KNOWN)
    with pytest.raises(Failure, match=r"tiny could not be fetched from http://127\.0\.0\.1:1"):
        fetch_model("tiny", tmp_path, hub="http://127.0.0.1:1", known=KNOWN)


@pytest.mark.clause("EM-10")
def test_the_command_fetches_by_the_pins_it_was_shipped_with(hub: Hub, tmp_path: Path, private: Path) -> None:
    known = fetching.KNOWN["potion-base-8M"]
    for name in known.files:
        hub.files[f"/{known.repository}/resolve/{known.revision}/{name}"] = b"{}"
    line = CommandLine(tmp_path)
    refused = line("model", "fetch", "potion-base-8M", "--hub", hub.url)
    assert refused.code == 1
    assert f"the pinned one is {known.files['config.json']}" in refused.err
    assert list((private / "data/models").iterdir()) == []
    (row,) = [row for row in line("model", "fetch", "--json").json["models"] if row["extra"] == "onnx"]
    assert row == {"name": "all-MiniLM-L6-v2", "extra": "onnx", "folder": None}
