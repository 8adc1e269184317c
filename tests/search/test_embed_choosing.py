"""Which embedders a process gets for each setting, and what is said when one is not there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from context_pack_adapters.embed import HashedEmbedder, choose, granite
from context_pack_adapters.embed.http import HttpEmbedder
from context_pack_adapters.settings import embedder_key, embedder_model

URL = "https://embedder.example/v1/embeddings"


@pytest.mark.clause("EM-01")
def test_the_fast_embedder_is_always_there_and_alone_if_asked_for() -> None:
    for setting in ("auto", "fast", "semantic", URL, "nonsense"):
        fast = choose(setting, None, {}).fast
        assert (type(fast), fast.weight, fast.dimension) == (HashedEmbedder, 0.2, 512)
    for setting in ("fast", " FAST "):
        assert choose(setting, "/nowhere", {})[1:] == (None, None)
    if granite.installed():
        for setting in ("auto", "semantic"):
            chosen = choose(setting, None, {})
            assert chosen.semantic is not None
            assert (chosen.semantic.id, chosen.warning) == (granite.GraniteEmbedder.id, None)


@pytest.mark.clause("EM-01")
def test_without_the_wheel_auto_is_fast_and_semantic_says_how_to_get_it() -> None:
    script = """
import sys
from context_pack.retrieval.ports import EmbedderFailed
from context_pack_adapters.embed import choose, granite
granite.PACKAGE = "a_package_that_is_not_installed"
print(choose("auto", None, {})[1:])
print(choose("semantic", None, {})[1:])
try:
    granite.GraniteEmbedder().embed(["text"], "query")
except EmbedderFailed as failure:
    print(failure)
"""
    child = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    auto, semantic, failure = child.stdout.splitlines()
    assert auto == "(None, None)"
    assert "pip install '.[semantic]'" in semantic
    assert failure == granite.MISSING


@pytest.mark.clause("EM-01", "EM-08")
def test_a_folder_without_a_model_leaves_a_warning_that_says_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    (tmp_path / "tokenizer.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"")
    for place in (tmp_path, tmp_path / "nowhere"):
        for setting in ("auto", "semantic"):
            chosen = choose(setting, str(place), {})
            assert chosen.semantic is None
            assert chosen.warning is not None
            assert "CONTEXT_PACK_MODEL" in chosen.warning
            assert "model.onnx" in chosen.warning
            assert str(place) not in chosen.warning


@pytest.mark.clause("EM-06")
def test_a_url_is_an_endpoint_with_the_key_and_model_of_the_environment() -> None:
    environ = {"CONTEXT_PACK_EMBEDDER_KEY": "secret-key", "CONTEXT_PACK_EMBEDDER_MODEL": "small"}
    chosen = choose(URL, "/nowhere", environ)
    assert isinstance(chosen.semantic, HttpEmbedder)
    assert chosen.semantic.weight == 0.7
    assert chosen.semantic.id.endswith("/small")
    assert chosen.semantic.id != HttpEmbedder(URL).id != HttpEmbedder(URL + "?v=2").id
    assert "secret-key" not in repr(chosen)
    assert "secret-key" not in chosen.semantic.id


@pytest.mark.clause("EM-06")
def test_our_own_key_comes_first_and_the_common_one_is_not_sent_over_an_open_line() -> None:
    both = {"CONTEXT_PACK_EMBEDDER_KEY": " own ", "OPENAI_API_KEY": "common"}
    common = {"CONTEXT_PACK_EMBEDDER_KEY": " ", "OPENAI_API_KEY": "common"}
    assert embedder_key(both, URL) == embedder_key(both, "http://embedder.example/v1") == "own"
    for safe in (
        URL,
        "http://localhost:11434/v1",
        "http://127.0.0.1/x",
        "http://[::1]:80/x",
        "HTTPS://E.example",
    ):
        assert embedder_key(common, safe) == "common"
    for open_line in (
        "http://embedder.example/v1",
        "http://localhost.example/",
        "http://localhost@evil.example/",
    ):
        assert embedder_key(common, open_line) is None
    assert embedder_key({}, URL) is None
    assert embedder_model({"CONTEXT_PACK_EMBEDDER_MODEL": " "}) is None
