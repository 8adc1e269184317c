"""A folder with a model that the user brings: tiny ones, made here and run by the real libraries."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from context_pack.retrieval.ports import EmbedderFailed
from context_pack_adapters.embed import choose
from context_pack_adapters.embed.folder import FolderEmbedder

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "lock", "file", "zebra", "spring", "write", "once"]
TABLE = np.random.default_rng(5).normal(size=(len(WORDS), 12)).astype(np.float32)


def write_tokenizer(folder: Path) -> None:
    """A word-level tokenizer with BERT's marks."""
    tokenizers = pytest.importorskip("tokenizers", reason="needs the extra onnx or model2vec")
    model = tokenizers.models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    tokenizer.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.save(str(folder / "tokenizer.json"))


@pytest.fixture
def onnx_folder(tmp_path: Path) -> Path:
    """An encoder that looks each token up in a table: `last_hidden_state` of `input_ids`."""
    pytest.importorskip("onnxruntime", reason="needs the extra onnx")
    onnx = pytest.importorskip("onnx", reason="the package onnx writes the model of this test")
    folder = tmp_path / "model"
    (folder / "1_Pooling").mkdir(parents=True)
    write_tokenizer(folder)
    helper, kinds = onnx.helper, onnx.TensorProto
    inputs = [
        helper.make_tensor_value_info(name, kinds.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info("last_hidden_state", kinds.FLOAT, ["batch", "tokens", 12])
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"]),
        helper.make_node("Identity", ["attention_mask"], ["unused"]),
    ]
    table = onnx.numpy_helper.from_array(TABLE, "table")
    graph = helper.make_graph(nodes, "tiny", inputs, [output], [table])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    return folder


@pytest.fixture
def static_folder(tmp_path: Path) -> Path:
    """A static model as model2vec saves it."""
    model2vec = pytest.importorskip("model2vec", reason="needs the extra model2vec")
    tokenizers = pytest.importorskip("tokenizers")
    folder = tmp_path / "static"
    write_tokenizer(tmp_path)
    tokenizer = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    model2vec.StaticModel(TABLE, tokenizer, {"normalize": True}).save_pretrained(folder)
    return folder


def unit(rows: Any) -> Any:
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


@pytest.mark.clause("EM-08")
@pytest.mark.parametrize("pooling", ["mean", "first"])
def test_an_onnx_folder_gives_the_pooled_states_of_its_model(onnx_folder: Path, pooling: str) -> None:
    settings = {"pooling_mode_cls_token": pooling == "first"}
    (onnx_folder / "1_Pooling/config.json").write_text(json.dumps(settings))
    embedder = choose("auto", str(onnx_folder), {}).semantic
    assert embedder is not None
    texts = ["lock file", "zebra", "write once lock file spring", "[SEP] zebra"]
    vectors = np.asarray(embedder.embed(texts, "document"))
    ids = [[2, 4, 5, 3], [2, 6, 3], [2, 8, 9, 4, 5, 7, 3], [2, 1, 1, 1, 6, 3]]
    expected = [TABLE[each[0]] if pooling == "first" else TABLE[each].mean(0) for each in ids]
    assert np.allclose(vectors, unit(np.array(expected)), atol=1e-5), "marks in a text are only text"
    assert (embedder.dimension, embedder.weight) == (12, 0.7)
    assert 0 < getattr(embedder, "unrelated", 0) <= 0.95
    assert np.allclose(embedder.embed(texts[:1], "query")[0], vectors[0], atol=1e-6)


@pytest.mark.clause("EM-08")
def test_prompts_stand_before_queries_and_documents(onnx_folder: Path) -> None:
    plain = FolderEmbedder(str(onnx_folder))
    prompts = {"prompts": {"query": "spring ", "document": "once "}}
    (onnx_folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    prompted = FolderEmbedder(str(onnx_folder))
    assert prompted.id != plain.id
    for kind, word in (("query", "spring"), ("document", "once"), ("passage", "once")):
        made = prompted.embed(["lock"], kind)  # type: ignore[arg-type]
        assert np.allclose(made, plain.embed([f"{word} lock"], "query"), atol=1e-6)


@pytest.mark.clause("EM-08")
def test_a_static_folder_is_run_by_model2vec(static_folder: Path) -> None:
    embedder = FolderEmbedder(str(static_folder))
    vectors = embedder.embed(["lock file", "file lock", "zebra spring"], "document")
    assert vectors.shape == (3, embedder.dimension)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] > 0.99 > vectors[0] @ vectors[2]
    assert embedder.weight == 0.3


@pytest.mark.clause("EM-08")
def test_the_id_follows_the_content_and_not_the_place(onnx_folder: Path, tmp_path: Path) -> None:
    name = FolderEmbedder(str(onnx_folder)).id
    other = Path(shutil.copytree(onnx_folder, tmp_path / "elsewhere"))
    assert FolderEmbedder(str(other)).id == name
    with (other / "model.onnx").open("ab") as file:
        file.write(b"\0")
    assert FolderEmbedder(str(other)).id != name


@pytest.mark.clause("EM-08")
@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_broken_model_folder_is_an_error_message(onnx_folder: Path, name: str) -> None:
    (onnx_folder / name).write_bytes(b"{}")
    with pytest.raises(EmbedderFailed, match="CONTEXT_PACK_MODEL cannot be loaded") as caught:
        FolderEmbedder(str(onnx_folder)).embed(["text"], "query")
    assert "\n" not in str(caught.value)
    assert str(onnx_folder) not in str(caught.value)


@pytest.mark.clause("EM-08")
def test_a_library_that_is_missing_is_named_with_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("context_pack_adapters.embed.folder.find_spec", lambda _: None)
    (tmp_path / "tokenizer.json").write_text("{}")
    (tmp_path / "model.onnx").write_bytes(b"")
    warning = choose("auto", str(tmp_path), {}).warning
    assert warning is not None
    assert "onnxruntime and tokenizers" in warning
    assert "pip install '.[onnx]'" in warning
    (tmp_path / "model.onnx").unlink()
    (tmp_path / "model.safetensors").write_bytes(b"")
    (tmp_path / "config.json").write_text('{"model_type": "model2vec"}')
    assert "pip install '.[model2vec]'" in str(choose("auto", str(tmp_path), {}).warning)
