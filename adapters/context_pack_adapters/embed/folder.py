"""A sentence encoder from a local folder: `model.safetensors`, `config.json` and `tokenizer.json`.

BERT (WordPiece) and RoBERTa (byte-level BPE) encoders, as sentence-transformers saves them. The vector is the
mean of the tokens' states unless `1_Pooling/config.json` says that the first token is the text. The folder
comes from anywhere: whatever does not fit is `EmbedderFailed` in words. Its id holds a digest of the files,
so that vectors of another model in the same place are never compared with it.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from context_pack.retrieval.ports import EmbedderFailed
from context_pack_adapters.embed.sentences import Model, SentenceEmbedder

if TYPE_CHECKING:
    from context_pack_adapters.embed.byte_pairs import BytePairs
    from context_pack_adapters.embed.word_pieces import WordPieces

WEIGHTS, CONFIG, TOKENIZER = ("model.safetensors", "config.json", "tokenizer.json")
POOLING = os.path.join("1_Pooling", "config.json")
WEIGHT = 0.7
LARGEST_JSON = 64 * 1024 * 1024
SAMPLES, SAMPLE = 64, 4096
ACTIVATIONS: dict[str, Literal["gelu", "relu"]] = {
    "gelu": "gelu",
    "gelu_new": "gelu",
    "gelu_fast": "gelu",
    "gelu_pytorch_tanh": "gelu",
    "relu": "relu",
}


class ModelConfig(NamedTuple):
    """The used settings of config.json."""

    kind: Literal["bert", "roberta"]
    dimension: int
    layers: int
    heads: int
    epsilon: float
    activation: Literal["gelu", "relu"]
    first_position: int


def load(path: str) -> SentenceEmbedder:
    """The encoder of the folder at `path`; its weights are read with the first text.

    Raises:
        EmbedderFailed: the folder holds no such encoder.
    """
    config = read_config(path)
    name = f"folder-{fingerprint(path)}-{config.dimension}/2"
    return SentenceEmbedder(name, config.dimension, WEIGHT, lambda: model_in(path))


def model_in(path: str) -> Model:
    """The model of a folder, loaded.

    Raises:
        EmbedderFailed: its files do not fit together.
    """
    from context_pack_adapters.embed.encoder import Encoder, Shape
    from context_pack_adapters.embed.folder_weights import weights_of
    from context_pack_adapters.embed.tensorfile import read_tensors

    config = read_config(path)
    tokenizer = _tokenizer(path, config)
    shape = Shape(config.heads, config.epsilon, read_pooling(path), config.activation)
    weights = weights_of(read_tensors(os.path.join(path, WEIGHTS)), config)
    if tokenizer.largest >= weights.words.shape[0]:
        raise EmbedderFailed(f"{TOKENIZER} has more tokens than {WEIGHTS}")
    return Model(tokenizer, Encoder(weights, shape))


def read_config(path: str) -> ModelConfig:
    """The shape of the folder's encoder.

    Raises:
        EmbedderFailed: there is none, or it is of another kind.
    """
    found = _read_json(path, CONFIG)
    kind = found.get("model_type")
    if kind not in ("bert", "roberta"):
        raise EmbedderFailed(f"{CONFIG} names no BERT or RoBERTa encoder")
    if found.get("position_embedding_type", "absolute") != "absolute" or found.get("is_decoder"):
        raise EmbedderFailed(f"{CONFIG} names an encoder of another build: positions must be absolute")
    activation = ACTIVATIONS.get(str(found.get("hidden_act", "gelu")))
    if activation is None:
        raise EmbedderFailed(f"{CONFIG} names an activation that is not known here")
    dimension, layers, heads = (
        _whole(found, name) for name in ("hidden_size", "num_hidden_layers", "num_attention_heads")
    )
    epsilon = found.get("layer_norm_eps", 1e-12)
    if dimension % heads or not isinstance(epsilon, float):
        raise EmbedderFailed(f"{CONFIG} contradicts itself")
    first = _whole(found, "pad_token_id", default=1, least=0) + 1 if kind == "roberta" else 0
    return ModelConfig(kind, dimension, layers, heads, epsilon, activation, first)


def read_pooling(path: str) -> Literal["cls", "mean"]:
    """How states become one vector."""
    if not os.path.exists(os.path.join(path, POOLING)):
        return "mean"
    found = _read_json(path, POOLING)
    if found.get("pooling_mode_cls_token"):
        return "cls"
    if found.get("pooling_mode_mean_tokens", True):
        return "mean"
    raise EmbedderFailed(f"{POOLING} asks for something else than the mean or the first token")


def fingerprint(path: str) -> str:
    """A digest of the model: the small files whole, of the weights their size and samples from all over."""
    digest = sha256()
    try:
        for name in (CONFIG, TOKENIZER, POOLING):
            place = os.path.join(path, name)
            if os.path.exists(place):
                with open(place, "rb") as file:
                    digest.update(sha256(file.read(LARGEST_JSON)).digest())
        with open(os.path.join(path, WEIGHTS), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            digest.update(str(size).encode())
            for number in range(SAMPLES):
                file.seek(number * max(size - SAMPLE, 0) // (SAMPLES - 1))
                digest.update(file.read(SAMPLE))
    except OSError as error:
        raise EmbedderFailed(f"the model folder cannot be read: {error.strerror}") from None
    return digest.hexdigest()[:16]


def _tokenizer(path: str, config: ModelConfig) -> BytePairs | WordPieces:
    description = _read_json(path, TOKENIZER)
    if config.kind == "roberta":
        from context_pack_adapters.embed.byte_pairs import BytePairs

        return BytePairs(description)
    from context_pack_adapters.embed.word_pieces import WordPieces

    return WordPieces(description)


def _read_json(path: str, name: str) -> dict[str, Any]:
    """An object from one of the folder's files."""
    try:
        with open(os.path.join(path, name), "rb") as file:
            found = json.loads(file.read(LARGEST_JSON))
    except OSError as error:
        raise EmbedderFailed(f"the model folder's {name} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise EmbedderFailed(f"the model folder's {name} is not a JSON object")
    return found


def _whole(found: dict[str, Any], name: str, default: int | None = None, least: int = 1) -> int:
    """A whole number of the configuration."""
    number = found.get(name, default)
    if type(number) is not int or not least <= number <= 1_000_000:
        raise EmbedderFailed(f"{CONFIG} has no usable {name}")
    return number
