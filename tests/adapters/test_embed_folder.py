"""Model folders: BERT and RoBERTa beside a plain forward pass, and every way a folder can be wrong."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_encoders import forward, tensors, write_folder

from context_pack.retrieval.ports import EmbedderFailed
from context_pack_adapters.embed import choose, folder
from context_pack_adapters.embed.tensorfile import read_tensors

STORED: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "fixtures/embed/tokenizers.json").read_text("utf-8")
)
KINDS = {"bert": "uncased", "roberta": "byte_pairs"}
TEXTS = [
    "",
    "Lock files stay.",
    "def parse(text):\n    return text",
    "größe 検索 🚀",
    "a much longer text " * 30,
    "a",
]
VOCABULARY = 700


def tokenizer(kind: str) -> dict[str, Any]:
    return STORED[KINDS[kind]]["tokenizer"]  # type: ignore[no-any-return]


@pytest.mark.clause("EM-08")
@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize("kind", KINDS)
def test_vectors_are_those_of_a_plain_forward_pass(tmp_path: Path, kind: str, pooling: str) -> None:
    weights = tensors(VOCABULARY)
    place = write_folder(tmp_path / "model", kind, tokenizer(kind), weights)
    if pooling == "cls":
        (place / "1_Pooling").mkdir()
        chosen = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
        (place / "1_Pooling/config.json").write_text(json.dumps(chosen), "utf-8")
    embedder = folder.load(str(place))
    assert (embedder.dimension, embedder.weight) == (16, 0.7)
    longest = 40 if kind == "bert" else 38
    ids = [embedder.model().tokenizer.ids(text, longest) for text in TEXTS]
    assert max(map(len, ids)) == longest
    expected = [forward(weights, row, kind, pooling) for row in ids]
    for asked in ("query", "document"):
        made = embedder.embed(TEXTS, asked)
        assert made.dtype == np.float32
        assert float((made * np.array(expected)).sum(1).min()) >= 0.9999


@pytest.mark.clause("EM-08")
@pytest.mark.parametrize("dtype", ["F64", "F16", "BF16"])
def test_half_precision_weights_give_nearly_the_same_vectors(tmp_path: Path, dtype: str) -> None:
    weights = tensors(VOCABULARY)
    plain = folder.load(str(write_folder(tmp_path / "plain", "bert", tokenizer("bert"), weights)))
    other = folder.load(str(write_folder(tmp_path / "other", "bert", tokenizer("bert"), weights, dtype)))
    assert float((plain.embed(TEXTS, "query") * other.embed(TEXTS, "query")).sum(1).min()) > 0.995


@pytest.mark.clause("EM-08")
def test_prefixed_and_legacy_tensor_names_are_found(tmp_path: Path) -> None:
    weights = tensors(VOCABULARY)
    plain = folder.load(str(write_folder(tmp_path / "plain", "bert", tokenizer("bert"), weights)))
    older = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): tensor
        for name, tensor in weights.items()
    }
    place = write_folder(tmp_path / "older", "bert", tokenizer("bert"), older, prefix="bert.")
    assert np.array_equal(folder.load(str(place)).embed(TEXTS, "query"), plain.embed(TEXTS, "query"))


@pytest.mark.clause("EM-08")
def test_the_id_follows_the_content_and_not_the_place(tmp_path: Path) -> None:
    first = write_folder(tmp_path / "first", "bert", tokenizer("bert"), tensors(VOCABULARY))
    shutil.copytree(first, tmp_path / "copy")
    other = write_folder(tmp_path / "other", "bert", tokenizer("bert"), tensors(VOCABULARY, seed=1))
    ids = [folder.load(str(place)).id for place in (first, tmp_path / "copy", other)]
    assert ids[0] == ids[1] != ids[2]
    (first / "1_Pooling").mkdir()
    (first / "1_Pooling/config.json").write_text('{"pooling_mode_cls_token": true}', "utf-8")
    assert folder.load(str(first)).id != ids[0]


@pytest.mark.clause("EM-01", "EM-08")
def test_a_model_folder_replaces_the_installed_model(tmp_path: Path) -> None:
    place = write_folder(tmp_path / "model", "bert", tokenizer("bert"), tensors(VOCABULARY))
    for setting in ("auto", "semantic"):
        chosen = choose(setting, str(place), {})
        assert chosen.semantic is not None
        assert chosen.semantic.id.startswith("folder-")
        assert chosen.warning is None


def edit(name: str, **changes: Any) -> Callable[[Path], None]:
    """A change of a folder's JSON file."""

    def change(place: Path) -> None:
        found = json.loads((place / name).read_text("utf-8"))
        (place / name).write_text(json.dumps(found | changes), "utf-8")

    return change


