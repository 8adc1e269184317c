"""Tiny random BERT and RoBERTa folders for tests, and a plain float64 forward pass to compare with.

The forward pass is written for reading, text by text and head by head, and shares no code with ours.
"""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HIDDEN, HEADS, LAYERS, INNER, POSITIONS = 16, 4, 2, 24, 40
Tensors = dict[str, NDArray[np.float32]]


def config(kind: str, vocabulary: int) -> dict[str, Any]:
    """A config.json of that kind."""
    return {
        "model_type": kind,
        "hidden_size": HIDDEN,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "intermediate_size": INNER,
        "max_position_embeddings": POSITIONS,
        "vocab_size": vocabulary,
        "type_vocab_size": 2,
        "layer_norm_eps": 1e-5,
        "hidden_act": "gelu",
        "pad_token_id": 1 if kind == "roberta" else 0,
    }


def tensors(vocabulary: int, seed: int = 0) -> Tensors:
    """Random weights under the usual names."""
    random = np.random.default_rng(seed)

    def some(*shape: int, scale: float = 0.5) -> NDArray[np.float32]:
        return (random.standard_normal(shape) * scale).astype(np.float32)

    made = {
        "embeddings.word_embeddings.weight": some(vocabulary, HIDDEN),
        "embeddings.position_embeddings.weight": some(POSITIONS, HIDDEN),
        "embeddings.token_type_embeddings.weight": some(2, HIDDEN),
    }
    norms = ["embeddings.LayerNorm"]
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}."
        shapes = {f"attention.self.{name}": (HIDDEN, HIDDEN) for name in ("query", "key", "value")}
        shapes |= {"attention.output.dense": (HIDDEN, HIDDEN)}
        shapes |= {"intermediate.dense": (INNER, HIDDEN), "output.dense": (HIDDEN, INNER)}
        for name, shape in shapes.items():
            made[f"{layer}{name}.weight"] = some(*shape)
            made[f"{layer}{name}.bias"] = some(shape[0], scale=0.1)
        norms += [f"{layer}attention.output.LayerNorm", f"{layer}output.LayerNorm"]
    for name in norms:
        made[f"{name}.weight"] = 1 + some(HIDDEN, scale=0.1)
        made[f"{name}.bias"] = some(HIDDEN, scale=0.1)
    return made


def write_folder(
    path: Path, kind: str, tokenizer: dict[str, Any], weights: Tensors, dtype: str = "F32", prefix: str = ""
) -> Path:
    """A model folder; returns its path."""
    path.mkdir(parents=True, exist_ok=True)
    vocabulary = len(weights["embeddings.word_embeddings.weight"])
    (path / "config.json").write_text(json.dumps(config(kind, vocabulary)), "utf-8")
    (path / "tokenizer.json").write_text(json.dumps(tokenizer), "utf-8")
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    content = b""
    for name, tensor in weights.items():
        raw = encoded(tensor, dtype)
        header[prefix + name] = {
            "dtype": dtype,
            "shape": list(tensor.shape),
            "data_offsets": [len(content), len(content) + len(raw)],
        }
        content += raw
    header[prefix + "embeddings.position_ids"] = {
        "dtype": "I64",
        "shape": [1],
        "data_offsets": [len(content), len(content) + 8],
    }
    front = json.dumps(header).encode()
    (path / "model.safetensors").write_bytes(struct.pack("<Q", len(front)) + front + content + bytes(8))
    return path


def encoded(tensor: NDArray[np.float32], dtype: str) -> bytes:
    """A tensor's bytes in a format of safetensors."""
    if dtype == "BF16":
        return bytes((tensor.view(np.uint32) >> 16).astype("<u2").tobytes())
    return bytes(tensor.astype({"F32": "<f4", "F16": "<f2", "F64": "<f8"}[dtype]).tobytes())


def forward(weights: Tensors, ids: list[int], kind: str, pooling: str) -> list[float]:
    """The unit vector of one text, computed plainly in float64 with the exact GELU."""
    get = {name: tensor.astype(np.float64) for name, tensor in weights.items()}
    first = 2 if kind == "roberta" else 0
    states = [
        get["embeddings.word_embeddings.weight"][number]
        + get["embeddings.position_embeddings.weight"][first + place]
        + get["embeddings.token_type_embeddings.weight"][0]
        for place, number in enumerate(ids)
    ]
    states = [_norm(state, get, "embeddings.LayerNorm") for state in states]
    for number in range(LAYERS):
        states = _layer(states, get, f"encoder.layer.{number}.")
    made = states[0] if pooling == "cls" else sum(states[1:], states[0]) / len(states)
    return [float(value) for value in made / np.linalg.norm(made)]


def _layer(states: list[Any], get: dict[str, Any], name: str) -> list[Any]:
    size = HIDDEN // HEADS
    queries, keys, values = (
        [_dense(state, get, f"{name}attention.self.{part}") for state in states]
        for part in ("query", "key", "value")
    )
    made = []
    for place, state in enumerate(states):
        heads = []
        for head in range(HEADS):
            part = slice(head * size, (head + 1) * size)
            scores = [queries[place][part] @ key[part] / math.sqrt(size) for key in keys]
            shares = [math.exp(score) for score in scores]
            taken = sum(share * value[part] for share, value in zip(shares, values, strict=True))
            heads.append(taken / sum(shares))
        seen = _dense(np.concatenate(heads), get, f"{name}attention.output.dense")
        state = _norm(seen + state, get, f"{name}attention.output.LayerNorm")
        inner = _dense(state, get, f"{name}intermediate.dense")
        inner = np.array([0.5 * value * (1 + math.erf(value / math.sqrt(2))) for value in inner])
        made.append(_norm(_dense(inner, get, f"{name}output.dense") + state, get, f"{name}output.LayerNorm"))
    return made


def _dense(state: Any, get: dict[str, Any], name: str) -> Any:
    return get[f"{name}.weight"] @ state + get[f"{name}.bias"]


def _norm(state: Any, get: dict[str, Any], name: str) -> Any:
    centred = state - state.mean()
    return centred / math.sqrt((centred**2).mean() + 1e-5) * get[f"{name}.weight"] + get[f"{name}.bias"]