def replace(name: str, content: bytes) -> Callable[[Path], None]:
    """A folder's file with another content."""

    def change(place: Path) -> None:
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_bytes(content)

    return change


def cut_off(place: Path) -> None:
    """The weights without their end."""
    content = (place / "model.safetensors").read_bytes()
    (place / "model.safetensors").write_bytes(content[:-1000])


def not_a_number(place: Path) -> None:
    """The weights with a bias that is NaN."""
    weights = tensors(VOCABULARY)
    weights["encoder.layer.1.output.dense.bias"][3] = np.nan
    write_folder(place, "bert", tokenizer("bert"), weights)


def without(name: str) -> Callable[[Path], None]:
    """The weights without one tensor."""

    def change(place: Path) -> None:
        weights = tensors(VOCABULARY)
        del weights[name]
        write_folder(place, "bert", tokenizer("bert"), weights)

    return change


def remove(name: str) -> Callable[[Path], None]:
    """The folder without one file."""
    return lambda place: (place / name).unlink()


WRONG: dict[str, tuple[Callable[[Path], None], str]] = {
    "no weights": (remove("model.safetensors"), "cannot be read"),
    "no config": (remove("config.json"), "config.json"),
    "no tokenizer": (remove("tokenizer.json"), "tokenizer.json"),
    "config is no JSON": (replace("config.json", b"{"), "config.json"),
    "config is a list": (replace("config.json", b"[]"), "config.json"),
    "config too deep": (replace("config.json", b"[" * 200_000), "config.json"),
    "another model": (edit("config.json", model_type="gpt2"), "BERT or RoBERTa"),
    "no dimension": (edit("config.json", hidden_size=None), "hidden_size"),
    "a negative dimension": (edit("config.json", hidden_size=-16), "hidden_size"),
    "heads that do not divide": (edit("config.json", num_attention_heads=5), "contradicts"),
    "another dimension": (edit("config.json", hidden_size=32), "another shape"),
    "more layers": (edit("config.json", num_hidden_layers=3), "no tensor encoder.layer.2"),
    "an unknown activation": (edit("config.json", hidden_act="swish"), "activation"),
    "relative positions": (edit("config.json", position_embedding_type="relative_key"), "positions"),
    "another pooling": (replace("1_Pooling/config.json", b'{"pooling_mode_mean_tokens": false}'), "Pooling"),
    "another tokenizer": (edit("tokenizer.json", model={"type": "Unigram", "vocab": []}), "tokenizer.json"),
    "more tokens than rows": (
        edit("tokenizer.json", model={"vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 9999}}),
        "more tokens",
    ),
    "weights cut off": (cut_off, "damaged"),
    "empty weights": (replace("model.safetensors", b""), "damaged"),
    "a header beyond the file": (replace("model.safetensors", struct.pack("<Q", 1 << 62) + b"{}"), "damaged"),
    "a header that is no JSON": (replace("model.safetensors", struct.pack("<Q", 3) + b"abc"), "damaged"),
    "weights without tensors": (replace("model.safetensors", struct.pack("<Q", 2) + b"{}"), "no tensor"),
    "a missing tensor": (without("encoder.layer.0.output.dense.bias"), "no tensor"),
    "weights that are no numbers": (not_a_number, "no numbers"),
}


@pytest.mark.clause("EM-08")
@pytest.mark.parametrize("case", WRONG)
def test_a_broken_model_folder_is_an_error_message(tmp_path: Path, case: str) -> None:
    change, words = WRONG[case]
    place = write_folder(tmp_path / "model", "bert", tokenizer("bert"), tensors(VOCABULARY))
    change(place)
    with pytest.raises(EmbedderFailed, match=words) as failure:
        folder.load(str(place)).embed(["text"], "query")
    assert "\n" not in str(failure.value)


@pytest.mark.clause("EM-08")
@settings(max_examples=100, deadline=None)
@given(
    entry=st.fixed_dictionaries(
        {},
        optional={
            "dtype": st.sampled_from(["F32", "F16", "BF16", "I8", 3, None]),
            "shape": st.lists(st.integers(-2, 1 << 40), max_size=3) | st.none() | st.just([2, 2]),
            "data_offsets": st.lists(st.integers(-5, 80) | st.just(1 << 70), max_size=3) | st.just([0, 16]),
        },
    ),
    data=st.binary(max_size=40),
)
def test_a_hostile_header_reads_nothing_outside_the_file(
    tmp_path_factory: pytest.TempPathFactory, entry: dict[str, Any], data: bytes
) -> None:
    path = tmp_path_factory.mktemp("hostile") / "model.safetensors"
    header = json.dumps({"tensor": entry}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + data)
    try:
        found = read_tensors(str(path))
    except EmbedderFailed:
        return
    assert sum(tensor.size for tensor in found.values()) * 2 <= len(data)
